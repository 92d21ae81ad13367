// The server's side of the control socket: while a server owns the file, commands run inside it.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "base/platform/wake_up.h"
#include "base/result.h"
#include "base/thread.h"
#include "cli/command.h"
#include "cli/control_wire.h"

namespace coffer::cli {

/// Listens on a Unix socket (0600) beside the database and runs what it is asked on threads of its
/// own, a few at a time. Only the server's own user and root are heard.
class ControlSocket {
 public:
  /// Runs one command and returns its exit code; must not throw. Called on several threads at once.
  using Run = std::function<int(const ControlRequest&, std::ostream& out, std::ostream& err,
                                Interruption&)>;

  explicit ControlSocket(Run run) : run_(std::move(run)) {}
  ~ControlSocket();  // stops
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  /// Replaces a socket that a killed server left behind: the caller owns the database. A Problem
  /// names the path.
  Result<void> start(const std::string& database);
  /// Ends long commands early, waits for the running ones and removes the socket. Idempotent.
  void stop();

 private:
  void serve_clients();
  int accept_client();
  void converse(ControlStream stream, unsigned uid);

  const Run run_;
  std::string path_;
  int listen_fd_ = -1;
  WakeUp stop_;  // readable from stop() on
  Interruption interruption_;
  std::vector<Thread> threads_;
};

}  // namespace coffer::cli
