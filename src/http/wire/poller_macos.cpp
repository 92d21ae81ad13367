#include <fcntl.h>
#include <sys/event.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>

#include "base/check.h"
#include "http/wire/poller.h"

namespace coffer::http {
namespace {

constexpr std::size_t kBatchMax = 64;

/// Returns false if the kernel reports an error.
bool change(int queue, int fd, std::int16_t filter, std::uint16_t flags, std::uint64_t token) {
  struct kevent wanted {};
  EV_SET(&wanted, static_cast<std::uintptr_t>(fd), filter, flags, 0, 0,
         reinterpret_cast<void*>(static_cast<std::uintptr_t>(token)));
  return ::kevent(queue, &wanted, 1, nullptr, 0, nullptr) == 0;
}

}  // namespace

Poller::Poller() : fd_(::kqueue()) {
  COFFER_CHECK(fd_ >= 0);
  ::fcntl(fd_, F_SETFD, FD_CLOEXEC);
}

Poller::~Poller() { ::close(fd_); }

bool Poller::add_edge(int fd, std::uint64_t token) {
  return change(fd_, fd, EVFILT_READ, EV_ADD | EV_CLEAR, token);
}

bool Poller::watch_writing(int fd, std::uint64_t token) {
  return change(fd_, fd, EVFILT_WRITE, EV_ADD | EV_CLEAR, token);
}

bool Poller::add_level(int fd, std::uint64_t token) {
  return change(fd_, fd, EVFILT_READ, EV_ADD, token);
}

void Poller::remove(int fd) { change(fd_, fd, EVFILT_READ, EV_DELETE, 0); }

std::size_t Poller::wait(std::span<Event> events, int timeout_ms) {
  std::array<struct kevent, kBatchMax> ready;
  const auto room = static_cast<int>(std::min(events.size(), ready.size()));
  const timespec limit{timeout_ms / 1'000, timeout_ms % 1'000 * 1'000'000L};
  const int count =
      ::kevent(fd_, nullptr, 0, ready.data(), room, timeout_ms < 0 ? nullptr : &limit);
  if (count <= 0) return 0;  // EINTR counts as an early timeout
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    events[i].token = reinterpret_cast<std::uintptr_t>(ready[i].udata);
    // For the write filter, EV_EOF means that this side is closed.
    events[i].hang_up = ready[i].filter == EVFILT_READ && (ready[i].flags & EV_EOF) != 0;
    events[i].is_dead = events[i].hang_up && ready[i].fflags != 0;
  }
  return static_cast<std::size_t>(count);
}

}  // namespace coffer::http
