#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>

#include "app/app.h"
#include "auth/master_key.h"
#include "base/files/readable_file.h"
#include "base/limits/pace.h"
#include "base/platform/exit_code.h"
#include "base/readable.h"
#include "base/telemetry/log.h"
#include "base/text/shell_word.h"
#include "cli/command_groups.h"
#include "cli/operations/verify.h"
#include "cli/paging.h"
#include "cli/paths.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "flows/operations/archive.h"
#include "flows/operations/backup_plan.h"
#include "flows/operations/backups.h"
#include "flows/operations/restore.h"
#include "http/client.h"
#include "outbound/wire/resolver.h"
#include "store/file/foreign_file.h"
#include "store/schema.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kBackupKeyAdvice =
    "\nThe backup does not contain the master key. Store a copy of the key elsewhere: without it, "
    "the sealed\nsecrets (ledger seeds, webhook and provider secrets, one-time-password keys) are "
    "lost.";

Result<void> check_target(const Config& config, const std::optional<std::string>& file) {
  if (file == "-") {
    return unexpected(Slug::malformed_request,
                      "A backup cannot be written to standard output. Name a file.");
  }
  if (file || !config.backup_dir.empty()) return {};
  return unexpected(
      Slug::malformed_request,
      "FILE is missing, and backup_dir is not set. Add a file name, or set backup_dir.");
}

CommandResult result_of(const flows::Backup& made) {
  Record record{{"file", made.path},      {"bytes", made.bytes},
                {"sha256", made.sha256},  {"begunAt", made.begun_at},
                {"tookMs", made.took_ms}, {"verified", made.verdict.has_value()}};
  if (made.verdict) {
    record.emplace_back("payments", made.verdict->summary.payments);
    record.emplace_back("lastEntryAt", last_entry(made.verdict->summary));
  }
  return {.records = {std::move(record)}, .note = std::string(kBackupKeyAdvice)};
}

/// The result for a copy that failed verification and was discarded.
CommandResult fault_of(const std::vector<store::Violation>& violations, const char* note) {
  return {.records = records_of(violations),
          .list = true,
          .failed = true,
          .note = note,
          .exit_code = exit_code::kFault};
}

Result<CommandResult> backup(Session& session, const Arguments& arguments) {
  const Config& config = session.app.config();
  const auto file = arguments.find("FILE");
  COFFER_TRY_VOID(check_target(config, file));
  const flows::BackupRequest request{file.value_or(""), arguments.has("verify"),
                                     config.disk_floor_bytes()};
  ProgressLine line(session.console, session.interruption);
  const flows::Context& context = session.app.flows();
  COFFER_TRY(const auto made,
             file ? flows::back_up(context, request, line.shower())
                  : flows::back_up_in(context, config.backup_dir, request, line.shower()));
  if (made.verdict && !made.verdict->violations.empty()) {
    return fault_of(made.verdict->violations,
                    "\nThe database is damaged, so the backup was discarded. Run coffer verify.");
  }
  if (!file) {
    flows::drop_old_backups(session.app.flows(), config.backup_dir, config.backup_keep);
  }
  return result_of(made);
}

/// When the schedule makes the next backup, after `last`.
std::string schedule_of(const Config& config, const std::vector<flows::KeptBackup>& there) {
  if (config.backup_dir.empty()) {
    return "No backups are scheduled. Set backup_dir to a folder on another disk.";
  }
  std::string text = "Scheduled every " + std::to_string(config.backup_every_h) + " h in " +
                     config.backup_dir + "; the latest " + std::to_string(config.backup_keep) +
                     " are kept.";
  if (there.empty()) return text;
  const Timestamp next = there.front().made_at.plus_ms(config.backup_every_h * kHourMs);
  return text + " Next: " + readable_time(next) + ".";
}

Result<CommandResult> list_backups(Session& session, const Arguments&) {
  const Config& config = session.app.config();
  const auto there = flows::kept_backups(session.app.flows(), config.backup_dir);
  COFFER_TRY(const auto last, session.app.flows().read(store::last_backup));
  CommandResult result{.list = true, .note = schedule_of(config, there)};
  for (const flows::KeptBackup& backup : there) {
    const bool is_last = last && last->path == backup.path;
    std::optional<std::string> verified;
    if (is_last) verified = last->verified ? "yes" : "no";
    result.records.push_back({{"file", std::filesystem::path(backup.path).filename().string()},
                              {"madeAt", backup.made_at},
                              {"bytes", backup.bytes},
                              {"checksum", backup.has_checksum},
                              {"verified", verified}});
  }
  return result;
}

