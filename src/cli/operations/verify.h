// coffer verify: checks every invariant, the hash chains and the SQLite structure, also while a
// server uses the file.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/master_key.h"
#include "base/telemetry/progress.h"
#include "cli/command.h"
#include "config/config.h"
#include "flows/operations/restore.h"
#include "store/operations/copies.h"

namespace coffer::cli {

/// Calls `use` with the path of the database if no server runs on it. Otherwise, calls it with the
/// path of a temporary copy next to the database, because a long snapshot would make the server's
/// write-ahead log grow. The copy is named after `command`, so that two commands do not wait for
/// each other. Returns the same Problems as a backup.
Result<void> with_consistent_copy(const Session& session, const std::string& command,
                                  const ProgressFunction& progress,
                                  const std::function<void(const std::string&)>& use);

/// The violations of a file, for all commands that show them.
std::vector<Record> records_of(const std::vector<store::Violation>& violations);
std::optional<std::string> last_entry(const store::FileSummary& summary);
/// The extent of a verification: everything or, without the master key, only the structure.
std::string_view extent_of(const store::FileVerdict& verdict);

/// The keys and checkpoints against which a file is checked, from settings and arguments. Without a
/// master key at its default place, no key; a Problem if the settings name one that is missing or
/// cannot be used.
Result<flows::FileChecks> file_checks(const Config& config, const Arguments& arguments);
/// Where the master key comes from: a file, a variable or a credential.
std::string key_source(const Config& config);
/// The checkpoints of --checkpoint; none without it.
Result<flows::Checkpoints> checkpoints_of(const Arguments& arguments);
/// The served file compared with checkpoints.
struct Compared {
  std::string fault;   // why it does not match; empty if it does
  bool any = false;    // there was one
  std::string result;  // what is known of its age
  std::string damage;  // of the archive
  std::string lack;    // flows::archive_lack()
};
/// With the checkpoints of --checkpoint and the newest one of its archive. An archive that cannot
/// be read in time is only logged.
Result<Compared> compare(App& app, const Arguments& arguments,
                         const flows::Checkpoints& checkpoints);
/// A short command waits this long for the store of an archive.
inline constexpr int kArchiveAnswerMs = 5'000;
inline constexpr Argument kCheckpointOption =
    naming(Argument::Value::path,
           option("checkpoint", "FILE", "Checkpoints; an older or other database is an error"));

}  // namespace coffer::cli
