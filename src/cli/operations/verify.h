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
/// Why the file does not match the checkpoints of --checkpoint, or the newest one of its archive;
/// empty if it does. An archive that cannot be read is only logged.
Result<std::string> mismatch_with(App& app, const Arguments& arguments,
                                  const flows::Checkpoints& checkpoints);
inline constexpr Argument kCheckpointOption =
    naming(Argument::Value::path,
           option("checkpoint", "FILE", "Checkpoints; an older or other database is an error"));

}  // namespace coffer::cli