/// The digest in the checksum file of a backup; nullopt without one.
std::optional<std::string> noted_checksum(const flows::KeptBackup& backup) {
  constexpr std::size_t kHexDigits = 64;
  std::ifstream file(backup.path + flows::kChecksumEnding);
  std::string digest(kHexDigits, '\0');
  if (!file.read(digest.data(), kHexDigits)) return std::nullopt;
  return digest;
}

/// Sends the file in pieces and pauses after each read, so that payments keep access to the disk.
bool send_paced(const ReadableFile& file, const std::function<bool(std::string_view)>& sink) {
  std::optional<Pace> pace{std::in_place};
  const auto sent = file.read([&](std::string_view piece) -> Result<void> {
    pace->rest();
    if (!sink(piece)) return unexpected(Slug::unexpected_error, "the client disconnected");
    pace.emplace();  // waiting for the receiver is not work
    return {};
  });
  return sent.has_value();
}

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

/// The name is compared with those in the folder and never used as a path.
Result<flows::KeptBackup> wanted_backup(const Session& session, const Arguments& arguments) {
  const std::string& wanted = arguments.text("NAME");
  for (auto& backup : flows::kept_backups(session.app.flows(), session.app.config().backup_dir)) {
    if (file_name(backup.path) == wanted) return std::move(backup);
  }
  return unexpected(Slug::not_found, "The backup \"" + wanted + "\" was not found in backup_dir.");
}

Result<CommandResult> send_file(const std::string& path, std::string_view type, std::int64_t bytes,
                                Record record) {
  COFFER_TRY(const ReadableFile file, ReadableFile::open(path));
  return CommandResult{
      .records = {std::move(record)},
      .file =
          ProducedFile{file_name(path), std::string(type), false, static_cast<std::uint64_t>(bytes),
                       [file](const auto& sink) { return send_paced(file, sink); }}};
}

Result<CommandResult> download(Session& session, const Arguments& arguments) {
  COFFER_TRY(const flows::KeptBackup backup, wanted_backup(session, arguments));
  Record record{{"file", file_name(backup.path)},
                {"bytes", backup.bytes},
                {"sha256", noted_checksum(backup)}};
  return send_file(backup.path, "application/vnd.sqlite3", backup.bytes, std::move(record));
}

/// The signature file that coffer restore expects next to a backup.
Result<CommandResult> download_signature(Session& session, const Arguments& arguments) {
  COFFER_TRY(const flows::KeptBackup backup, wanted_backup(session, arguments));
  const std::string path = backup.path + flows::kSignatureEnding;
  std::error_code missing;
  const auto bytes = std::filesystem::file_size(path, missing);
  if (missing) {
    return unexpected(Slug::not_found, "The backup \"" + file_name(backup.path) +
                                           "\" has no signature. Make a new backup.");
  }
  const auto size = static_cast<std::int64_t>(bytes);
  return send_file(path, "text/plain", size, {{"file", file_name(path)}, {"bytes", size}});
}

/// Whether the file is sealed under this key. True if it has no sealed secrets.
bool is_key_of(const Result<auth::MasterKey>& key, const std::string& file) {
  const auto marks = store::read_file_marks(file);
  return key && (!marks || !marks->key_check || *marks->key_check == key->fingerprint());
}

/// Names the master key file next to the backup if it has the key of the backup; otherwise empty.
std::string key_beside(const std::string& backup) {
  const std::string path = default_master_key_file(backup);
  OsRandom random;
  const auto key = auth::load_or_create_master_key(path, random, auth::MissingKey::refuse);
  return is_key_of(key, backup) ? " The key of this backup is in " + path + "." : std::string();
}

/// Why the configured master key cannot open the restored file, and what to do; empty if it can.
std::string key_fault(const Config& config, const Result<auth::MasterKey>& key,
                      const std::string& backup) {
  if (is_key_of(key, config.db)) return {};
  const std::string text =
      key ? "The master key in " + key_source(config) + " is not the key of this backup."
          : "The master key was not found in " + config.master_key_file +
                ". Without it, only the structure of the backup was checked.";
  return text + key_beside(backup);
}

/// Whether the archive of the settings has more than the restored file.
Result<std::string> archive_says(const Config& config, const auth::MasterKey& key, Random& random,
                                 const flows::FileChecks& checks) {
  const SystemClock clock;
  outbound::ArchiveLink link(config.ca_bundle, clock);
  link.cut_after(kArchiveAnswerMs);
  COFFER_TRY(const auto archive, archive_at(config.archive, config, key, random)(link));
  COFFER_TRY(const std::string line, store::newest_head(*archive, {}));
  Result<std::string> mismatch = std::string();
  store::read_foreign_file(config.db, [&](store::Connection& db) {
    mismatch = flows::head_mismatch(*archive, checks.key->sealer(), db, line);
  });
  COFFER_TRY(const std::string fault, std::move(mismatch));
  return fault.empty() ? "The archive has no newer checkpoint."
                       : "The archive has more: " + fault + ". Use coffer restore --from " +
                             config.archive + " instead.";
}

