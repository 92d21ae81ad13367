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
  Lane& lane = lanes_[webhook];
  if (endpoint.secret.empty()) {
    endpoint.secret = lane.endpoint.secret;
    endpoint.old_secret = lane.endpoint.old_secret;
  }
  endpoint.quiet_until = std::max(endpoint.quiet_until, lane.endpoint.quiet_until);
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

int DeliveryLanes::ready() const {
  const Lock lock(mutex_);
  std::size_t count = 0;
  for (const auto& [webhook, lane] : lanes_) count += lane.ready.size();
  return static_cast<int>(count);
}

std::optional<DeliveryJob> DeliveryLanes::take(Timestamp now) {
  const Lock lock(mutex_);
  auto it = lanes_.upper_bound(last_taken_);
  for (std::size_t i = 0; i < lanes_.size(); ++i, ++it) {
    if (it == lanes_.end()) it = lanes_.begin();
    Lane& lane = it->second;
    if (lane.ready.empty() || lane.sending >= in_flight_ || now < lane.endpoint.quiet_until) {
      continue;
    }
    Ready next = std::move(lane.ready.front());
    lane.ready.pop_front();
    ++lane.sending;
    last_taken_ = it->first;
    DeliveryJob job;
    job.message = message_of(lane.endpoint, next.delivery, std::move(next.body), now);
    job.delivery = std::move(next.delivery);
    job.tenant = lane.endpoint.tenant;
    return job;
  }
  return std::nullopt;
}

void DeliveryLanes::end_sending(std::int64_t webhook) {
  const auto it = lanes_.find(webhook);
  if (it != lanes_.end()) --it->second.sending;
}

void DeliveryLanes::finish(DeliveryOutcome outcome, Timestamp quiet_until) {
  const Lock lock(mutex_);
  end_sending(outcome.delivery.webhook);
  const auto it = lanes_.find(outcome.delivery.webhook);
  if (it != lanes_.end()) {
    Timestamp& quiet = it->second.endpoint.quiet_until;
    quiet = std::max(quiet, quiet_until);
  }
  outcomes_.push_back(std::move(outcome));
}

void DeliveryLanes::abandon(const store::DeliveryRow& delivery) {
  const Lock lock(mutex_);
  end_sending(delivery.webhook);
  const auto it = lanes_.find(delivery.webhook);
  if (it != lanes_.end()) it->second.claims.erase(delivery.sequence);
}

}  // namespace coffer::flows
