// Deliveries in memory: ready ones per endpoint, and results. The rows are authoritative, and data
// lost in a crash is reloaded from them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/strong.h"
#include "outbound/webhooks/webhook_sender.h"
#include "store/webhooks/deliveries.h"

namespace coffer::flows {

/// The data of an endpoint that senders need.
struct Endpoint {
  Tenant tenant;
  std::string url;
  Secret secret;
  Secret old_secret;  // empty: none
  Timestamp old_secret_until;
  Timestamp quiet_until;
  std::string sealed;    // both secrets as stored, to detect whether they are already unsealed
  bool failing = false;  // its last attempt failed
};

/// Maximum number of concurrent attempts. Attempts that last longer than kPromptMs have separate
/// slots, so that slow endpoints leave room for others.
struct SenderLimits {
  int in_flight = 1;  // per endpoint
  int prompt = 16;
  int patient = 240;

  static constexpr std::int64_t kPromptMs = 100;
};

struct DeliveryJob {
  store::DeliveryRow delivery;
  Tenant tenant;
  outbound::WebhookMessage message;
  std::int64_t started_ms = 0;  // the `monotonic_ms` passed to `take`
};

struct DeliveryOutcome {
  store::DeliveryRow delivery;
  Tenant tenant;
  std::string url;  // of the attempt; says nothing about the endpoint if its URL has changed
  outbound::WebhookResponse result;
  Timestamp at;                 // start of the attempt
  std::int64_t started_ms = 0;  // the same, as in the job
  std::uint64_t jitter = 0;
};

/// Thread-safe. A delivery is claimed from `add` until its result is released, so it is never sent
/// twice at the same time.
class DeliveryLanes {
 public:
  explicit DeliveryLanes(const SenderLimits& limits) : limits_(limits) {}

  // --- For the dispatcher ------------------------------------------------------------------------

  /// Whether the lane already has these secrets, so they need not be unsealed again.
  bool knows(std::int64_t webhook, const std::string& sealed) const;
  /// Opens the lane, or changes the data of its next jobs. Without secrets, it keeps the current
  /// ones. A new URL is an endpoint of unknown speed without a pause.
  void set_endpoint(std::int64_t webhook, Endpoint endpoint);
  /// Closes all other lanes and discards their ready deliveries.
  void keep_only(const std::set<std::int64_t>& webhooks);
  /// Number of further jobs that the lane should get; 0 if it has enough.
  int room(std::int64_t webhook) const;
  /// Number of claimed deliveries of this endpoint, whose rows still appear due.
  int claimed(std::int64_t webhook) const;
  bool is_claimed(std::int64_t webhook, std::int64_t sequence) const;
  void add(const store::DeliveryRow& delivery, std::string body);
  /// All results since the last call.
  std::vector<DeliveryOutcome> take_outcomes();
  /// Returns results that could not be recorded now.
  void put_back(std::vector<DeliveryOutcome> outcomes);
  /// Call it after the results are recorded, so that deliveries that are due again can be loaded.
  void release(const std::vector<DeliveryOutcome>& outcomes);
  /// From now on, senders get no jobs.
  void close();
  bool closed() const;

  /// The work that senders could take.
  struct Available {
    int jobs = 0;
    /// If there are no jobs: milliseconds until an attempt in progress has lasted long enough to
    /// free its slot; empty: not before an attempt ends or a job is added.
    std::optional<std::int64_t> again_in_ms;
  };
  Available available(Timestamp now, std::int64_t monotonic_ms) const;

  // --- For senders -------------------------------------------------------------------------------

  /// The next job, with endpoints in turn. `finish` or `abandon` must follow. `monotonic_ms` is the
  /// machine's time: the duration of attempts does not depend on the time of the records.
  std::optional<DeliveryJob> take(Timestamp now, std::int64_t monotonic_ms);
  /// Stores the outcome. Until `quiet_until`, nothing else is sent to this URL.
  void finish(DeliveryOutcome outcome, Timestamp quiet_until);
  /// The delivery was not sent and will be loaded again.
  void abandon(const store::DeliveryRow& delivery, std::int64_t started_ms);

 private:
  struct Ready {
    store::DeliveryRow delivery;
    std::string body;
  };
  struct Lane {
    Endpoint endpoint;
    std::deque<Ready> ready;
    std::set<std::int64_t> claims;
    std::vector<std::int64_t> in_progress;  // start times of the attempts
    bool known = false;  // an attempt has ended since the start, or the endpoint was failing before
    bool slow = false;   // the last attempt was slow
    bool closed = false;  // disabled, with attempts still in progress
  };
  struct Slots {
    int prompt = 0;
    int patient = 0;
  };
  static constexpr int kReadyMax = 128;
  static constexpr int kReadyMin = 32;

  Slots taken_slots(std::int64_t monotonic_ms) const COFFER_REQUIRES(mutex_);
  /// Takes the slot of one more attempt to this endpoint, if there is one.
  bool take_slot(const Lane& lane, std::int64_t monotonic_ms, Slots& taken) const;
  Lane* end_attempt(std::int64_t webhook, std::int64_t started_ms) COFFER_REQUIRES(mutex_);

  const SenderLimits limits_;
  mutable Mutex mutex_;
  std::map<std::int64_t, Lane> lanes_ COFFER_GUARDED_BY(mutex_);
  std::int64_t last_taken_ COFFER_GUARDED_BY(mutex_) = 0;
  std::vector<DeliveryOutcome> outcomes_ COFFER_GUARDED_BY(mutex_);
  bool closed_ COFFER_GUARDED_BY(mutex_) = false;
};

}  // namespace coffer::flows
