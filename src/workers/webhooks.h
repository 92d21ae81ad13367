// Threads that deliver events: one dispatcher, which alone reads and writes rows, and senders,
// which wait for endpoints. There is a sender for each concurrent attempt.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/worker_thread.h"
#include "flows/context.h"
#include "flows/webhooks/delivery_lanes.h"

namespace coffer::workers {

class WebhookDelivery {
 public:
  /// `context` outlives this. `senders` for endpoints that answer at once; those that do not get
  /// threads beyond them. `in_flight` per endpoint.
  WebhookDelivery(const flows::Context& context, int senders, int in_flight);
  ~WebhookDelivery();  // stops
  WebhookDelivery(const WebhookDelivery&) = delete;
  WebhookDelivery& operator=(const WebhookDelivery&) = delete;

  void start();
  /// A commit has left events, or changed a registration. From any thread.
  void wake();
  /// Cuts the attempts in progress, which count as failed where the endpoint may have seen the
  /// POST, and returns when everything that has ended is recorded. Once only.
  void stop();

  /// Without threads: everything that is due now, on this thread; how many attempts were made. For
  /// tests under a manual clock.
  int run_due();

 private:
  struct Sender {
    std::atomic<bool> sending{false};
    std::unique_ptr<WorkerThread> thread;
  };
  std::int64_t dispatch();
  std::int64_t hand_out();
  void add_sender();
  std::int64_t send(Sender& sender);
  std::int64_t prune();

  const flows::Context& context_;
  const flows::SenderLimits limits_;
  flows::DeliveryLanes lanes_;
  std::unique_ptr<WorkerThread> pruner_;
  std::unique_ptr<WorkerThread> dispatcher_;
  std::vector<std::unique_ptr<Sender>> senders_;  // of the dispatcher, while it runs
  bool started_ = false;
};

}  // namespace coffer::workers
