#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "http/wire/poller.h"

namespace coffer::http {
namespace {

constexpr std::size_t kBatchMax = 64;

bool control(int epoll_fd, int operation, int fd, std::uint32_t events, std::uint64_t token) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = token;
  return epoll_ctl(epoll_fd, operation, fd, &event) == 0;
}

}  // namespace

Poller::Poller() : fd_(epoll_create1(EPOLL_CLOEXEC)) { COFFER_CHECK(fd_ >= 0); }

Poller::~Poller() { ::close(fd_); }

bool Poller::add_edge(int fd, std::uint64_t token) {
  return control(fd_, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLRDHUP | EPOLLET, token);
}

bool Poller::watch_writing(int fd, std::uint64_t token) {
  // Never removed: an edge for writing occurs only after a write has found the socket full.
  return control(fd_, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, token);
}

bool Poller::add_level(int fd, std::uint64_t token) {
  return control(fd_, EPOLL_CTL_ADD, fd, EPOLLIN, token);
}

void Poller::remove(int fd) { control(fd_, EPOLL_CTL_DEL, fd, 0, 0); }

std::size_t Poller::wait(std::span<Event> events, int timeout_ms) {
  std::array<epoll_event, kBatchMax> ready;
  const auto room = static_cast<int>(std::min(events.size(), ready.size()));
  const int count = epoll_wait(fd_, ready.data(), room, timeout_ms);
  if (count <= 0) return 0;  // EINTR counts as an early timeout
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    events[i].token = ready[i].data.u64;
    events[i].hang_up = (ready[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    events[i].is_dead = (ready[i].events & EPOLLERR) != 0;
  }
  return static_cast<std::size_t>(count);
}

}  // namespace coffer::http
