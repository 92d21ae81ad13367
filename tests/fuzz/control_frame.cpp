// The control socket: frames from a peer that sends arbitrary bytes, and the request in a frame.
#include <sys/socket.h>
#include <unistd.h>

#include "cli/control_wire.h"
#include "fuzz/property.h"

namespace coffer::fuzz {
namespace {

using namespace cli;

constexpr int kNoWaitMs = 0;

/// Both ends of a connection. The peer has sent everything and closed its end.
ControlStream said(std::string_view bytes) {
  int ends[2];
  HOLDS(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
  HOLDS(bytes.empty() || ::send(ends[1], bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                             static_cast<ssize_t>(bytes.size()));
  ::close(ends[1]);
  return ControlStream(ends[0]);
}

std::string frame_of(FrameKind kind, std::string_view content) {
  std::string out(1, static_cast<char>(kind));
  for (int shift = 24; shift >= 0; shift -= 8)
    out += static_cast<char>(content.size() >> shift & 0xff);
  return out.append(content);
}

void check_frames(std::string_view bytes) {
  ControlStream stream = said(bytes);
  std::size_t used = 0;
  while (const auto frame = stream.receive(kNoWaitMs)) {
    HOLDS(frame->content.size() <= ControlStream::kFrameBytesMax);
    HOLDS(bytes.substr(used).starts_with(frame_of(frame->kind, frame->content)));
    used += 5 + frame->content.size();
  }
}

void check_request(std::string_view text) {
  const auto request = decode_request(text);
  if (!request) return;
  const auto again = decode_request(encode(*request));
  HOLDS(again && again->command == request->command && again->arguments == request->arguments);
  HOLDS(again->json == request->json && again->terminal == request->terminal);
  HOLDS(again->progress == request->progress && again->colour == request->colour);
}

}  // namespace
}  // namespace coffer::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = coffer::fuzz::text_of(data, size);
  coffer::fuzz::check_frames(bytes);
  coffer::fuzz::check_request(bytes);
  return 0;
}
