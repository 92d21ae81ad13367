// The life of a server process, which serve and demo share: open, listen, wait, stop.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "cli/command_result.h"
#include "config/config.h"

namespace coffer {
class App;
}

namespace coffer::cli {

struct Serving {
  /// After the file is open, before anybody is served.
  std::function<Result<void>(App&)> prepare = [](App&) { return Result<void>(); };
  /// Once the port answers. `origin` is how a client on this machine reaches it:
  /// `http://127.0.0.1:8080`.
  std::function<void(App&, const std::string& origin)> announce = [](App&, const std::string&) {};
};

/// Returns the exit code when told to stop, or when starting failed.
int run_server(const Console& console, const Config& config, const Serving& serving);

/// Open files that a server with these settings may come to need.
long descriptors_needed(const Config& config);

}  // namespace coffer::cli
