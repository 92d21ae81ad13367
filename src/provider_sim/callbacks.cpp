#include "provider_sim/callbacks.h"

#include <algorithm>

#include "base/telemetry/log.h"

namespace coffer::provider_sim {

bool CallbackSender::send(const Callback& callback, const std::string& id) {
  SignedCallback out;
  out.path = base_path_ + "/v1/providers/" + callback.connector_id + "/callbacks";
  out.body = Json({{"id", id}, {"type", callback.type}, {"data", callback.data}})
                 .dump(-1, ' ', false, Json::error_handler_t::replace);
  out.headers = outbound::sign(secret_, clock_.now(), {"POST", out.path, out.body});
  const auto status = deliver_(out);
  const bool taken = status && *status >= 200 && *status < 300;
  log_debug("callback", taken ? "delivered" : "not delivered",
            {{"id", id},
             {"type", callback.type},
             {"status", status ? *status : 0},
             {"reason", status ? std::string_view() : std::string_view(status.error().detail)}});
  return taken;
}

void CallbackSender::attempt(const Callback& callback, Progress& progress) {
  if (!progress.held_back && progress.attempts == 0 && dice_.strikes(Fault::reorder)) {
    progress.held_back = true;
    progress.next_ms = clock_.monotonic_ms() + dice_.ms_of(Fault::reorder);
    return;
  }
  ++progress.attempts;
  if (send(callback, callback.id)) {
    if (dice_.strikes(Fault::duplicate)) {
      send(callback, callback.id);
      send(callback, ids_.uuid_v7(clock_.now()).to_string());
    }
    state_.delivered(callback.id);
    progress_.erase(callback.id);
    return;
  }
  progress.next_ms = clock_.monotonic_ms() + (kFirstRetryMs << (progress.attempts - 1));
  if (progress.attempts < kAttempts) return;
  log_warning("callback", "abandoned after too many attempts",
              {{"id", callback.id}, {"type", callback.type}});
}

std::int64_t CallbackSender::step() {
  for (const Callback& callback : state_.due()) {
    Progress& progress = progress_[callback.id];
    const bool wanted = progress.attempts < kAttempts;
    if (wanted && progress.next_ms <= clock_.monotonic_ms()) attempt(callback, progress);
  }
  constexpr std::int64_t kNever = -1;
  std::int64_t wait = kNever;
  const auto sooner = [&](std::int64_t ms) {
    ms = std::max<std::int64_t>(1, ms);
    wait = wait == kNever ? ms : std::min(wait, ms);
  };
  for (const auto& [id, progress] : progress_) {
    if (progress.attempts < kAttempts) sooner(progress.next_ms - clock_.monotonic_ms());
  }
  if (const auto next = state_.next_change()) sooner(next->ms - clock_.now().ms);
  return wait;
}

}  // namespace coffer::provider_sim
