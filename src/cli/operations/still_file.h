// A file that stands still, for what takes long and wants one state of everything.
#pragma once

#include <functional>
#include <string>

#include "base/telemetry/progress.h"
#include "cli/command.h"

namespace coffer::cli {

/// Calls `use` with the path of the database where it is not served; otherwise with that of a
/// temporary copy beside it, since a snapshot that is held long would keep the write-ahead log of a
/// server growing. Problems as of a backup.
Result<void> with_still_file(const Session& session, const ProgressFunction& progress,
                             const std::function<void(const std::string&)>& use);

}  // namespace coffer::cli
