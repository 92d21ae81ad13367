// Readiness of many descriptors: epoll on Linux, kqueue on macOS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace coffer::http {

/// Several threads may wait on one Poller; each event goes to one of them. On Linux the idle
/// thread that came last is woken first, so that under light load a few threads stay warm and the
/// rest sleep on.
class Poller {
 public:
  struct Event {
    std::uint64_t token = 0;
    bool hang_up = false;  // the peer has closed its side: read until the end of the stream
    bool is_dead = false;  // reset: nothing that is sent arrives any more
  };

  Poller();  // throws InternalError when the process is out of descriptors
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  /// One event whenever something arrives, also for what has arrived before. False when the kernel
  /// refuses (out of memory or watches).
  bool add_edge(int fd, std::uint64_t token);
  /// From now on also one event whenever room to write appears; at once when there is room.
  bool watch_writing(int fd, std::uint64_t token);
  /// Reports for as long as `fd` is readable.
  bool add_level(int fd, std::uint64_t token);
  /// Watches another poller, silent until `arm` and silent again after one event.
  bool add_once(const Poller& other, std::uint64_t token);
  void arm(const Poller& other, std::uint64_t token);
  void remove(int fd);

  /// Blocks up to `timeout_ms` (-1: for ever) and fills `events`; 0 on timeout.
  std::size_t wait(std::span<Event> events, int timeout_ms);

 private:
  int fd_;
};

}  // namespace coffer::http
