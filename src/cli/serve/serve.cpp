#include "base/platform/exit_code.h"
#include "base/platform/process.h"
#include "base/telemetry/log.h"
#include "cli/command_groups.h"
#include "cli/operations/verify.h"
#include "cli/serve/serving.h"
#include "cli/settings.h"
#include "config/unknown_variables.h"
#include "store/file/foreign_file.h"
#include "store/schema.h"

namespace coffer::cli {
namespace {

int serve(const Console& console, const Arguments& arguments, const ConfigFlags& flags) {
  int code = 0;
  const auto config = read_settings(console, {.flags = flags}, code);
  if (!config) return code;
  const bool creates = arguments.has("init");
  const StartError missing = creates ? why_not_created(config->db) : why_not_served(config->db);
  if (!missing.message.empty()) return print_error(console, missing);
  const auto checkpoints = checkpoints_of(arguments);
  if (!checkpoints) return print_problem(console, checkpoints.error(), {});
  const bool is_new = !store::holds_tables(config->db);
  bool mismatched = false;
  Serving serving;
  serving.missing = creates ? App::Missing::create : App::Missing::refuse;
  serving.prepare = [&](App& app) -> Result<void> {
    for (const auto& [name, remedy] : unknown_variables(variables_with_prefix(kVariablePrefix))) {
      log_warning("serve", "a variable is not a setting and has no effect",
                  {{"variable", name}, {"remedy", remedy}});
    }
    COFFER_TRY(const Compared compared, compare(app, arguments, *checkpoints));
    mismatched = !compared.fault.empty();
    if (mismatched) return unexpected(Slug::conflict, compared.fault);
    if (!arguments.has("checkpoint") && config->archive.empty()) {
      log_info("serve",
               "without --checkpoint and without an archive, the server cannot detect that the "
               "database was replaced by an older copy");
    }
    // A warning, because the operator may have expected existing data.
    if (is_new) log_warning("serve", "created a new database", {{"database", config->db}});
    return {};
  };
  const int ended = run_server(console, *config, serving);
  return mismatched ? exit_code::kFault : ended;
}

}  // namespace

std::vector<Command> serve_commands() {
  return {{.path = "serve",
           .summary = "Serve the API and the admin page",
           .run = serve,
           .arguments = {kCheckpointOption,
                         toggle("init", "Create the database if its folder exists and is empty")},
           .settings = Settings::server,
           .prints_data = false,
           .details =
               "The database must exist: coffer init creates one. With --init, as in the service "
               "and the image, serve\ncreates it and its master key in a folder that contains no "
               "file of a ledger, such as its request log or backups."}};
}

}  // namespace coffer::cli
