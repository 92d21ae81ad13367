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
}

namespace coffer::cli {

/// Taken by a new demo when its content is complete.
inline constexpr std::string_view kStartSnapshot = "start";

struct DemoSnapshot {
  std::string name;
  Timestamp taken_at;
  std::int64_t bytes = 0;
};

/// `malformed-request` for a name that is not of a-z, 0-9 and hyphens; `conflict` if it is in use.
Result<flows::Backup> take_demo_snapshot(App& app, const std::string& name,
                                         const ProgressFunction& progress);
/// Oldest first.
std::vector<DemoSnapshot> demo_snapshots(const std::string& database);

/// Verifies a copy of the snapshot and keeps it beside the database for the next start of the demo.
/// `not-found`.
Result<void> prepare_rewind(App& app, const std::string& name, const ProgressFunction& progress);
/// Puts the prepared copy in the place of the database, if there is one. Call it while the file is
/// closed. Returns an exit code; with an error, the database is unchanged.
int finish_rewind(const Console& console, const Config& config);

/// Why nothing may change the database before the next start of its demo, or empty.
std::string pending_rewind(const std::string& database);

/// For a new demo in the place of one whose database was deleted: removes the first state of the
/// former one and a prepared copy. Other snapshots stay.
void forget_former_demo(const std::string& database);

/// Whether this process is `coffer demo`, which starts again when asked. Thread-safe.
void set_demo_process(bool is_demo_process);
/// Stops the server of this process, which then starts again; until then, it refuses requests.
/// False if it is not a demo process.
bool restart_demo(App& app);
/// Whether restart_demo() was called and the server has not stopped yet. Thread-safe.
bool demo_restarts();
/// Whether restart_demo() was called since the last time.
bool take_demo_restart();

}  // namespace coffer::cli