/// `lost`: which payments are missing. `age`: what is known of newer files.
std::string next_steps(const Config& config, const std::string& key_fault, const std::string& lost,
                       const std::string& age) {
  std::string text = key_fault.empty() ? std::string() : "\n" + key_fault;
  if (!age.empty()) text += "\n" + age;
  text += "\n" + lost +
          " Compare the ledger with the records of your\nproviders and clients before you "
          "continue.\n\nNext:\n  ";
  if (!key_fault.empty()) {
    text += "provide the key of the backup in " + key_source(config) + "\n  coffer verify --db " +
            shell_word(config.db) + "\n  ";
  }
  return text + serve_command(config);
}

Record record_of(const Config& config, const flows::Restored& restored) {
  const store::FileSummary& summary = restored.verdict.summary;
  Record record{{"database", config.db},
                {"bytes", restored.bytes},
                {"verified", true},
                {"checked", std::string(extent_of(restored.verdict))},
                {"payments", summary.payments},
                {"lastEntryAt", last_entry(summary)}};
  if (restored.schema_before != summary.schema) {
    record.emplace_back("upgradedFromSchema", restored.schema_before);
  }
  if (!restored.log_doubt.empty()) record.emplace_back("warning", restored.log_doubt);
  return record;
}

Result<CommandResult> restore_from_archive(const Console& console, const Config& config,
                                           const Arguments& arguments) {
  flows::ArchiveRestore wanted;
  COFFER_TRY(wanted.at, optional_time(arguments, "at"));
  COFFER_TRY(wanted.snapshot_before, optional_time(arguments, "snapshot-before"));
  OsRandom random;
  wanted.keeps_place = !config.replicate.empty();
  wanted.check_seed = [&](const std::string& path) { return check_seed(config, path, random); };
  COFFER_TRY(const auto key, configured_key(config, random, auth::MissingKey::refuse));
  COFFER_TRY(const auto checks, file_checks(config, arguments));
  Interruption never;
  ProgressLine line(console, never);
  const auto bundle = http::find_ca_bundle(config.ca_bundle);
  const SystemClock clock;
  outbound::ArchiveLink link(bundle ? *bundle : std::string(), clock);
  COFFER_TRY(const auto archive, archive_at(arguments.text("from"), config, key, random)(link));
  COFFER_TRY(const auto restored,
             flows::restore_archive(*archive, wanted, config.db, line.shower(), checks));
  if (!restored.verdict.violations.empty()) {
    return fault_of(restored.verdict.violations, "\nNothing was restored.");
  }
  const store::Rebuilt& rebuilt = *restored.rebuilt;
  Record record = record_of(config, restored);
  record.emplace_back("restoredTo", rebuilt.until);
  record.emplace_back("lastCommitAt", rebuilt.last_commit);
  record.emplace_back("snapshotAt", rebuilt.snapshot_at);
  if (rebuilt.ends_early) {
    record.emplace_back("warning", "the archive has a gap from " + rebuilt.until.to_string() +
                                       " on, and the file ends there");
  }
  if (!rebuilt.other_run.empty()) {
    const std::string end = rebuilt.other_until.to_string();
    record.emplace_back("otherHistory", "the archive has two histories: the entries of run " +
                                            rebuilt.other_run + " end at " + end +
                                            ", and the file does not follow from them; --at " +
                                            end + " restores those");
  }
  const std::string lost = "Payments accepted after restoredTo are not in it.";
  return CommandResult{.records = {std::move(record)}, .note = next_steps(config, {}, lost, {})};
}

