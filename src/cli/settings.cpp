#include "cli/settings.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "app/app.h"
#include "base/log.h"
#include "base/platform/exit_code.h"
#include "base/telemetry/log_file.h"
#include "cli/demo/demo.h"
#include "store/file/lock_file.h"
#include "store/schema.h"

namespace coffer::cli {
namespace {

namespace fs = std::filesystem;

/// Resolves links, because the paths of the lock, the log and the sockets derive from the path of
/// the database. With two paths, two servers could open one file.
void follow_link(Config& config) {
  std::error_code error;
  if (!fs::is_symlink(config.db, error)) return;
  const fs::path target = fs::weakly_canonical(config.db, error);
  if (!error) config.db_link = std::exchange(config.db, target);
}

/// The demo's database, if it exists and `database` neither exists nor has contained a ledger.
std::optional<std::string> demo_instead_of(const std::string& database) {
  std::error_code ignored;
  if (fs::exists(database, ignored) || store::last_close(database).ledger) return std::nullopt;
  const auto demo = demo_database();
  return demo && fs::exists(*demo, ignored) ? demo : std::nullopt;
}

/// Why a command cannot use the database, which is missing or empty.
StartError no_ledger(const std::string& path) {
  std::error_code ignored;
  const bool missing = !fs::exists(path, ignored);
  const store::LockState holder = store::lock_state(path);
  const std::string not_found = "database not found: " + path + ". ";
  if (missing && !holder.command.empty()) {
    return {exit_code::kBusy, not_found + "It is locked by " + store::described(holder) +
                                  ". Wait until that command is complete"};
  }
  if (missing && holder.process != 0) {
    return {exit_code::kFailed,
            not_found + "A server has it open under this name. Move the same file back"};
  }
  const std::string lost = store::ledger_fault(path, store::last_close(path));
  if (!lost.empty()) return {exit_code::kCorrupt, lost};
  if (missing) {
    return {exit_code::kFailed,
            not_found + "Create one with coffer init, or choose another file with --db"};
  }
  return {exit_code::kCorrupt, path +
                                   " is empty and contains no ledger. Restore it from a backup, or "
                                   "choose another file with --db"};
}

}  // namespace

std::optional<Config> read_settings(const Console& console, const ConfigInputs& inputs,
                                    int& exit_code) {
  auto config = load_config(inputs);
  if (!config) {
    console.err << config_error_text(config.error()) << std::flush;
    exit_code = config_exit_code(config.error());
    return std::nullopt;
  }
  follow_link(*config);
  return *std::move(config);
}

std::optional<Config> read_file_settings(const Console& console, const ConfigFlags& flags,
                                         int& exit_code) {
  ConfigInputs inputs{.flags = flags};
  auto config = read_settings(console, inputs, exit_code);
  if (!config) return config;
  const auto demo = demo_instead_of(config->db);
  if (!demo) return config;
  inputs.command_defaults["db"] = *demo;
  return read_settings(console, inputs, exit_code);
}

std::optional<Config> read_ledger_settings(const Console& console, const ConfigFlags& flags,
                                           int& exit_code) {
  auto config = read_file_settings(console, flags, exit_code);
  if (!config) return config;
  if (::access(config->db.c_str(), R_OK) != 0 && errno != ENOENT) {
    exit_code = exit_code::kPermission;
    print_error(console, "cannot open " + config->db + ": " + std::strerror(errno) +
                             ". Run the command as the user that owns it, or choose another file "
                             "with --db");
    return std::nullopt;
  }
  if (store::holds_tables(config->db)) return config;
  const StartError error = no_ledger(config->db);
  exit_code = error.exit_code;
  print_error(console, error.message);
  return std::nullopt;
}

ConfigReading read_all_settings(const ConfigFlags& flags) {
  ConfigInputs inputs{.flags = flags};
  ConfigReading reading = read_config(inputs);
  if (const auto demo = demo_instead_of(reading.config.db)) {
    inputs.command_defaults["db"] = *demo;
    inputs.command_defaults["admin_listen"] = reading.config.listen_http.to_string();
    reading = read_config(inputs);
  }
  follow_link(reading.config);
  return reading;
}

std::string serve_command(const Config& config) {
  const bool named = config.origins.at("db") == "--db";
  const bool keyed = config.origins.at("master_key_file") == "--master-key-file";
  return "coffer serve" + (named ? " --db " + config.db : "") +
         (keyed ? " --master-key-file " + config.master_key_file : "");
}

Result<void> apply_log_settings(const Config& config) {
  const LogFormat usual = config.log_file.empty() ? default_log_format() : LogFormat::json;
  configure_logging(config.log_level, config.log_format.value_or(usual));
  if (config.log_file.empty()) return {};
  return start_log_file(
      {config.log_file, static_cast<std::uint64_t>(config.log_max_mib) << 20, config.log_keep});
}

}  // namespace coffer::cli
