// Responses to connections that get no slot. The connections are closed afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>

namespace coffer::http {

/// Belongs to the accepting thread. Never blocks.
class OverloadResponses {
 public:
  OverloadResponses() = default;
  ~OverloadResponses();  // closes the remaining connections
  OverloadResponses(const OverloadResponses&) = delete;
  OverloadResponses& operator=(const OverloadResponses&) = delete;

  /// Takes over `fd` and sends `response`. The connection stays open briefly: closing it while its
  /// request still arrives would send a reset, which can overtake the response.
  void send(int fd, std::string_view response, std::int64_t now_ms);
  /// Closes connections whose time is over.
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
