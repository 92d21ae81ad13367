#include "workers/webhooks.h"

#include <algorithm>

#include "flows/webhooks/deliver.h"

namespace coffer::workers {
namespace {

constexpr std::int64_t kLookAgainMs = 1'000;
// Nothing should need it: a sender that broke down gives back its delivery without saying so.
constexpr std::int64_t kLookAnywayMs = 60'000;
constexpr std::int64_t kPruneEveryMs = 3'600'000;
constexpr int kRoundsMax = 1'000;

}  // namespace

WebhookDelivery::WebhookDelivery(const flows::Context& context, int senders, int in_flight)
    : context_(context),
      lanes_(in_flight),
      pruner_(std::make_unique<WorkerThread>("webhook-log", [this] { return prune(); })),
      dispatcher_(std::make_unique<WorkerThread>("webhooks", [this] { return dispatch(); })) {
  for (int i = 0; i < senders; ++i) {
    senders_.push_back(
        std::make_unique<WorkerThread>("webhook-" + std::to_string(i), [this] { return send(); }));
  }
}

WebhookDelivery::~WebhookDelivery() { stop(); }

void WebhookDelivery::start() {
  started_ = true;
  for (auto& sender : senders_) sender->start();
  pruner_->start();
  dispatcher_->start();
}

void WebhookDelivery::wake() { dispatcher_->wake(); }

void WebhookDelivery::stop() {
  dispatcher_->stop();
  pruner_->stop();
  for (auto& sender : senders_) sender->stop();
  if (started_) flows::record_finished(context_, lanes_);
  started_ = false;
}

int WebhookDelivery::run_due() {
  int sent = 0;
  for (int i = 0; i < kRoundsMax; ++i) {
    const auto round = flows::run_delivery_round(context_, lanes_);
    int now_sent = 0;
    while (flows::send_next(context_, lanes_)) ++now_sent;
    sent += now_sent;
    const bool idle = round && round->queued == 0 && round->recorded == 0 && !round->more;
    if (!round || (now_sent == 0 && idle)) break;
  }
  return sent;
}

std::int64_t WebhookDelivery::dispatch() {
  const auto round = flows::run_delivery_round(context_, lanes_);
  if (!round) return kLookAgainMs;  // overloaded or disk full: everything waits in its rows
  const auto wanted = std::min(static_cast<std::size_t>(round->ready), senders_.size());
  for (std::size_t i = 0; i < wanted; ++i) senders_[i]->wake();
  if (round->more) return 0;
  if (!round->next_due) return kLookAnywayMs;
  return std::clamp<std::int64_t>(round->next_due->ms - context_.queue.now().ms, 0, kLookAnywayMs);
}

std::int64_t WebhookDelivery::send() {
  if (!flows::send_next(context_, lanes_)) return WorkerThread::kWhenWoken;
  dispatcher_->wake();
  return 0;
}

std::int64_t WebhookDelivery::prune() {
  const auto more = flows::prune_deliveries(context_);
  return more && *more ? 0 : kPruneEveryMs;
}

}  // namespace coffer::workers
