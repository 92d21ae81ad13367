// Rebuilds a file from an archive: the last snapshot before a moment, and the log from there on.
#pragma once

#include <functional>
#include <optional>

#include "base/files/durable_file.h"
#include "base/telemetry/progress.h"
#include "store/archive/archive.h"

namespace coffer::store {

struct RebuildRequest {
  std::optional<Timestamp> at = {};  // contains the commits up to this moment; nullopt: all
  // Begins with a snapshot before this time, and reads more of the log: if a later one is damaged.
  std::optional<Timestamp> snapshot_before = {};
  /// Called with the size of the snapshot, before anything is fetched. A Problem ends the work.
  std::function<Result<void>(std::int64_t bytes)> check_size = {};
};

struct Rebuilt {
  Timestamp snapshot_at;
  Timestamp last_commit;     // that the log has; `until` without one
  Timestamp until;           // the file has everything up to here
  std::int64_t commits = 0;  // after the snapshot
  bool ends_early = false;   // entries after `until` are missing, and no snapshot follows
  /// Of another server, whose entries the file does not have.
  std::string other_run = {};  // as run_name(); otherwise empty
  Timestamp other_until = {};
};

/// Fills the new file `to`, as a single file without a log. Each entry must continue the chain of
/// the one before. `not-found` if the archive has nothing before the moment, if a part is missing,
/// or if the moment lies in a gap; `validation-failed` names a damaged object. What is missing or
/// damaged exits with 3. Also the problems of the store, and `storage-full`. Throws SqlError if the
/// disk is full, or if SQLite rejects what was rebuilt, and what `progress` throws.
Result<Rebuilt> rebuild(Archive& archive, const RebuildRequest& request, PartialFile& to,
                        const ProgressFunction& progress);

}  // namespace coffer::store