Result<CommandResult> restore_to(const Console& console, const Config& config,
                                 const Arguments& arguments) {
  const std::string from = arguments.find("from").value_or("");
  const bool is_archive = from.find("://") != std::string::npos;
  const std::string backup = arguments.find("BACKUP").value_or(is_archive ? "" : from);
  if (is_archive == !backup.empty() ||
      (!is_archive && (arguments.has("at") || arguments.has("snapshot-before")))) {
    return unexpected(Slug::malformed_request,
                      "Name a backup, or an archive with --from URL and, for a moment of the past, "
                      "--at TIME.");
  }
  if (is_archive) return restore_from_archive(console, config, arguments);
  Interruption never;
  ProgressLine line(console, never);
  COFFER_TRY(const auto checks, file_checks(config, arguments));
  OsRandom random;
  if (!config.replicate.empty()) COFFER_TRY_VOID(check_seed(config, backup, random));
  const auto key = configured_key(config, random, auth::MissingKey::refuse);
  auto result = flows::restore_backup(backup, config.db, line.shower(), checks);
  if (!result && result.error().slug == Slug::forbidden && !is_key_of(key, backup)) {
    Problem problem = std::move(result).error();
    problem.detail += "." + key_beside(backup);
    return unexpected(std::move(problem));
  }
  COFFER_TRY(const auto restored, std::move(result));
  if (!restored.verdict.violations.empty()) {
    return fault_of(restored.verdict.violations, "\nNothing was restored.");
  }
  Record record = record_of(config, restored);
  record.emplace_back("checksum", restored.checksum ? "matches" : "no checksum file");
  record.emplace_back("signedBy", restored.signer);
  record.emplace_back("checkpoint", !checks.checkpoints.empty());
  const std::string fault = key_fault(config, key, backup);
  record.emplace_back("masterKeyFits", fault.empty());
  std::string age;
  if (!config.archive.empty() && key && fault.empty()) {
    const auto said = archive_says(config, *key, random, checks);
    age = said ? *said : "The file was not compared with the archive: " + said.error().detail;
  } else if (checks.checkpoints.empty()) {
    age = "Without --checkpoint, coffer cannot detect that a newer backup exists.";
  }
  return CommandResult{
      .records = {std::move(record)},
      .note = next_steps(config, fault, "Payments accepted after the backup are not in it.", age)};
}

int restore(const Console& console, const Arguments& arguments, const ConfigFlags& flags) {
  int code = 0;
  const auto config = read_settings(console, {.flags = flags}, code);
  if (!config) return code;
  configure_logging(LogLevel::warning, default_log_format());
  return print_result(console, restore_to(console, *config, arguments), arguments.json);
}

}  // namespace

std::vector<Command> backup_commands() {
  const Argument name =
      on_page(chosen_from("backups list", positional("NAME", "Name of the backup, as in the list")),
              "Backup");
  return {
      for_operators(
          "backup", "Back up the database while payments continue", "Back up", "", backup,
          {path_positional("File to create; by default one in backup_dir", false),
           on_page(toggle("verify",
                          "Verify the backup before it gets its final name; exits with 3 if it is "
                          "damaged"),
                   "Verify the backup")},
          {.details =
               "The backup is the state of the database at one moment after the command started. "
               "It gets its\nfinal name, and a checksum in FILE.sha256, once it is complete and on "
               "disk. Existing files are\nnever overwritten. If a server runs, it writes the "
               "backup as its own user. The backup does not\ncontain the master key."}),
      for_viewers("backups list", "List the backups in backup_dir, newest first", list_backups, {},
                  {.details = "The column verified is known only for the latest backup; coffer "
                              "verify FILE checks any backup."}),
      for_administrators(
          "backups download", "Download a backup from backup_dir", "Download",
          "The file contains all data of all associations, except the master key. The audit log "
          "records the download.",
          download, {name},
          {.prints_data = false,
           .hint = "List backups with coffer backups list",
           .details = "Writes the backup to standard output. Compare its SHA-256 with the checksum "
                      "file after the transfer."}),
      for_administrators(
          "backups signature", "Download the signature of a backup from backup_dir", "Signature",
          "Keep the file next to the backup: coffer restore compares the two.", download_signature,
          {name},
          {.prints_data = false,
           .hint = "List backups with coffer backups list",
           .details = "Writes the signature to standard output. Save it as FILE.checkpoint."}),
      {.path = "restore",
       .summary = "Restore the database from a backup or an archive; existing files are never "
                  "overwritten",
       .run = restore,
       .arguments = {naming(Argument::Value::path,
                            {"BACKUP", "Backup file", Argument::Kind::positional}),
                     naming(Argument::Value::url,
                            option("from", "URL", "Archive, as in the setting archive")),
                     option("at", "TIME",
                            "Moment to which the archive is restored; by default the last one"),
                     option(
                         "snapshot-before", "TIME",
                         "Begin with a snapshot before this time, because a later one is damaged"),
                     kCheckpointOption,
                     toggle("foreign", "Accept a backup that was made with another master key"),
                     toggle("unsigned", "Accept a backup without its signature")},
       .details = "The copy is verified, as by coffer verify, before it gets its final name. A "
                  "backup of an older\nversion is upgraded; one of a newer version is rejected. An "
                  "archive needs only its URL and the master key."},
      {.path = "replica seed",
       .summary = "Give this machine a file with which it can follow the leader",
       .run = restore,
       .arguments = {naming(Argument::Value::path,
                            required_option("from", "FILE", "Backup of the leader's file"))},
       .details =
           "Restores the backup, as coffer restore does, if the log continues it. The server "
           "then follows the\nlog from there. Move the old file away first, with its -wal "
           "file."}};
}

}  // namespace coffer::cli
