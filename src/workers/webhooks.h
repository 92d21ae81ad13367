// Threads that deliver events: one dispatcher, which alone reads and writes rows, and senders,
// which wait for endpoints. Each concurrent attempt has its own sender.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/telemetry/worker_thread.h"
#include "flows/context.h"
#include "flows/webhooks/delivery_lanes.h"

namespace coffer::workers {

class WebhookDelivery {
 public:
  /// `context` must outlive this object. `senders` is the number of threads for endpoints that
  /// respond promptly; slow endpoints get additional threads. `in_flight` applies per endpoint.
  WebhookDelivery(const flows::Context& context, int senders, int in_flight);
  ~WebhookDelivery();  // stops
  WebhookDelivery(const WebhookDelivery&) = delete;
  WebhookDelivery& operator=(const WebhookDelivery&) = delete;

  void start();
  /// Call after a commit with events or a changed webhook. Thread-safe.
  void wake();
  /// Ends the attempts in progress, which count as failed if the endpoint may have received the
  /// POST. Returns when all results are recorded. Call it once.
  void stop();

  /// Delivers everything that is due now on the calling thread and returns the number of attempts.
  /// For tests with a manual clock.
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
  std::vector<std::unique_ptr<Sender>> senders_;  // for the dispatcher, while it runs
  bool started_ = false;
};

}  // namespace coffer::workers
