// Server side of the control socket: while a server has the file open, commands run inside it.
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

/// Listens on a Unix socket (mode 0600) next to the database and runs the requested commands on its
/// own threads, a few at a time. Only the server's user and root are accepted.
class ControlSocket {
 public:
  /// Runs one command and returns its exit code. Must not throw. Called on several threads.
  using Run = std::function<int(const ControlRequest&, std::ostream& out, std::ostream& err,
                                Interruption&)>;

  explicit ControlSocket(Run run) : run_(std::move(run)) {}
  ~ControlSocket();  // stops
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  /// Replaces a socket left by a killed server; the caller must hold the lock of the database. A
  /// Problem contains the path.
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
