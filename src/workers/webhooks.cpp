#include "workers/webhooks.h"

#include <algorithm>
#include <atomic>

#include "flows/webhooks/deliver.h"

namespace coffer::workers {
namespace {

constexpr std::int64_t kWebhookLookAgainMs = 1'000;
// A fallback, because a sender that fails returns its delivery without a notification.
constexpr std::int64_t kLookAnywayMs = kMinuteMs;
constexpr std::int64_t kPruneEveryMs = kHourMs;
// If a woken sender does not take a job within this time, another one is woken.
constexpr std::int64_t kTakenWithinMs = 20;
constexpr int kWebhookRoundsMax = 1'000;

}  // namespace

WebhookDelivery::WebhookDelivery(const flows::Context& context, int senders, int in_flight)
    : context_(context),
      limits_{.in_flight = in_flight, .prompt = senders},
      lanes_(limits_),
      pruner_(std::make_unique<WorkerThread>("webhook-log", [this] { return prune(); })),
      dispatcher_(std::make_unique<WorkerThread>("webhooks", [this] { return dispatch(); })) {}

WebhookDelivery::~WebhookDelivery() { stop(); }

void WebhookDelivery::start() {
  started_ = true;
  pruner_->start();
  dispatcher_->start();
}

void WebhookDelivery::wake() { dispatcher_->wake(); }

void WebhookDelivery::stop() {
  dispatcher_->stop();
  pruner_->stop();
  if (!started_) return;
  flows::cut_deliveries(context_, lanes_);
  for (auto& sender : senders_) sender->thread->stop();
  flows::record_finished(context_, lanes_);
  started_ = false;
}

int WebhookDelivery::run_due() {
  int sent = 0;
  for (int i = 0; i < kWebhookRoundsMax; ++i) {
    const auto round = flows::run_delivery_round(context_, lanes_);
    int now_sent = 0;
    while (const auto job = flows::take_delivery(context_, lanes_)) {
      flows::send_delivery(context_, lanes_, *job);
      ++now_sent;
    }
    sent += now_sent;
    const bool idle = round && round->queued == 0 && round->recorded == 0 && !round->more;
    if (!round || (now_sent == 0 && idle)) break;
  }
  return sent;
}

std::int64_t WebhookDelivery::dispatch() {
  const store::ReadersScope readers(store::Readers::delivery);
  const auto round = flows::run_delivery_round(context_, lanes_);
  const std::int64_t look_again_ms = hand_out();
  // Overloaded or disk full: deliveries wait in their rows.
  if (!round) return std::min(kWebhookLookAgainMs, look_again_ms);
  if (round->more) return 0;
  if (!round->next_due) return look_again_ms;
  const std::int64_t due_in_ms = round->next_due->ms - context_.queue.now().ms;
  return std::clamp<std::int64_t>(due_in_ms, 0, look_again_ms);
}

/// Wakes idle senders, and adds senders if all are busy. Returns the milliseconds until there may
/// be more jobs.
std::int64_t WebhookDelivery::hand_out() {
  const auto available = flows::available_deliveries(context_, lanes_);
  if (available.jobs == 0) return available.again_in_ms.value_or(kLookAnywayMs);
  int left = available.jobs;
  for (auto& sender : senders_) {
    if (left == 0) break;
    if (sender->sending) continue;
    sender->thread->wake();
    --left;
  }
  const auto senders_max = static_cast<std::size_t>(limits_.prompt + limits_.patient);
  for (; left > 0 && senders_.size() < senders_max; --left) add_sender();
  return kTakenWithinMs;
}

void WebhookDelivery::add_sender() {
  auto sender = std::make_unique<Sender>();
  sender->thread = std::make_unique<WorkerThread>("webhook-" + std::to_string(senders_.size()),
                                                  [this, &self = *sender] { return send(self); });
  sender->thread->start();
  senders_.push_back(std::move(sender));
}

std::int64_t WebhookDelivery::send(Sender& sender) {
  const auto job = flows::take_delivery(context_, lanes_);
  if (!job) return WorkerThread::kWhenWoken;
  struct Sending {
    std::atomic<bool>& flag;
    explicit Sending(std::atomic<bool>& sending) : flag(sending) { flag = true; }
    ~Sending() { flag = false; }
  };
  {
    const Sending sending(sender.sending);
    flows::send_delivery(context_, lanes_, *job);
  }
  dispatcher_->wake();
  return 0;
}

std::int64_t WebhookDelivery::prune() {
  const store::ReadersScope readers(store::Readers::delivery);
  const auto more = flows::prune_deliveries(context_);
  return more && *more ? 0 : kPruneEveryMs;
}

}  // namespace coffer::workers
