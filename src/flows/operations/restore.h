// Restores a database from a backup. Works on files without a running server. Without the master
// key, only the structure of the chains is checked.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "flows/operations/file_keys.h"
#include "store/archive/rebuild.h"
#include "store/operations/copies.h"

namespace coffer::flows {

/// Keys and checkpoints against which a file is checked.
struct FileChecks {
  std::unique_ptr<const KeyCandidate> key;  // nullptr: there is no master key
  std::string no_key;                       // why
  std::string key_source;                   // of the key, for messages
  Checkpoints checkpoints;                  // the file must not be older than these
  bool foreign = false;                     // accept a backup signed with another key
  bool unsigned_backup = false;             // accept a backup without its signature
};

/// The violation of a file whose log is missing or belongs to another state.
inline constexpr std::string_view kLogFault = "log";

struct Restored {
  std::int64_t bytes = 0;
  bool checksum = false;       // a checksum exists and matches
  std::string signer;          // the signer of the backup, for display
  bool is_foreign = false;     // there is a master key, and the file belongs to another one
  bool is_signed = false;      // a valid signature is next to it
  std::string log_doubt;       // store/file/lock_file.h, of the given file
  int schema_before = 0;       // of the backup; an older schema was upgraded
  store::FileVerdict verdict;  // with violations, nothing was restored
  std::optional<store::Rebuilt> rebuilt = {};  // from an archive
};

/// Copies `backup` to `target` and verifies the copy before it gets its name. `conflict` if
/// `target` or its write-ahead log exists, or if the schema is newer; `overloaded` while a server
/// has `target` open. `forbidden` for a backup of another master key, or without a signature,
/// unless `checks` accept it. Without a master key, neither can be checked. Throws SqlError if the
/// disk is full.
Result<Restored> restore_backup(const std::string& backup, const std::string& target,
                                const ProgressFunction& progress, const FileChecks& checks = {});

struct ArchiveRestore {
  std::optional<Timestamp> at = {};               // nullopt: everything that the archive has
  std::optional<Timestamp> snapshot_before = {};  // as in store::RebuildRequest
  bool keeps_place = false;  // in the log of its ledger; otherwise the file stands alone afterwards
  /// Why a rebuilt file that keeps its place is not wanted; empty: any is.
  std::function<Result<void>(const std::string& path)> check_seed = {};
};
/// Rebuilds the file from its archive, verifies it and compares it with the signed heads before it
/// gets its name `target`. Needs a master key in `checks`. Returns the Problems of
/// restore_backup(), store::rebuild() and `check_seed`. Throws SqlError if the disk is full, and if
/// SQLite rejects a verified file; what it rejects before is a violation.
Result<Restored> restore_archive(store::Archive& archive, const ArchiveRestore& wanted,
                                 const std::string& target, const ProgressFunction& progress,
                                 const FileChecks& checks);

/// A reason to create no file: `conflict`, with the exit code for that.
Problem cannot_create(std::string why);
/// Fills a new file at `target`, which gets its name if `fill` finds no violation.
Result<Restored> restore_into(const std::string& target,
                              const std::function<Result<Restored>(PartialFile&)>& fill);
/// Upgrades a verified copy of an older schema. `what`: its source, for messages.
Result<Restored> upgraded(PartialFile& file, const std::string& what,
                          const ProgressFunction& progress, const FileChecks& checks, Restored out);

/// Compares a file with the checksum next to it. Returns false without a checksum file. A mismatch
/// is a violation.
Result<bool> check_checksum(const std::string& path, const ProgressFunction& progress,
                            std::vector<store::Violation>& violations);

/// Performs all checks of a file without a running server, including its checksum.
Result<Restored> judge_file(const std::string& path, const ProgressFunction& progress,
                            const FileChecks& checks = {});

}  // namespace coffer::flows
