// For connections that there is no slot for: a response at once, and then the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>

namespace coffer::http {

/// Belongs to the thread that accepts. Never blocks.
class OverloadResponses {
 public:
  OverloadResponses() = default;
  ~OverloadResponses();  // closes what is left
  OverloadResponses(const OverloadResponses&) = delete;
  OverloadResponses& operator=(const OverloadResponses&) = delete;

  /// Takes over `fd` and sends `response`. The connection stays for a moment, because closing it
  /// while its request still arrives would send a reset, and a reset can overtake the response.
  void send(int fd, std::string_view response, std::int64_t now_ms);
  /// Closes those whose moment is over.
  void close_due(std::int64_t now_ms);

 private:
  struct Leaving {
    int fd;
    std::int64_t until_ms;
  };
  void close_first();

  std::deque<Leaving> leaving_;
};

}  // namespace coffer::http
