// Config for a command: read, judged, and on a fault explained to the operator.
#pragma once

#include <optional>

#include "cli/command_result.h"
#include "config/config.h"

namespace coffer::cli {

/// nullopt when something is wrong with it: then every fault has been printed and `exit_code` is
/// set.
std::optional<Config> read_settings(const Console& console, const ConfigInputs& inputs,
                                    int& exit_code);

/// The same for a command on a file. Without --db and without a database in the default place, it
/// uses that of the demo, so that commands beside `coffer demo` need no --db.
std::optional<Config> read_file_settings(const Console& console, const ConfigFlags& flags,
                                         int& exit_code);

/// The same for one that needs a ledger to be there.
std::optional<Config> read_ledger_settings(const Console& console, const ConfigFlags& flags,
                                           int& exit_code);

/// The same with whatever is wrong with it; nothing is printed.
ConfigReading read_all_settings(const ConfigFlags& flags);

/// Sets up the log of a process that runs under `config`. A Problem when its file cannot be
/// written.
Result<void> apply_log_settings(const Config& config);

}  // namespace coffer::cli
