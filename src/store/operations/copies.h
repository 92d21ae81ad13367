// Copies of the database: taken while it is written to, and judged without being served.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "store/invariants.h"
#include "store/write_tx.h"

namespace coffer::store {

class CommitQueue;
class Database;

/// Called after each piece with bytes (done, total); may throw to stop.
using CopyProgress = std::function<void(std::int64_t, std::int64_t)>;

/// Writes the database as it is at one moment near the end of the call into the empty file `to`:
/// everything committed before the call is in it. Page by page, on readers that are held for
/// milliseconds; what commits change meanwhile is copied again, so the write-ahead log does not
/// grow. The copy is one file without a log, and not synchronised. `overloaded` when the disk of
/// the copy is slower than the database changes. Throws SqlError.
Result<void> copy_database(Database& database, CommitQueue& queue, const std::string& to,
                           const CopyProgress& progress);

/// What is in a file, in a few figures.
struct FileSummary {
  int schema = 0;
  std::int64_t payments = 0;
  std::int64_t entry_sets = 0;
  std::optional<Timestamp> last_entry_at;
};

struct FileVerdict {
  FileSummary summary;                // zero where it cannot be read
  std::vector<Violation> violations;  // empty: whole
  bool newer_schema = false;  // then, and for an older one, only SQLite's structures were looked at
  bool older_schema = false;
};

/// Judges a file, served or not: that it is coffer's, every invariant, both chains and SQLite's
/// own structures. Changes nothing. A file that cannot be read is a violation, not an error.
FileVerdict verify_file(const std::string& path, const ProgressFunction& progress);

/// Removes the log that a killed process left beside a file that is empty again, so that it does
/// not become a part of what is written into the file. Throws SqlError.
void drop_left_logs(const std::string& empty_file);
/// Makes a copy that nobody serves one file, without a log beside it, so that it can be read from
/// anywhere. Throws SqlError.
void leave_wal(const std::string& path);
/// Brings a copy that nobody serves up to this build's schema; what is wrong, or empty.
std::string upgrade_copy(const std::string& path);

/// The last backup that was finished, as the file itself remembers it.
struct BackupRecord {
  Timestamp at;  // when it was begun: it holds everything committed before
  std::int64_t bytes = 0;
  bool verified = false;
  std::string path;
};
std::optional<BackupRecord> last_backup(Connection& db);
/// Also forgets the failure before it.
void record_backup(WriteTx& tx, const BackupRecord& record);

/// The last scheduled backup that failed, unless one was made since.
struct BackupFailure {
  Timestamp at;
  std::string reason;
};
std::optional<BackupFailure> backup_failure(Connection& db);
void record_backup_failure(WriteTx& tx, const std::string& reason);

}  // namespace coffer::store
