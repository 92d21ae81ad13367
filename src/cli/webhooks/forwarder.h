// Forwards events to one address with the signatures and retries of deliveries, one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/strong.h"
#include "cli/webhooks/feed.h"
#include "domain/webhooks/webhook.h"
#include "outbound/webhooks/webhook_sender.h"

namespace coffer::cli {

/// One attempt and its consequence.
struct Forwarded {
  FeedEvent event;
  Timestamp at;
  int attempt = 1;
  outbound::WebhookResponse result;
  NextStep next;
};

struct ForwardTotals {
  int events = 0;
  int delivered = 0;
  int dead = 0;     // all attempts failed
  int waiting = 0;  // neither yet
};

class Forwarder {
 public:
  using Report = std::function<void(const Forwarded&)>;

  /// All references must outlive this object. `report` is called on the thread of run().
  Forwarder(outbound::WebhookSender& sender, Random& random, std::string url, Secret secret,
            Report report);

  /// Waits while the queue is full, unless stopped. Thread-safe.
  void add(FeedEvent event);
  /// Sends until stop().
  void run();
  /// Interrupts attempts in progress. Callable from any thread.
  void stop();
  /// Call it after run() has returned.
  ForwardTotals totals() const;

 private:
  struct Job {
    FeedEvent event;
    int attempt = 1;
    std::int64_t due_ms = 0;  // monotonic
  };
  bool take(Job& job);
  void send(Job job);

  const SystemClock clock_;
  outbound::WebhookSender& sender_;
  Random& random_;
  const std::string url_;
  const Secret secret_;
  const Report report_;
  const DeliveryPolicy policy_;
  mutable Mutex mutex_;
  Condition changed_;
  std::deque<Job> jobs_ COFFER_GUARDED_BY(mutex_);  // in the order of their events
  bool stopping_ COFFER_GUARDED_BY(mutex_) = false;
  ForwardTotals totals_ COFFER_GUARDED_BY(mutex_);
};

}  // namespace coffer::cli
