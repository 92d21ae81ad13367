// Snapshots of a demo: backups in FILE.snapshots, and the return to one of them. Only `coffer demo`
// replaces its file, and only at its start, while no other process has the file open.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/telemetry/progress.h"
#include "cli/command_result.h"
#include "config/config.h"
#include "flows/operations/backups.h"

namespace coffer {
class App;
struct StartError;
}  // namespace coffer

namespace coffer::cli {

/// The snapshot that a demo takes at its first start with enough free space.
inline constexpr std::string_view kStartSnapshot = "start";

struct DemoSnapshot {
  std::string name;
  Timestamp taken_at;
  std::int64_t bytes = 0;
};

/// `malformed-request` if the name has characters other than a-z, 0-9 and hyphens; `conflict` if a
/// snapshot has it already.
Result<flows::Backup> take_demo_snapshot(App& app, const std::string& name,
                                         const ProgressFunction& progress);
/// Oldest first.
std::vector<DemoSnapshot> demo_snapshots(const std::string& database);

/// Verifies a copy of the snapshot and stores it next to the database for the next start of the
/// demo. `not-found`.
Result<void> prepare_rewind(App& app, const std::string& name, const ProgressFunction& progress);
/// Replaces the database with the prepared copy, if there is one. Call it while the file is closed.
/// After an error, the database is unchanged.
std::optional<StartError> finish_rewind(const Config& config);

/// The reason why commands must not change the database before the next start of the demo; empty if
/// they may.
std::string pending_rewind(const std::string& database);

/// Prepares a new demo whose path belonged to a deleted one: removes the former demo's first
/// snapshot and its prepared copy. Other snapshots stay.
void forget_former_demo(const std::string& database);

/// While it exists, this process is `coffer demo`, which can restart on request.
class DemoProcess {
 public:
  DemoProcess();
  ~DemoProcess();
  DemoProcess(const DemoProcess&) = delete;
  DemoProcess& operator=(const DemoProcess&) = delete;
};
/// Restarts the server of this process, which rejects requests from now on. Returns false if this
/// is not a demo process.
bool restart_demo(App& app);
/// Whether restart_demo() was called and the server has not stopped yet. Thread-safe.
bool demo_restarts();
/// Whether restart_demo() was called since the last call.
bool take_demo_restart();

}  // namespace coffer::cli
