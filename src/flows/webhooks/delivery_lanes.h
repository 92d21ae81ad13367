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
#include "outbound/webhook_sender.h"
#include "store/outbox/deliveries.h"

namespace coffer::flows {

/// An endpoint as senders need it.
struct Endpoint {
  Tenant tenant;
  std::string url;
  Secret secret;
  Secret old_secret;  // empty: none
  Timestamp old_secret_until;
  Timestamp quiet_until;
  std::string sealed;  // both secrets as stored: equal means unsealed already
};

struct DeliveryJob {
  store::DeliveryRow delivery;
  Tenant tenant;
  outbound::WebhookMessage message;
};

struct DeliveryOutcome {
  store::DeliveryRow delivery;
  Tenant tenant;
  outbound::WebhookAnswer answer;
  Timestamp at;  // when the attempt began
  std::uint64_t chance = 0;
};

/// Thread safe. A delivery is claimed from `add` until its outcome is released, so that it is never
/// sent twice at once; at most `in_flight` of one endpoint are being sent at any time.
class DeliveryLanes {
 public:
  explicit DeliveryLanes(int in_flight) : in_flight_(in_flight) {}

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
  int ready() const;

  // For senders
  // ------------------------------------------------------------------------------------

  /// The next job, of each endpoint in turn. `finish` or `abandon` must follow.
  std::optional<DeliveryJob> take(Timestamp now);
  /// `quiet_until`: nothing else goes to the endpoint before.
  void finish(DeliveryOutcome outcome, Timestamp quiet_until);
  /// It was not sent; it will be loaded again.
  void abandon(const store::DeliveryRow& delivery);

 private:
  struct Ready {
    store::DeliveryRow delivery;
    std::string body;
  };
  struct Lane {
    Endpoint endpoint;
    std::deque<Ready> ready;
    std::set<std::int64_t> claims;
    int sending = 0;
    bool closed = false;  // disabled, with attempts still under way
  };
  static constexpr int kReadyMax = 128;
  static constexpr int kReadyMin = 32;

  void end_sending(std::int64_t webhook) COFFER_REQUIRES(mutex_);

  const int in_flight_;
  mutable Mutex mutex_;
  std::map<std::int64_t, Lane> lanes_ COFFER_GUARDED_BY(mutex_);
  std::int64_t last_taken_ COFFER_GUARDED_BY(mutex_) = 0;
  std::vector<DeliveryOutcome> outcomes_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer::flows
