#include "cli/safety/backup.h"

#include "app.h"
#include "auth/master_key.h"
#include "base/log.h"
#include "cli/commands/verify.h"
#include "cli/exit_code.h"
#include "cli/paths.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "flows/safety/backup_plan.h"
#include "flows/safety/backups.h"
#include "flows/safety/restore.h"
#include "store/safety/seals.h"
#include "store/schema.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kKeyAdvice =
    "\nThe master key is not in it. Keep a copy of the key in another place: without it the "
    "secrets "
    "sealed in\nthe backup (ledger seeds, webhook and provider secrets, one-time passwords) cannot "
    "be "
    "read again.";

/// Where to, and whether it is the folder that only keeps the latest.
struct Place {
  std::string path;
  bool in_folder = false;
};

Result<Place> place_of(const Session& session, const Arguments& arguments) {
  if (const auto named = arguments.find("FILE")) return Place{*named};
  const std::string& folder = session.app.config().backup_dir;
  if (folder.empty()) {
    return unexpected(Slug::malformed_request,
                      "FILE is missing, and there is no folder for backups; name a file, or set "
                      "backup_dir.");
  }
  COFFER_TRY(auto path, flows::backup_path_in(session.app.flows(), folder));
  return Place{std::move(path), true};
}

Answer answer_of(const flows::Backup& made) {
  Record record{{"file", made.path},      {"bytes", made.bytes},
                {"sha256", made.sha256},  {"begunAt", made.begun_at.to_string()},
                {"tookMs", made.took_ms}, {"verified", made.verdict.has_value()}};
  if (made.verdict) {
    record.emplace_back("payments", made.verdict->summary.payments);
    record.emplace_back("lastEntryAt", last_entry(made.verdict->summary));
  }
  return {.records = {std::move(record)}, .note = std::string(kKeyAdvice)};
}

/// A copy that does not verify got no name.
Answer fault_of(const std::string& path, const std::vector<store::Violation>& violations) {
  return {.records = records_of(violations),
          .list = true,
          .note = "\n" + path + " is at fault, so it was not kept; coffer verify tells more.",
          .exit_code = exit_code::kFault};
}

Result<Answer> backup(Session& session, const Arguments& arguments) {
  COFFER_TRY(const Place place, place_of(session, arguments));
  const Config& config = session.app.config();
  const flows::BackupRequest request{place.path, arguments.has("verify"),
                                     static_cast<std::uint64_t>(config.disk_floor_mib) << 20};
  return unless_stopped([&]() -> Result<Answer> {
    ProgressLine line(session.console, session.interruption);
    COFFER_TRY(const auto made, flows::back_up(session.app.flows(), request, line.shower()));
    if (made.verdict && !made.verdict->violations.empty()) {
      return fault_of("The copy of the database", made.verdict->violations);
    }
    if (place.in_folder) {
      flows::drop_old_backups(session.app.flows(), config.backup_dir, config.backup_keep);
    }
    return answer_of(made);
  });
}

/// What is wrong with the key that the restored file will be opened with, or empty.
std::string key_fault(const Config& config) {
  OsRandom random;
  const auto key = auth::find_master_key(config.master_key, "COFFER_MASTER_KEY",
                                         config.master_key_file, random, auth::MissingKey::refuse);
  if (!key) return key.error().detail;
  const auto marks = store::read_file_marks(config.db);
  if (!marks || !marks->key_check || *marks->key_check == key->fingerprint()) return {};
  return "The master key is not the one that the backup was made under: put that one in its place.";
}

std::string next_steps(const Config& config, const std::string& key_fault) {
  std::string text = key_fault.empty() ? std::string() : "\n" + key_fault;
  const bool named = config.origins.at("db") == "--db";
  text +=
      "\nPayments that were accepted after the backup are not in it: compare with your providers "
      "and clients\nbefore you go on.\n\nNext:\n  coffer serve";
  return text + (named ? " --db " + config.db : "");
}

Result<Answer> restore_to(const Console& console, const Config& config, const std::string& backup) {
  Interruption never;
  ProgressLine line(console, never);
  COFFER_TRY(const auto restored, flows::restore_backup(backup, config.db, line.shower()));
  if (!restored.verdict.violations.empty()) {
    return fault_of(backup, restored.verdict.violations);
  }
  const store::FileSummary& summary = restored.verdict.summary;
  Record record{{"database", config.db},
                {"bytes", restored.bytes},
                {"checksum", restored.checksum ? "right" : "none beside it"},
                {"verified", true},
                {"payments", summary.payments},
                {"lastEntryAt", last_entry(summary)}};
  if (restored.schema_before != summary.schema) {
    record.emplace_back("upgradedFromSchema", restored.schema_before);
  }
  const std::string fault = key_fault(config);
  record.emplace_back("masterKeyFits", fault.empty());
  return Answer{.records = {std::move(record)}, .note = next_steps(config, fault)};
}

int restore(const Console& console, const Arguments& arguments, const ConfigFlags& flags) {
  int code = 0;
  const auto config = read_settings(console, {.flags = flags}, code);
  if (!config) return code;
  configure_logging(LogLevel::warning, default_log_format());
  const auto answer = restore_to(console, *config, arguments.text("BACKUP"));
  if (answer) return print_answer(console, *answer, arguments.json);
  const int failed = print_problem(console, answer.error(), {});
  return answer.error().slug == Slug::conflict ? exit_code::kCannotCreate : failed;
}

}  // namespace

std::vector<Command> backup_commands() {
  return {
      {.path = "backup",
       .summary = "Copy the database to a file while payments go on",
       .run = backup,
       .role = OperatorRole::operating,
       .arguments = {path_positional("Where to; without it, into the folder of backup_dir", false),
                     toggle("verify",
                            "Prove the copy before it gets its name; ends with 3 when it is "
                            "at fault")},
       .details =
           "The copy is the database as it was at one moment after the command began, with all its "
           "payments.\nIt gets its name when it is whole and on disk, and FILE.sha256 beside it; "
           "no file is ever\noverwritten. A server that runs writes it as the user it runs as. The "
           "master key is not in it."},
      {.path = "restore",
       .summary = "Make the database from a backup; overwrites nothing",
       .run = restore,
       .arguments = {positional("BACKUP", "The file that coffer backup wrote")},
       .settings = Settings::file,
       .details =
           "The copy is proven as by coffer verify before it gets its name. A backup of an older "
           "version is\nbrought up to date, one of a newer version is refused."}};
}

}  // namespace coffer::cli
