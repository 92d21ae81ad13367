// The protocol between a command and the running server over the control socket: frames of one kind
// byte, four length bytes (big endian) and content.
//
//   command -> server   request   JSON: the command's path and its arguments
//   server -> command   accepted  at once, before the command runs
//                       out, err  any number, in the order they were printed
//                       exit      decimal exit code; the last frame
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command_result.h"

namespace coffer::cli {

enum class FrameKind : char {
  request = 'r',
  accepted = 'a',
  out = 'o',
  err = 'e',
  exit = 'x',
};

struct Frame {
  FrameKind kind = FrameKind::exit;
  std::string content;
};

/// A connected socket that the destructor closes. For one thread.
class ControlStream {
 public:
  /// A request may contain a file (cli/command.h kDocumentBytesMax), escaped as JSON.
  static constexpr std::size_t kFrameBytesMax = 144 * 1024 * 1024;

  /// Takes over `fd`, which must be non-blocking.
  explicit ControlStream(int fd) : fd_(fd) {}
  ~ControlStream();
  ControlStream(ControlStream&& other) noexcept;
  ControlStream& operator=(ControlStream&&) = delete;

  int fd() const { return fd_; }
  /// Returns false if the peer is gone or accepts nothing for `timeout_ms`.
  bool send(FrameKind kind, std::string_view content, int timeout_ms);
  /// nullopt if the peer is gone, sends nothing for `timeout_ms` (negative: no limit) or violates
  /// the protocol.
  std::optional<Frame> receive(int timeout_ms);

 private:
  bool ready(short events, int timeout_ms) const;
  bool read_exactly(std::string& out, std::size_t size, int timeout_ms);

  int fd_;
};

struct ControlRequest {
  std::string command;  // path in the table of commands
  std::map<std::string, std::string> arguments;
  bool json = false;
  bool terminal = false;  // as in Console, of the requesting command
  bool progress = false;
  bool colour = false;
  int columns = 0;
  unsigned uid = 0;  // of the requesting process, from the kernel; never read from the socket
};

std::string encode(const ControlRequest& request);
std::optional<ControlRequest> decode_request(std::string_view text);

/// The path of a database's socket: the database's path with `.sock` appended.
std::string control_socket_path(const std::string& database);

enum class SocketRole { listen, connect };
/// A stream socket that listens on `path` or is connected to it. `path` may be longer than a socket
/// address permits. Returns -1 with `errno` set; ENAMETOOLONG if no short path is possible.
int open_control_socket(const std::string& path, SocketRole role);

// Client side -------------------------------------------------------------------------------------

/// Runs the command in the server that has `database` open, prints its output as it arrives, and
/// returns its exit code; nullopt if no server listens. Gives up if the server sends nothing for
/// `silence_ms`; kNoLimit waits for long commands.
constexpr int kNoLimit = -1;
std::optional<int> run_in_server(const std::string& database, const ControlRequest& request,
                                 const Console& console, int silence_ms = kNoLimit);

/// Why commands do not reach the server that has `database` open, and what to do; empty if none
/// has.
std::string why_unreachable(const std::string& database);

}  // namespace coffer::cli
