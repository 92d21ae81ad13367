#include "cli/control_client.h"

#include <algorithm>
#include <charconv>

#include "cli/exit_code.h"

namespace coffer::cli {
namespace {

constexpr int kAcceptMs = 10'000;
constexpr int kSendMs = 5'000;

int parse_exit_code(const std::string& text) {
  int code = exit_code::kFailed;
  std::from_chars(text.data(), text.data() + text.size(), code);
  return code;
}

/// Prints output until the server sends the exit code.
int relay(ControlStream& stream, const Console& console, int silence_ms) {
  while (const auto frame = stream.receive(silence_ms)) {
    switch (frame->kind) {
      case FrameKind::out:
        console.out << frame->content << std::flush;
        if (!console.out) return exit_code::kFailed;  // the server notices the closed socket
        break;
      case FrameKind::err:
        console.err << frame->content << std::flush;
        break;
      case FrameKind::exit:
        return parse_exit_code(frame->content);
      case FrameKind::accepted:
      case FrameKind::request:
        break;
    }
  }
  print_error(
      console,
      "the server stopped before the command was complete. Read its log, then repeat the command");
  return exit_code::kUnreachable;
}

}  // namespace

std::optional<int> run_in_server(const std::string& database, const ControlRequest& request,
                                 const Console& console, int silence_ms) {
  const int fd = open_control_socket(control_socket_path(database), SocketRole::connect);
  if (fd < 0) return std::nullopt;
  ControlStream stream(fd);
  const int accept_ms = silence_ms == kNoLimit ? kAcceptMs : std::min(silence_ms, kAcceptMs);
  const bool asked = stream.send(FrameKind::request, encode(request), kSendMs);
  const auto accepted = asked ? stream.receive(accept_ms) : std::nullopt;
  if (!accepted || accepted->kind != FrameKind::accepted) {
    print_error(console,
                "the server that has " + database +
                    " open does not respond on its control socket. Try again, or read its log");
    return exit_code::kBusy;
  }
  return relay(stream, console, silence_ms);
}

}  // namespace coffer::cli
