#include "http/call_deadlines.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace coffer::http {

CallDeadlines::CallDeadlines() : thread_("call-deadlines", [this] { return step(); }) {
  thread_.start();
}

CallDeadlines::Call::Call(CallDeadlines& deadlines, int timeout_ms) : deadlines_(deadlines) {
  const std::int64_t deadline_ms = deadlines_.clock_.monotonic_ms() + timeout_ms;
  const Lock lock(deadlines_.mutex_);
  place_ = deadlines_.calls_.emplace(deadline_ms, this);
  over_ = deadlines_.cut_;
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

void CallDeadlines::cut() {
  const Lock lock(mutex_);
  cut_ = true;
  end_until(kNever);
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
  end_until(now_ms);
  const auto next = calls_.upper_bound(now_ms);
  looks_at_ms_ = next == calls_.end() ? kNever : next->first;
  return next == calls_.end() ? WorkerThread::kWhenWoken : next->first - now_ms;
}

}  // namespace coffer::http
