#include "cli/webhooks/forwarder.h"

#include <algorithm>

namespace coffer::cli {
namespace {

constexpr std::size_t kInLineMax = 1'000;
constexpr std::int64_t kIdleMs = 60'000;

}  // namespace

Forwarder::Forwarder(outbound::WebhookSender& sender, Random& random, std::string url,
                     Secret secret, Report report)
    : sender_(sender),
      random_(random),
      url_(std::move(url)),
      secret_(std::move(secret)),
      report_(std::move(report)) {}

void Forwarder::add(FeedEvent event) {
  const Lock lock(mutex_);
  while (!stopping_ && jobs_.size() >= kInLineMax) changed_.wait(mutex_);
  if (stopping_) return;
  ++totals_.events;
  ++totals_.waiting;
  jobs_.push_back({std::move(event), 1, clock_.monotonic_ms()});
  changed_.notify_all();
}

/// Waits for the first due job. Returns false after stop().
bool Forwarder::take(Job& job) {
  const Lock lock(mutex_);
  while (!stopping_) {
    const std::int64_t now_ms = clock_.monotonic_ms();
    std::int64_t wait_ms = kIdleMs;
    for (auto it = jobs_.begin(); it != jobs_.end(); ++it) {
      wait_ms = std::min(wait_ms, it->due_ms - now_ms);
      if (wait_ms > 0) continue;
      job = std::move(*it);
      jobs_.erase(it);
      changed_.notify_all();
      return true;
    }
    changed_.wait_for_ms(mutex_, wait_ms);
  }
  return false;
}

void Forwarder::send(Job job) {
  outbound::WebhookMessage message;
  message.id = job.event.id;
  message.url = url_;
  message.environment = Environment::sandbox;  // where plain HTTP is permitted
  message.body = job.event.body;
  message.secrets.push_back(secret_);
  Forwarded done;
  done.at = clock_.now();
  done.attempt = job.attempt;
  done.result = sender_.send(message);
  done.next = next_step_after({done.result.status, done.result.retry_after_ms}, job.attempt,
                              Environment::sandbox, policy_, random_.next_u64());
  done.event = job.event;
  {
    const Lock lock(mutex_);
    if (stopping_ && done.result.status == 0) return;  // interrupted
    const bool again = done.next.state == DeliveryState::pending;
    totals_.waiting -= again ? 0 : 1;
    totals_.delivered += done.next.state == DeliveryState::delivered ? 1 : 0;
    totals_.dead += done.next.state == DeliveryState::dead ? 1 : 0;
    if (again) {
      job.due_ms = clock_.monotonic_ms() + done.next.delay_ms;
      ++job.attempt;
      jobs_.push_front(std::move(job));
    }
  }
  report_(done);
}

void Forwarder::run() {
  for (Job job; take(job);) send(std::move(job));
}

void Forwarder::stop() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  sender_.cut();
}

ForwardTotals Forwarder::totals() const {
  const Lock lock(mutex_);
  return totals_;
}

}  // namespace coffer::cli
