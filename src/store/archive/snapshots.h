// Snapshots: copies of the file in an archive, as compressed parts, and a manifest that is stored
// last.
#pragma once

#include <string>
#include <vector>

#include "base/files/durable_file.h"
#include "base/telemetry/progress.h"
#include "store/archive/archive.h"
#include "store/replication/file_position.h"

namespace coffer::store {

/// As its name says.
struct SnapshotName {
  std::int64_t segment = 0;  // the first one that may have entries after the copy
  Timestamp at;              // the copy contains nothing that was committed later
  std::string text() const;  // N-MS
};

struct Snapshot {
  SnapshotName name;
  FilePosition position;   // of the copy
  std::int64_t parts = 0;  // objects
  std::int64_t bytes = 0;  // of the file
  Timestamp complete_to;   // the copy contains everything that was committed before
};

/// The oldest first.
Result<std::vector<SnapshotName>> list_snapshots(Archive& archive);
/// Stores the copy at `path`, which must have a position in the log.
Result<Snapshot> put_snapshot(Archive& archive, const SnapshotName& name, Timestamp complete_to,
                              const std::string& path, const ProgressFunction& progress);
Result<Snapshot> get_snapshot(Archive& archive, const SnapshotName& name);
/// Appends the file to `to`.
Result<void> fetch_snapshot(Archive& archive, const Snapshot& snapshot, PartialFile& to,
                            const ProgressFunction& progress);
/// Removes what no restore to a moment from `from` on needs, and what a killed process has left.
/// Returns the number of removed objects. Calls `rest` after each.
Result<std::int64_t> drop_before(Archive& archive, Timestamp from,
                                 const std::function<void()>& rest);

/// A checkpoint line of a moment.
std::string head_name(Timestamp at);
/// The newest line that is not after `at`; empty without one.
Result<std::string> newest_head(Archive& archive, std::optional<Timestamp> at);

}  // namespace coffer::store
