// Threads that deliver events: one dispatcher, which alone reads and writes rows, and senders,
// which wait on endpoints. An endpoint that does not answer holds up one sender per attempt in
// flight to it.
#pragma once

#include <memory>
#include <vector>

#include "base/worker_thread.h"
#include "flows/context.h"
#include "flows/webhooks/delivery_lanes.h"

namespace coffer::workers {

class WebhookDelivery {
 public:
  /// `context` outlives this. `in_flight` per endpoint.
  WebhookDelivery(const flows::Context& context, int senders, int in_flight);
  ~WebhookDelivery();  // stops
  WebhookDelivery(const WebhookDelivery&) = delete;
  WebhookDelivery& operator=(const WebhookDelivery&) = delete;

  void start();
  /// A commit has left events, or changed a registration. From any thread.
  void wake();
  /// Returns when the attempts under way have ended and are recorded.
  void stop();

  /// Without threads: everything that is due now, on this thread; how many attempts were made. For
  /// tests under a manual clock, and for nothing that `start` runs beside.
  int run_due();

 private:
  std::int64_t dispatch();
  std::int64_t send();
  std::int64_t prune();

  const flows::Context& context_;
  flows::DeliveryLanes lanes_;
  bool started_ = false;
  std::vector<std::unique_ptr<WorkerThread>> senders_;
  std::unique_ptr<WorkerThread> pruner_;
  std::unique_ptr<WorkerThread> dispatcher_;
};

}  // namespace coffer::workers
