// Reads and validates the Config of a command, and prints errors for the operator.
#pragma once

#include <optional>
#include <string>

#include "app/app.h"
#include "cli/command_result.h"
#include "config/config.h"

namespace coffer::cli {

/// nullopt if there are errors; it has then printed all of them and set `exit_code`.
std::optional<Config> read_settings(const Console& console, const ConfigInputs& inputs,
                                    int& exit_code);

/// The same for a command on a file. Without --db and without a database in the default location,
/// it uses the demo's database, so that commands next to `coffer demo` need no --db.
std::optional<Config> read_file_settings(const Console& console, const ConfigFlags& flags,
                                         int& exit_code);

/// The same for a command that requires an existing ledger.
std::optional<Config> read_ledger_settings(const Console& console, const ConfigFlags& flags,
                                           int& exit_code);

/// Prints why a server or a command cannot start. Returns its exit code.
int print_error(const Console& console, const StartError& error);

/// Why a server cannot open the database: it is missing, and the nearest file is named, or it is
/// empty. Without a message if it exists, or while another process has locked it.
StartError why_not_served(const std::string& path);
/// Why `serve --init` does not create the database: its folder does not exist, or contains a
/// ledger. Without a message if it may, or if the database exists.
StartError why_not_created(const std::string& path);

/// The same, but returns all errors instead of printing them.
ConfigReading read_all_settings(const ConfigFlags& flags);

/// A coffer.toml with every setting commented out at its default.
std::string settings_file();
/// docs/configuration.md. As the file, it is generated from the table of options.
std::string settings_reference();

/// Whether the settings lead to a master key, which may be unusable.
bool has_master_key(const Config& config);

/// The command that serves the database: `coffer serve`, with --db and --master-key-file if this
/// command had them.
std::string serve_command(const Config& config);

/// Sets up the log of a process with this `config`. A Problem if the log file cannot be written.
Result<void> apply_log_settings(const Config& config);

/// The row of `meta` that says how far the content of a demo has been created.
inline constexpr std::string_view kDemoMarker = "demo";

/// The default path of the demo's database; nullopt without a home folder.
std::optional<std::string> demo_database();
/// Whether `coffer demo` created the file: it has the content of a demo, and the secrets file is
/// next to it.
bool is_demo(App& app);

}  // namespace coffer::cli
