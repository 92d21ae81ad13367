#include "http/wire/overload_responses.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "base/platform/descriptors.h"

namespace coffer::http {
namespace {

constexpr std::int64_t kStayMs = 400;
// If there are more, they are closed earlier to free descriptors.
constexpr std::size_t kLeavingMax = 256;
// Reads of 16 KiB each. A client that sends more at once may lose the response.
constexpr int kReadsMax = 8;

void discard(int fd) {
  std::array<char, 16 * 1024> sink;
  for (int i = 0; i < kReadsMax; ++i) {
    if (::recv(fd, sink.data(), sink.size(), MSG_DONTWAIT) <= 0) return;
  }
}

}  // namespace

OverloadResponses::~OverloadResponses() {
  while (!leaving_.empty()) close_first();
}

void OverloadResponses::send(int fd, std::string_view response, std::int64_t now_ms) {
  discard(fd);
  // The response fits into the buffer of a new connection, unless the peer is gone.
  static_cast<void>(::send(fd, response.data(), response.size(), MSG_DONTWAIT | kNoSignal));
  ::shutdown(fd, SHUT_WR);
  if (leaving_.size() >= kLeavingMax) close_first();
  leaving_.push_back({fd, now_ms + kStayMs});
}

void OverloadResponses::close_due(std::int64_t now_ms) {
  while (!leaving_.empty() && leaving_.front().until_ms <= now_ms) close_first();
}

void OverloadResponses::close_first() {
  discard(leaving_.front().fd);
  ::close(leaving_.front().fd);
  leaving_.pop_front();
}

}  // namespace coffer::http
