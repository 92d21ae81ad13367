// A file that does not change, for long operations that need one consistent state.
#pragma once

#include <functional>
#include <string>

#include "base/telemetry/progress.h"
#include "cli/command.h"

namespace coffer::cli {

/// Calls `use` with the path of the database if no server runs on it. Otherwise, calls it with the
/// path of a temporary copy next to the database, because a long snapshot would make the server's
/// write-ahead log grow. The copy is named after `command`, so that two commands do not wait for
/// each other. Returns the same Problems as a backup.
Result<void> with_consistent_copy(const Session& session, const std::string& command,
                                  const ProgressFunction& progress,
                                  const std::function<void(const std::string&)>& use);

}  // namespace coffer::cli
