// coffer verify: every invariant, the hash chain and SQLite's own check, also on a live file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "store/operations/copies.h"

namespace coffer::cli {

/// What is wrong with a file, as any command shows it.
std::vector<Record> records_of(const std::vector<store::Violation>& violations);
std::optional<std::string> last_entry(const store::FileSummary& summary);

/// `coffer verify FILE`: a backup, in a process of its own and without a database.
int verify_given_file(const Console& console, const Arguments& arguments, const ConfigFlags&);

}  // namespace coffer::cli
