// Deliveries in memory: what is ready to be sent, per endpoint, and what became of it. Rows are the
// truth; what is lost here with the process is found again in them.
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

/// An endpoint as senders need it.
struct Endpoint {
  Tenant tenant;
  std::string url;
  Secret secret;
  Secret old_secret;  // empty: none
  Timestamp old_secret_until;
  Timestamp quiet_until;
  std::string sealed;    // both secrets as stored: equal means unsealed already
  bool failing = false;  // the last attempt to it failed
};

/// Maximum number of concurrent attempts. Attempts that last longer than kPromptMs have separate
/// slots, so that endpoints that do not respond leave room for those that do.
struct SenderLimits {
  int in_flight = 1;  // to one endpoint
  int prompt = 16;
  int patient = 240;

  static constexpr std::int64_t kPromptMs = 100;
};

struct DeliveryJob {
  store::DeliveryRow delivery;
  Tenant tenant;
  outbound::WebhookMessage message;
  std::int64_t started_ms = 0;  // by the clock that `take` was asked with
};

struct DeliveryOutcome {
  store::DeliveryRow delivery;
  Tenant tenant;
  outbound::WebhookResponse answer;
  Timestamp at;                 // when the attempt began
  std::int64_t started_ms = 0;  // the same, as in the job
  std::uint64_t chance = 0;
};

/// Thread safe. A delivery is claimed from `add` until its outcome is released, so that it is never
/// sent twice at once.
class DeliveryLanes {
 public:
  explicit DeliveryLanes(const SenderLimits& limits) : limits_(limits) {}

  // For the dispatcher
  // -----------------------------------------------------------------------------

  /// The endpoint's secrets are these already, and need not be unsealed again.
  bool knows(std::int64_t webhook, const std::string& sealed) const;
  /// Opens the lane, or changes what its next jobs are sent with. Without secrets: those it has.
  void set_endpoint(std::int64_t webhook, Endpoint endpoint);
  /// Closes the lanes of all others, and forgets what they had ready.
  void keep_only(const std::set<std::int64_t>& webhooks);
  /// How many more jobs the lane should get; 0 while it has enough.
  int room(std::int64_t webhook) const;
  /// Claimed of this endpoint: rows that still look due and are taken care of.
  int claimed(std::int64_t webhook) const;
  bool is_claimed(std::int64_t webhook, std::int64_t sequence) const;
  void add(const store::DeliveryRow& delivery, std::string body);
  /// Everything that was finished since the last call.
  std::vector<DeliveryOutcome> take_outcomes();
  /// They could not be recorded now.
  void put_back(std::vector<DeliveryOutcome> outcomes);
  /// Recorded: what is due again may be loaded again.
  void release(const std::vector<DeliveryOutcome>& outcomes);
  /// From now on nothing is given to senders.
  void close();
  bool closed() const;

  /// What senders could take.
  struct Chance {
    int jobs = 0;
    /// Without jobs: milliseconds until an attempt in progress has lasted long enough to leave its
    /// slot to another; empty: not before an attempt ends or a job is added.
    std::optional<std::int64_t> again_in_ms;
  };
  Chance chance(Timestamp now, std::int64_t monotonic_ms) const;

  // For senders
  // ------------------------------------------------------------------------------------

  /// The next job, of each endpoint in turn. `finish` or `abandon` must follow. `monotonic_ms` is
  /// the machine's: how long attempts last is no matter of the records.
  std::optional<DeliveryJob> take(Timestamp now, std::int64_t monotonic_ms);
  /// `quiet_until`: nothing else goes to the endpoint before.
  void finish(DeliveryOutcome outcome, Timestamp quiet_until);
  /// It was not sent; it will be loaded again.
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
    std::vector<std::int64_t> under_way;  // when each attempt began
    bool known = false;                   // an attempt has ended since the start, or failed before
    bool slow = false;                    // the last attempt was
    bool closed = false;                  // disabled, with attempts still in progress
  };
  struct Slots {
    int prompt = 0;
    int patient = 0;
  };
  static constexpr int kReadyMax = 128;
  static constexpr int kReadyMin = 32;

  Slots taken_slots(std::int64_t monotonic_ms) const COFFER_REQUIRES(mutex_);
  /// Takes the slot of one more attempt to this endpoint, when there is one.
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
