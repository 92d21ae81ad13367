// The command's side of the control socket.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/files/descriptor.h"
#include "base/platform/exit_code.h"
#include "cli/control_wire.h"
#include "store/file/lock_file.h"

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
  const std::string path = control_socket_path(database);
  const int fd = open_control_socket(path, SocketRole::connect);
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

std::string why_unreachable(const std::string& database) {
  const store::LockState holder = store::lock_state(database);
  if (holder.process == 0 || !holder.command.empty()) return {};
  const std::string path = control_socket_path(database);
  const Descriptor socket(open_control_socket(path, SocketRole::connect));
  const int reason = errno;
  if (socket.is_open()) return {};
  const std::string fault =
      reason == ENOENT ? " was removed while the server runs, or the server is still starting"
                       : std::string(" cannot be used: ") + std::strerror(reason);
  return "The control socket " + path + fault + ". " + database + " is open in " +
         store::described(holder) +
         ". Repeat the command later. If that does not help, restart the server, which then "
         "creates the socket again";
}

}  // namespace coffer::cli
