// coffer verify: checks every invariant, the hash chains and the SQLite structure, also while a
// server uses the file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/master_key.h"
#include "cli/command.h"
#include "config/config.h"
#include "flows/operations/restore.h"
#include "store/operations/copies.h"

namespace coffer::cli {

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
Result<flows::Checkpoints> checkpoints_of(const Config& config, const Arguments& arguments);
/// Why the file does not match the checkpoints of --checkpoint; empty if it does.
Result<std::string> mismatch_with(App& app, const Arguments& arguments,
                                  const flows::Checkpoints& checkpoints);
inline constexpr Argument kCheckpointOption =
    naming(Argument::Value::source,
           option("checkpoint", "FILE|URL", "Checkpoints; an older or other database is an error"));

}  // namespace coffer::cli
