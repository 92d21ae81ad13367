// Copies of the database: creating them while the database is written to, and verifying them
// without serving them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "store/commits/write_tx.h"
#include "store/file/chain_keys.h"
#include "store/invariants.h"

namespace coffer::store {

class CommitQueue;
class Database;

/// Called after each piece with the bytes (done, total). May throw to stop.
using CopyProgress = std::function<void(std::int64_t, std::int64_t)>;

/// Writes the state of the database at one moment near the end of the call into the empty file
/// `to`, including everything committed before the call. The writer copies a millisecond's worth of
/// pages between batches (LiveBackup), and the calling thread writes them. The copy is a single
/// file without a log, not synchronised. `overloaded` if the disk of the copy is slower than the
/// changes of the database, or while the database is not at its path. Throws SqlError.
Result<void> copy_database(Database& database, CommitQueue& queue, const std::string& to,
                           const CopyProgress& progress);

/// The contents of a file, in a few figures.
struct FileSummary {
  int schema = 0;
  std::int64_t payments = 0;
  std::int64_t entry_sets = 0;
  std::optional<Timestamp> last_entry_at;
};

struct FileVerdict {
  FileSummary summary;                // zero if unreadable
  std::vector<Violation> violations;  // empty if the file is valid
  bool newer_schema = false;  // only SQLite's structures were checked, as for an older schema
  bool older_schema = false;
  bool keyed = false;  // links and row digests were checked, not only the structure
};

/// Opens the keys of a file under verification. Returns nullptr if they are sealed under another
/// master key. A Problem is a violation.
using OpenKeys = std::function<Result<std::unique_ptr<const ChainKeys>>(Connection&)>;

/// Verifies a file, whether it is served or not: that coffer created it, every invariant, both hash
/// chains and SQLite's structures. Without `open_keys`, verifies only the structure of the chains.
/// Changes nothing. An unreadable file is a violation, not an error. Throws SqlError if it is
/// interrupted, or if the disk of temporary files is full. `threads` share the work on a closed
/// file; work beside payments has one.
FileVerdict verify_file(const std::string& path, const ProgressFunction& progress,
                        const OpenKeys& open_keys = {}, int threads = 1);

/// Upgrades a copy that no process serves to this build's schema; returns the error, or an empty
/// text. Throws SqlError if the disk is full.
std::string upgrade_copy(const std::string& path);

/// Takes a copy that no process serves out of the log of its ledger, and writes a row of `meta`, if
/// it has a value. Throws SqlError.
void stand_alone(const std::string& path, std::string_view row, std::string_view value);

/// The last completed backup, as recorded in the file.
struct BackupRecord {
  Timestamp at;  // start of the backup: it contains everything committed before
  std::int64_t bytes = 0;
  bool verified = false;
  std::string path;
};
std::optional<BackupRecord> last_backup(Connection& db);
/// Also deletes the record of an earlier failure.
void record_backup(WriteTx& tx, const BackupRecord& record);

/// The last failed scheduled backup, unless a later one succeeded.
struct BackupFailure {
  Timestamp at;
  std::string reason;
};
std::optional<BackupFailure> backup_failure(Connection& db);
void record_backup_failure(WriteTx& tx, const std::string& reason);

}  // namespace coffer::store
