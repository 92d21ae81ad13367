#include <unistd.h>

#include <filesystem>

#include "app/app.h"
#include "auth/master_key.h"
#include "base/files/folders.h"
#include "base/telemetry/log.h"
#include "base/text/shell_word.h"
#include "cli/command_groups.h"
#include "cli/paths.h"
#include "cli/run/dispatch.h"
#include "cli/settings.h"
#include "flows/operations/key_rotation.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kCommand = "key rotate";

std::string next_steps(const Config& config, const std::string& key_file) {
  std::string text =
      "\nThe file now requires the new key. Keep the old key as long as you keep backups made with "
      "it.\nExisting tokens are invalid; clients must log in again.\n\nNext:\n";
  if (config.master_key.empty()) {
    const std::string& key = config.master_key_file;
    text += "  mv " + shell_word(key) + " " + shell_word(key + ".old") + "\n  mv " +
            shell_word(key_file) + " " + shell_word(key) + "\n";
  } else {
    text += "  provide the new key where the old one came from (" +
            config.origins.at("master_key") + ")\n";
  }
  return text + "  " + serve_command(config);
}

/// A folder is not created, because its name may be misspelt.
Result<void> check_key_file(const App& app, const std::string& key_file) {
  const std::string folder = directory_of(key_file);
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return unexpected(Slug::not_found,
                      "cannot create " + key_file + ": the folder " + folder + " does not exist");
  }
  return check_not_beside(app.config().db, key_file);
}

Result<std::int64_t> rotate_to(App& app, Random& random, const std::string& key_file) {
  COFFER_TRY_VOID(check_key_file(app, key_file));
  COFFER_TRY_VOID(app.queue().probe());  // on a full disk, the new key would be left behind
  COFFER_TRY(const auto next,
             auth::load_or_create_master_key(key_file, random, auth::MissingKey::create));
  return flows::rotate_master_key(app.flows(), next);
}

int rotate(const Console& console, const Arguments& arguments, const ConfigFlags& flags) {
  int code = 0;
  const auto config = read_ledger_settings(console, flags, code);
  if (!config) return code;
  if (!config->replicate.empty()) {
    return print_problem(
        console,
        Problem(Slug::conflict,
                "The log is sealed under the master key, so the key of a replicated ledger cannot "
                "be replaced. Leave the log first (coffer replica leave), and begin another one "
                "after the rotation."),
        {});
  }
  configure_logging(LogLevel::warning, default_log_format());
  const SystemClock clock;
  OsRandom random;
  StartError error;
  const auto app = App::open(*config, clock, random, error, App::Missing::refuse, kCommand);
  if (!app) return print_error(console, error);
  const std::string& key_file = arguments.text("new-key-file");
  Interruption never;
  const Actor actor = command_line_actor(::geteuid());
  Session session{*app, console, never, actor};
  const auto result =
      run_recorded(session, kCommand, to_json({{"new-key-file", key_file}}, false),
                   [&]() -> Result<CommandResult> {
                     COFFER_TRY(const auto count, rotate_to(*app, random, key_file));
                     return CommandResult{.records = {{{"database", config->db},
                                                       {"keyFile", key_file},
                                                       {"secretsResealed", count}}},
                                          .note = next_steps(*config, key_file)};
                   });
  return print_result(console, result, arguments.json);
}

}  // namespace

std::vector<Command> key_commands() {
  return {
      {.path = kCommand,
       .summary = "Replace the master key; the server must be stopped",
       .run = rotate,
       .arguments = {naming(
           Argument::Value::path,
           required_option("new-key-file", "FILE",
                           "File with the new key; created if it does not exist"))},
       .details =
           "One commit seals all secrets with the new key, so the file always opens with exactly "
           "one of the\ntwo keys. Bearer tokens, admin sessions and list cursors become invalid."}};
}

}  // namespace coffer::cli
