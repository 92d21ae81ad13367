#include "base/platform/exit_code.h"
#include "base/platform/process.h"
#include "base/telemetry/clock_sync.h"
#include "cli/command_groups.h"
#include "cli/doctor/checks.h"
#include "cli/settings.h"
#include "cli/table.h"
#include "config/unknown_variables.h"
#include "embedded/embedded.h"

namespace coffer::cli {
namespace {

constexpr int kTimeoutMsMax = 60'000;

void add(Findings& all, Findings more) {
  for (Finding& finding : more) all.push_back(std::move(finding));
}

Findings examine_settings(const ConfigReading& reading) {
  Findings out;
  for (const FieldError& error : reading.errors) {
    out.push_back(failed("configuration", error.field + ": " + error.message,
                         "Correct " + error.field + ". The server cannot start until then."));
  }
  const std::string& file = reading.config.config;
  if (out.empty()) {
    out.push_back(
        good("configuration", file.empty() ? "no file; defaults, variables, flags" : file));
  }
  for (const auto& [variable, remedy] : unknown_variables(variables_with_prefix(kVariablePrefix))) {
    out.push_back(
        warning("configuration", variable + " is not a setting and has no effect", remedy));
  }
  return out;
}

Findings examine(const ConfigReading& reading, const std::string& probe, int timeout_ms) {
  const Config& config = reading.config;
  const Timestamp now = SystemClock().now();
  Findings out = examine_settings(reading);
  out.push_back(
      good("version", std::string(embedded::version()) + "; coffer changes lists what is new"));
  Owner owner;
  std::optional<http::JsonValue> overview;
  const bool unread = !reading.errors.empty() && !config.config.empty();
  if (unread && config.origins.at("db") == "default") {
    out.push_back(failed("database", "its path is not known, because the settings have errors",
                         "Correct the settings, and run the command again."));
  } else if (config.db.empty()) {
    out.push_back(
        failed("database", "its path is not configured", "Set it with --db or COFFER_DB."));
  } else {
    owner = find_owner(config.db);
    if (owner.commanded) overview = server_overview(config.db, timeout_ms);
    add(out, examine_database(config, owner));
    add(out, examine_disks(config));
  }
  add(out, examine_named_files(config, now));
  if (!overview && config.backup_dir.empty()) {
    out.push_back(
        warning("backups", "no backups are scheduled",
                "Set backup_dir to a folder on another disk, or run coffer backup with a timer."));
  }
  const auto synchronised = clock_is_synchronised();
  if (!overview && !synchronised.value_or(false)) {
    out.push_back(warning(
        "clock",
        synchronised ? "not synchronised" : "the system does not tell whether it is synchronised",
        "Synchronise the clock with chrony or systemd-timesyncd."));
  }
  outbound::CaresResolver resolver;
  add(out, examine_names(config, resolver, probe, timeout_ms));
  out.push_back(examine_trusted_roots(config));
  add(out, examine_server(config, owner, overview, timeout_ms));
  return out;
}

std::string counted(std::size_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

/// Prints the remedies below the table, because sentences are too long for a column.
void print_remedies(const Console& console, const Findings& findings) {
  for (const Finding& finding : findings) {
    if (finding.remedy.empty()) continue;
    const std::string_view grade = name(finding.grade);
    console.out << '\n'
                << shaded(shade_of_status(grade), grade, console.shades_out()) << ": "
                << finding.check << ": " << printable(finding.found) << "\n  "
                << printable(finding.remedy) << '\n';
  }
  console.out << std::flush;
}

int report(const Console& console, const Findings& findings, bool json) {
  CommandResult result{.list = true, .columns = {"check", "result", "found"}};
  std::size_t failures = 0;
  std::size_t warnings = 0;
  for (const Finding& finding : findings) {
    failures += finding.grade == Grade::failed ? 1U : 0U;
    warnings += finding.grade == Grade::warning ? 1U : 0U;
    const auto remedy = finding.remedy.empty() ? std::nullopt : std::optional(finding.remedy);
    result.records.push_back({{"check", finding.check},
                              {"result", name(finding.grade)},
                              {"found", finding.found},
                              {"remedy", remedy}});
  }
  result.exit_code = failures == 0 ? exit_code::kDone : exit_code::kFault;
  const int code = print_result(console, result, json);
  if (json) return code;
  print_remedies(console, findings);
  console.err << '\n'
              << counted(failures, "failed check") << ", " << counted(warnings, "warning") << '\n';
  return code;
}

int doctor(const Console& console, const Arguments& arguments, const ConfigFlags& flags) {
  const auto timeout_ms = number_argument<int>(arguments, "timeout-ms", 1, kTimeoutMsMax);
  if (!timeout_ms) return print_problem(console, timeout_ms.error(), {});
  const ConfigReading reading = read_all_settings(flags);
  return report(console, examine(reading, arguments.text("resolve"), *timeout_ms), arguments.json);
}

}  // namespace

Finding fails_start(std::string check, std::string reason) {
  return failed(std::move(check), std::move(reason),
                "Correct this first. The server does not start until then.");
}

std::vector<Command> doctor_commands() {
  return {{.path = "doctor",
           .summary = "Check settings, files, machine and server; exits with 3 if a check fails",
           .run = doctor,
           .arguments = {option("resolve", "NAME", "Host name for the DNS check", "example.com"),
                         option("timeout-ms", "MS", "Timeout of each network request", "3000")},
           .settings = Settings::server,
           .details = "It changes nothing and works with or without a running server. Run it as "
                      "the server's user, with the\nserver's settings."}};
}

}  // namespace coffer::cli
