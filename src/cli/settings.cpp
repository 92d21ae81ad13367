#include "cli/settings.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "app/app.h"
#include "base/environment.h"
#include "base/files/folders.h"
#include "base/files/side_files.h"
#include "base/platform/exit_code.h"
#include "base/telemetry/log.h"
#include "base/telemetry/log_file.h"
#include "base/text/nearest.h"
#include "base/text/shell_word.h"
#include "store/file/foreign_file.h"
#include "store/file/lock_file.h"
#include "store/ledger/catalog.h"
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

constexpr std::size_t kNamesMax = 10'000;

/// The names in a folder, sorted.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (out.size() < kNamesMax) out.push_back(at->path().filename().string());
  }
  std::ranges::sort(out);
  return out;
}

/// By its first bytes, so that a file of another kind or user is not opened as a database.
bool is_sqlite(const fs::path& path) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string head(kMagic.size(), '\0');
  return file.read(head.data(), static_cast<std::streamsize>(head.size())) && head == kMagic;
}

/// A database whose path `path` most likely misspells: each part is replaced with the nearest name
/// in its folder, and a file that is not there with the first database of the folder. Empty if
/// not found.
std::string nearest_database(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error).lexically_normal();
  fs::path at = whole.root_path();
  for (const fs::path& part : whole.relative_path()) {
    if (fs::exists(at / part, error)) {
      at /= part;
      continue;
    }
    const auto names = names_in(at);
    const auto near =
        nearest(part.string(), std::vector<std::string_view>(names.begin(), names.end()));
    if (!near) break;
    at /= std::string(*near);
  }
  if (is_sqlite(at)) return at;
  const fs::path folder = fs::is_directory(at, error) ? at : at.parent_path();
  for (const std::string& name : names_in(folder)) {
    if (!name.ends_with(kRequestLogEnding) && is_sqlite(folder / name)) return folder / name;
  }
  return {};
}

/// Whether the folder is one of backups, by the name that coffer and its documents give it.
bool holds_backups(const fs::path& folder) {
  return folder.filename() == kBackupsFolder &&
         std::ranges::any_of(names_in(folder),
                             [&](const std::string& name) { return is_sqlite(folder / name); });
}

/// The name of a file or folder beside `path` that belongs to a ledger, also to one that was at
/// `path`. Its lock and its log are checked when it is opened. The master key does not count,
/// because an operator may provide it.
std::string ledger_file_beside(const fs::path& path) {
  const fs::path folder = directory_of(path);
  std::vector<std::string> own{path.filename()};
  for (const char* ending : kSqliteEndings) own.push_back(own.front() + ending);
  own.push_back(own.front() + kLockEnding);
  for (const std::string& name : names_in(folder)) {
    if (std::ranges::find(own, name) != own.end()) continue;
    const std::string whole = folder / name;
    const auto ends = [&](std::string_view ending) { return name.ends_with(ending); };
    const bool locks = ends(kLockEnding);
    const bool locked = locks && store::last_close(whole.substr(0, whole.rfind('.'))).ledger;
    // Any program may have a lock or a socket.
    const bool other = locks || ends(kSocketEnding);
    const bool beside = ends(kRequestLogEnding) || std::ranges::any_of(kSqliteEndings, ends) ||
                        (!other && std::ranges::any_of(kOwnEndings, ends));
    if (beside || locked || is_sqlite(whole) || holds_backups(whole)) return name;
  }
  return {};
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
    const std::string near = nearest_database(path);
    return {exit_code::kFailed,
            not_found + (near.empty() ? "Create" : "Did you mean " + near + "? Otherwise, create") +
                " one with coffer init, or choose another file with --db"};
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
  exit_code = print_error(console, no_ledger(config->db));
  return std::nullopt;
}

int print_error(const Console& console, const StartError& error) {
  print_error(console, error.message);
  return error.exit_code;
}

StartError why_not_served(const std::string& path) {
  if (store::holds_tables(path) || store::lock_state(path).locked) return {};
  StartError error = no_ledger(path);
  // A restart does not help.
  if (error.exit_code == exit_code::kFailed) error.exit_code = exit_code::kConfiguration;
  return error;
}

StartError why_not_created(const std::string& path) {
  if (store::holds_tables(path) || store::lock_state(path).locked) return {};
  const std::string folder = directory_of(path);
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    return {exit_code::kConfiguration, "the folder " + folder +
                                           " of the database does not exist. " +
                                           "Create it, or choose another file with --db"};
  }
  const std::string other = ledger_file_beside(path);
  if (other.empty()) return {};
  return {exit_code::kConfiguration,
          "database not found: " + path + ". It is not created, because the folder contains " +
              other +
              ", which belongs to a ledger. Serve that ledger, or choose an empty folder "
              "with --db"};
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

bool has_master_key(const Config& config) {
  std::error_code ignored;
  return !config.master_key.empty() || fs::exists(config.master_key_file, ignored);
}

std::string serve_command(const Config& config) {
  const bool named = config.origins.at("db") == "--db";
  const bool keyed = config.origins.at("master_key_file") == "--master-key-file";
  return "coffer serve" + (named ? " --db " + shell_word(config.db) : "") +
         (keyed ? " --master-key-file " + shell_word(config.master_key_file) : "");
}

Result<void> apply_log_settings(const Config& config) {
  const LogFormat usual = config.log_file.empty() ? default_log_format() : LogFormat::json;
  configure_logging(config.log_level, config.log_format.value_or(usual));
  if (config.log_file.empty()) return {};
  return start_log_file(
      {config.log_file, static_cast<std::uint64_t>(config.log_max_mib) << 20, config.log_keep});
}

std::optional<std::string> demo_database() {
  const auto absolute = [](const char* name) {
    const auto path = environment_variable(name);
    return path && fs::path(*path).is_absolute() ? path : std::nullopt;
  };
  if (const auto data = absolute("XDG_DATA_HOME")) return *data + "/coffer/demo.db";
  if (const auto home = absolute("HOME")) return *home + "/.local/share/coffer/demo.db";
  return std::nullopt;
}

bool is_demo(App& app) {
  const auto marked = app.flows().read(
      [](store::Connection& db) { return store::read_meta(db, kDemoMarker).has_value(); });
  std::error_code ignored;
  return marked && *marked && fs::exists(app.database().path() + kDemoSecretsEnding, ignored);
}

}  // namespace coffer::cli
