// Readiness of many descriptors: epoll on Linux, kqueue on macOS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace coffer::http {

/// One thread waits; any thread may change what it waits for.
class Poller {
 public:
  struct Event {
    std::uint64_t token = 0;
    bool hang_up = false;  // the peer has closed its side: read until the end of the stream
    bool is_dead = false;  // reset: the peer receives nothing any more
  };

  Poller();  // throws InternalError if the process is out of descriptors
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  /// One event whenever data arrives, including data that arrived before. Returns false if
  /// the kernel has no memory or watches left.
  bool add_edge(int fd, std::uint64_t token);
  /// Adds an event whenever the socket becomes writable, starting immediately if it is.
  bool watch_writing(int fd, std::uint64_t token);
  /// Reports as long as `fd` is readable.
  bool add_level(int fd, std::uint64_t token);
  void remove(int fd);

  /// Blocks up to `timeout_ms` (-1: no limit) and fills `events`; returns 0 on timeout.
  std::size_t wait(std::span<Event> events, int timeout_ms);

 private:
  int fd_;
};

}  // namespace coffer::http
