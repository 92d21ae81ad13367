#include "http/call_deadlines.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "base/thread.h"

namespace coffer::http {

CallDeadlines::CallDeadlines() : thread_("call-deadlines", [this] { return step(); }) {
  thread_.start();
}

CallDeadlines::Call::Call(CallDeadlines& deadlines, int timeout_ms) : deadlines_(deadlines) {
  const std::int64_t deadline_ms = deadlines_.clock_.monotonic_ms() + timeout_ms;
  const Lock lock(deadlines_.mutex_);
  place_ = deadlines_.calls_.emplace(std::min(deadline_ms, deadlines_.cut_at_ms_), this);
  over_ = deadlines_.clock_.monotonic_ms() >= deadlines_.cut_at_ms_;
  // Deadlines usually increase from call to call, so the thread is rarely woken.
  if (deadline_ms < deadlines_.looks_at_ms_) deadlines_.thread_.wake();
}

CallDeadlines::Call::~Call() {
  const Lock lock(deadlines_.mutex_);
  deadlines_.calls_.erase(place_);
  if (socket_ >= 0) ::close(socket_);
}

void CallDeadlines::Call::watch(int socket) {
  const Lock lock(deadlines_.mutex_);
  if (socket_ >= 0) ::close(socket_);
  socket_ = ::fcntl(socket, F_DUPFD_CLOEXEC, 0);
  if (over_) end();
}

bool CallDeadlines::Call::is_over() const {
  const Lock lock(deadlines_.mutex_);
  return over_ || deadlines_.clock_.monotonic_ms() >= place_->first;
}

void CallDeadlines::Call::end() {
  over_ = true;
  if (socket_ >= 0) ::shutdown(socket_, SHUT_RDWR);
}

void CallDeadlines::cut_after(int ms) {
  const std::int64_t now_ms = clock_.monotonic_ms();
  const Lock lock(mutex_);
  cut_at_ms_ = std::min(cut_at_ms_, now_ms + ms);
  if (now_ms >= cut_at_ms_) end_until(kNever);
  thread_.wake();
}

void CallDeadlines::rest(int ms) {
  constexpr int kStepMs = 50;
  const auto is_cut = [this] {
    const Lock lock(mutex_);
    return clock_.monotonic_ms() >= cut_at_ms_;
  };
  for (; ms > 0 && !is_cut(); ms -= kStepMs) coffer::rest(std::min(ms, kStepMs));
}

void CallDeadlines::end_until(std::int64_t now_ms) {
  for (auto& [deadline_ms, call] : calls_) {
    if (deadline_ms > now_ms) break;
    if (!call->over_) call->end();
  }
}

std::int64_t CallDeadlines::step() {
  const std::int64_t now_ms = clock_.monotonic_ms();
  const Lock lock(mutex_);
  const bool is_cut = now_ms >= cut_at_ms_;
  end_until(is_cut ? kNever : now_ms);
  const auto next = calls_.upper_bound(now_ms);
  looks_at_ms_ = next == calls_.end() ? kNever : next->first;
  if (!is_cut) looks_at_ms_ = std::min(looks_at_ms_, cut_at_ms_);
  return looks_at_ms_ == kNever ? WorkerThread::kWhenWoken : looks_at_ms_ - now_ms;
}

}  // namespace coffer::http
