// A file that does not change, for long operations that need one consistent state.
#pragma once

#include <functional>
#include <string>

#include "base/telemetry/progress.h"
#include "cli/command.h"

namespace coffer::cli {

/// Calls `use` with the path of the database if it is not served; otherwise with the path of a
/// temporary copy next to it, because a long snapshot would let the write-ahead log of a server
/// grow. Problems as for a backup.
Result<void> with_still_file(const Session& session, const ProgressFunction& progress,
                             const std::function<void(const std::string&)>& use);

}  // namespace coffer::cli
