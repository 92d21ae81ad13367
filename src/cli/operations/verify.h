// coffer verify: every invariant, the hash chains and SQLite's own check, also on a served file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "store/operations/copies.h"

namespace coffer::cli {

/// The violations of a file, for all commands that show them.
std::vector<Record> records_of(const std::vector<store::Violation>& violations);
std::optional<std::string> last_entry(const store::FileSummary& summary);

/// `coffer verify FILE`: verifies a backup in this process, without a database.
int verify_given_file(const Console& console, const Arguments& arguments, const ConfigFlags&);

}  // namespace coffer::cli
