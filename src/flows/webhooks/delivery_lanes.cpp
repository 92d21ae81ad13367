#include "flows/webhooks/delivery_lanes.h"

#include <algorithm>
#include <utility>

namespace coffer::flows {
namespace {

outbound::WebhookMessage message_of(const Endpoint& endpoint, const store::DeliveryRow& delivery,
                                    std::string body, Timestamp now) {
  outbound::WebhookMessage message;
  message.id = delivery.id.to_string();
  message.url = endpoint.url;
  message.environment = endpoint.tenant.environment;
  message.body = std::move(body);
  message.secrets.push_back(endpoint.secret);
  if (!endpoint.old_secret.empty() && now < endpoint.old_secret_until) {
    message.secrets.push_back(endpoint.old_secret);
  }
  return message;
}

}  // namespace

bool DeliveryLanes::knows(std::int64_t webhook, const std::string& sealed) const {
  const Lock lock(mutex_);
  const auto it = lanes_.find(webhook);
  return it != lanes_.end() && it->second.endpoint.sealed == sealed;
}

void DeliveryLanes::set_endpoint(std::int64_t webhook, Endpoint endpoint) {
  const Lock lock(mutex_);
  const auto [place, opens] = lanes_.try_emplace(webhook);
  Lane& lane = place->second;
  const bool is_new = opens || lane.endpoint.url != endpoint.url;
  if (is_new) lane.known = lane.slow = endpoint.failing;
  if (endpoint.secret.empty()) {
    endpoint.secret = lane.endpoint.secret;
    endpoint.old_secret = lane.endpoint.old_secret;
  }
  if (!is_new) endpoint.quiet_until = std::max(endpoint.quiet_until, lane.endpoint.quiet_until);
  lane.endpoint = std::move(endpoint);
}

void DeliveryLanes::keep_only(const std::set<std::int64_t>& webhooks) {
  const Lock lock(mutex_);
  for (auto it = lanes_.begin(); it != lanes_.end();) {
    Lane& lane = it->second;
    if (webhooks.contains(it->first)) {
      ++it;
      continue;
    }
    for (const Ready& job : lane.ready) lane.claims.erase(job.delivery.sequence);
    lane.ready.clear();
    lane.closed = true;
    it = lane.claims.empty() ? lanes_.erase(it) : std::next(it);
  }
}

int DeliveryLanes::room(std::int64_t webhook) const {
  const Lock lock(mutex_);
  const auto it = lanes_.find(webhook);
  if (it == lanes_.end()) return 0;
  const int ready = static_cast<int>(it->second.ready.size());
  return ready >= kReadyMin ? 0 : kReadyMax - ready;
}

int DeliveryLanes::claimed(std::int64_t webhook) const {
  const Lock lock(mutex_);
  const auto it = lanes_.find(webhook);
  return it == lanes_.end() ? 0 : static_cast<int>(it->second.claims.size());
}

bool DeliveryLanes::is_claimed(std::int64_t webhook, std::int64_t sequence) const {
  const Lock lock(mutex_);
  const auto it = lanes_.find(webhook);
  return it != lanes_.end() && it->second.claims.contains(sequence);
}

void DeliveryLanes::add(const store::DeliveryRow& delivery, std::string body) {
  const Lock lock(mutex_);
  Lane& lane = lanes_.at(delivery.webhook);
  if (lane.closed || !lane.claims.insert(delivery.sequence).second) return;
  lane.ready.push_back({delivery, std::move(body)});
}

std::vector<DeliveryOutcome> DeliveryLanes::take_outcomes() {
  const Lock lock(mutex_);
  return std::exchange(outcomes_, {});
}

void DeliveryLanes::put_back(std::vector<DeliveryOutcome> outcomes) {
  const Lock lock(mutex_);
  outcomes.insert(outcomes.end(), std::make_move_iterator(outcomes_.begin()),
                  std::make_move_iterator(outcomes_.end()));
  outcomes_ = std::move(outcomes);
}

void DeliveryLanes::release(const std::vector<DeliveryOutcome>& outcomes) {
  const Lock lock(mutex_);
  for (const DeliveryOutcome& outcome : outcomes) {
    const auto it = lanes_.find(outcome.delivery.webhook);
    if (it != lanes_.end()) it->second.claims.erase(outcome.delivery.sequence);
  }
}

void DeliveryLanes::close() {
  const Lock lock(mutex_);
  closed_ = true;
}

bool DeliveryLanes::closed() const {
  const Lock lock(mutex_);
  return closed_;
}

DeliveryLanes::Slots DeliveryLanes::taken_slots(std::int64_t monotonic_ms) const {
  Slots taken;
  for (const auto& [webhook, lane] : lanes_) {
    for (const std::int64_t started_ms : lane.in_progress) {
      const bool lasts = monotonic_ms - started_ms >= SenderLimits::kPromptMs;
      ++(lane.slow || lasts ? taken.patient : taken.prompt);
    }
  }
  return taken;
}

bool DeliveryLanes::take_slot(const Lane& lane, std::int64_t monotonic_ms, Slots& taken) const {
  if (taken.prompt + taken.patient >= limits_.prompt + limits_.patient) return false;
  const bool hangs = !lane.in_progress.empty() &&
                     monotonic_ms - lane.in_progress.front() >= SenderLimits::kPromptMs;
  // Slow endpoints use at most three quarters of the slots for slow attempts. The rest is for
  // endpoints whose speed is not known yet, because their attempts may turn out slow.
  if (lane.slow || hangs) return taken.patient < limits_.patient * 3 / 4 && ++taken.patient > 0;
  if (!lane.known && taken.patient >= limits_.patient) return false;
  return taken.prompt < limits_.prompt && ++taken.prompt > 0;
}

DeliveryLanes::Available DeliveryLanes::available(Timestamp now, std::int64_t monotonic_ms) const {
  const Lock lock(mutex_);
  Available out;
  if (closed_) return out;
  Slots taken = taken_slots(monotonic_ms);
  bool more = false;
  for (const auto& [webhook, lane] : lanes_) {
    if (now < lane.endpoint.quiet_until) continue;
    const int wanted = std::min(static_cast<int>(lane.ready.size()),
                                limits_.in_flight - static_cast<int>(lane.in_progress.size()));
    for (int i = 0; i < wanted; ++i) {
      const bool can = take_slot(lane, monotonic_ms, taken);
      out.jobs += can ? 1 : 0;
      more = more || !can;
    }
  }
  if (out.jobs > 0 || !more) return out;
  for (const auto& [webhook, lane] : lanes_) {
    for (const std::int64_t started_ms : lane.in_progress) {
      const std::int64_t left = started_ms + SenderLimits::kPromptMs - monotonic_ms;
      if (lane.slow || left <= 0) continue;
      out.again_in_ms = std::min(out.again_in_ms.value_or(left), left);
    }
  }
  return out;
}

std::optional<DeliveryJob> DeliveryLanes::take(Timestamp now, std::int64_t monotonic_ms) {
  const Lock lock(mutex_);
  if (closed_) return std::nullopt;
  Slots taken = taken_slots(monotonic_ms);
  auto it = lanes_.upper_bound(last_taken_);
  for (std::size_t i = 0; i < lanes_.size(); ++i, ++it) {
    if (it == lanes_.end()) it = lanes_.begin();
    Lane& lane = it->second;
    const bool idle = static_cast<int>(lane.in_progress.size()) < limits_.in_flight;
    if (lane.ready.empty() || !idle || now < lane.endpoint.quiet_until) continue;
    if (!take_slot(lane, monotonic_ms, taken)) continue;
    Ready next = std::move(lane.ready.front());
    lane.ready.pop_front();
    lane.in_progress.push_back(monotonic_ms);
    last_taken_ = it->first;
    DeliveryJob job;
    job.message = message_of(lane.endpoint, next.delivery, std::move(next.body), now);
    job.delivery = std::move(next.delivery);
    job.tenant = lane.endpoint.tenant;
    job.started_ms = monotonic_ms;
    return job;
  }
  return std::nullopt;
}

DeliveryLanes::Lane* DeliveryLanes::end_attempt(std::int64_t webhook, std::int64_t started_ms) {
  const auto it = lanes_.find(webhook);
  if (it == lanes_.end()) return nullptr;
  auto& in_progress = it->second.in_progress;
  const auto attempt = std::ranges::find(in_progress, started_ms);
  if (attempt != in_progress.end()) in_progress.erase(attempt);
  return &it->second;
}

void DeliveryLanes::finish(DeliveryOutcome outcome, Timestamp quiet_until) {
  const Lock lock(mutex_);
  Lane* const lane = end_attempt(outcome.delivery.webhook, outcome.started_ms);
  if (lane != nullptr && lane->endpoint.url == outcome.url) {
    lane->known = true;
    lane->slow = outcome.result.duration_ms >= SenderLimits::kPromptMs;
    lane->endpoint.quiet_until = std::max(lane->endpoint.quiet_until, quiet_until);
  }
  outcomes_.push_back(std::move(outcome));
}

void DeliveryLanes::abandon(const store::DeliveryRow& delivery, std::int64_t started_ms) {
  const Lock lock(mutex_);
  Lane* lane = end_attempt(delivery.webhook, started_ms);
  if (lane != nullptr) lane->claims.erase(delivery.sequence);
}

}  // namespace coffer::flows
