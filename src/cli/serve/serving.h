// The life cycle of a server process, shared by serve and demo: open, listen, wait, stop.
#pragma once

#include <functional>
#include <string>

#include "app/app.h"
#include "base/result.h"
#include "cli/command_result.h"
#include "config/config.h"
#include "store/database.h"

namespace coffer {
class App;
}

namespace coffer::cli {

struct Serving {
  App::Missing missing = App::Missing::create;
  /// Called after the file is open, before the first request.
  std::function<Result<void>(App&)> prepare = [](App&) { return Result<void>(); };
  /// Called once the port responds. `origin` is the address for clients on this machine:
  /// `http://127.0.0.1:8080`.
  std::function<void(App&, const std::string& origin)> announce = [](App&, const std::string&) {};
};

/// Why a server with these settings could not listen, or not use its certificate, and what to do.
/// No message if it could.
StartError why_not_listening(const Config& config);

/// Checks the files with secrets, and that a server could listen, if its database does not exist
/// yet and would be left behind. Prints the error. Returns the exit code.
int check_new_server(const Console& console, const Config& config);

/// Returns the exit code after a stop signal or a failed start.
int run_server(const Console& console, const Config& config, const Serving& serving);

/// How long a starting server waits for a command. With the pause between two starts
/// (packaging/debian/coffer.service), repeated starts stay below the limit of systemd.
inline constexpr int kCommandWaitMs = 10'000;
/// Waits while a command has the database open, such as coffer verify on the file of a stopped
/// server, but not for another server. Ends after `max_ms`, or if `stops()`.
store::LockWait wait_for_commands(int max_ms, std::function<bool()> stops);

/// Maximum number of open files that a server with these settings needs.
long descriptors_needed(const Config& config);

/// The number of client connections, at most `wanted`, that leaves the server enough of the open
/// files that the system allows. Connections of clients must not take those that payments need.
int connections_within(int wanted, long allowed);

}  // namespace coffer::cli
