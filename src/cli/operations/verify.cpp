#include "cli/operations/verify.h"

#include <algorithm>
#include <filesystem>

#include "app/app.h"
#include "base/platform/exit_code.h"
#include "base/telemetry/log.h"
#include "cli/command_groups.h"
#include "cli/paths.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "flows/operations/archive.h"
#include "flows/operations/backups.h"
#include "flows/operations/checkpoint_rounds.h"
#include "flows/operations/file_keys.h"
#include "flows/operations/live_verification.h"
#include "flows/operations/restore.h"
#include "store/invariants.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kEverything = "all invariants hold";
constexpr std::string_view kStructureOnly =
    "the structure is intact; without the file's master key, its keyed chains were not checked, so "
    "a deliberate change would not be found";

constexpr std::string_view kArchiveFault = "archive";
constexpr std::string_view kCompared = "the file is not older";
constexpr std::string_view kNotDetected =
    "; a file that was replaced by an older copy would not be detected";

/// Verifies one snapshot of the file.
std::vector<store::Violation> verify_still(const Session& session, const std::string& path,
                                           bool deep, ProgressLine& line) {
  store::Connection db(path, store::OpenMode::read_only);
  std::vector<store::Violation> out;
  if (const auto keys = flows::use_chain_keys(session.app.flows().sealer, db); !keys) {
    out.push_back({"chain_key", keys.error().detail});
  }
  session.interruption.during([&] { db.interrupt(); },
                              [&] {
                                for (auto& found : store::verify(db, deep, line.shower())) {
                                  out.push_back(std::move(found));
                                }
                              });
  return out;
}

Result<std::vector<store::Violation>> find_violations(const Session& session, bool deep) {
  ProgressLine line(session.console, session.interruption);
  if (!deep && session.app.listeners().api_stats()) {
    return flows::verify_in_slices(session.app.flows(), line.shower());
  }
  std::vector<store::Violation> out;
  COFFER_TRY_VOID(with_consistent_copy(
      session, "verify", line.shower(),
      [&](const std::string& path) { out = verify_still(session, path, deep, line); }));
  return out;
}

/// With --json, one object; otherwise, a table of violations or a sentence. `extent` says what
/// holds in a file without violations. `key` is the source of the master key, or why it was not
/// used.
CommandResult report(const std::string& path, const std::vector<store::Violation>& violations,
                     std::string_view extent, const std::string& key, const Compared& compared,
                     const Arguments& arguments) {
  const bool whole = violations.empty();
  CommandResult result;
  result.exit_code = whole ? exit_code::kDone : exit_code::kFault;
  if (arguments.json) {
    Record record{{"database", path}, {"ok", whole}};
    if (whole) record.emplace_back("checked", std::string(extent));
    record.emplace_back("masterKey", key);
    record.emplace_back("checkpoint", compared.any);
    if (!compared.lack.empty()) record.emplace_back("archiveLacks", compared.lack);
    record.emplace_back("violations", records_of(violations));
    result.records = {std::move(record)};
  } else if (whole) {
    result.records = {{{"database", path},
                       {"verified", std::string(extent)},
                       {"masterKey", key},
                       {"checkpoint", compared.result}}};
    if (!compared.lack.empty()) result.records[0].emplace_back("warning", compared.lack);
  } else {
    result.list = result.failed = true;
    result.records = records_of(violations);
    const bool is_intact = std::ranges::all_of(violations, [](const auto& one) {
      return one.invariant == flows::kLogFault || one.invariant == kArchiveFault;
    });
    if (!is_intact) {
      result.note =
          "\n" + path +
          " is damaged, or is not a coffer database. If a server uses it, stop the server. "
          "Keep a copy of the file, and restore a backup with coffer restore.";
    }
  }
  return result;
}

Result<CommandResult> verify(Session& session, const Arguments& arguments) {
  try {
    const bool deep = !arguments.has("quick");
    COFFER_TRY(const auto checkpoints, checkpoints_of(arguments));
    COFFER_TRY(auto violations, find_violations(session, deep));
    // A successful quick verification does not clear a violation that a full one found.
    if (deep || !violations.empty()) session.app.background().note_verification(violations.empty());
    COFFER_TRY(const Compared compared, compare(session.app, arguments, checkpoints));
    if (!compared.fault.empty()) violations.push_back({"checkpoint", compared.fault});
    if (!compared.damage.empty()) {
      violations.push_back({std::string(kArchiveFault), compared.damage});
    }
    return report(session.app.database().path(), violations, kEverything,
                  key_source(session.app.config()), compared, arguments);
  } catch (const store::SqlError&) {
    if (!session.interruption.requested()) throw;
    throw ProgressLine::Stopped{ProgressLine::kServerStops};
  }
}

/// With the newest signed head of the archive.
Result<void> compare_with_archive(App& app, Compared& out) {
  outbound::ArchiveLink link(app.config().ca_bundle, app.flows().clock);
  link.cut_after(kArchiveAnswerMs);
  COFFER_TRY(const auto archive, app.background().archiving().open(&link));
  COFFER_TRY(const auto last, store::last_segment(*archive));
  COFFER_TRY(const std::string line, store::newest_head(*archive, {}));
  if (line.empty() && !out.any) {
    out.result = "none: the archive has none" + std::string(kNotDetected);
  } else if (!line.empty()) {
    out.any = true;
    out.result = std::string(kCompared) + " than the archive knows";
  }
  return app.flows().read([&](store::Connection& db) -> Result<void> {
    out.lack = flows::archive_lack(last, db);
    COFFER_TRY(out.fault, flows::head_mismatch(*archive, app.flows().sealer, db, line));
    return {};
  });
}

Compared given_checkpoints(const Arguments& arguments) {
  const bool any = arguments.has("checkpoint");
  return {.any = any,
          .result = std::string(any ? kCompared : "none given") + (any ? "" : kNotDetected.data())};
}

bool names_key_file(const Config& config) {
  return config.origins.at("master_key_file") != "default";
}

/// Unless the settings contain a master key, the one next to the file is used, if there is one.
Config with_key_of(const std::string& path, Config config) {
  if (!config.master_key.empty() || names_key_file(config)) return config;
  const std::string beside = default_master_key_file(path);
  std::error_code ignored;
  if (std::filesystem::exists(beside, ignored)) config.master_key_file = beside;
  return config;
}

/// The key with which the file was checked, or why it was checked without one.
std::string used_key(const Config& config, const flows::FileChecks& checks,
                     const store::FileVerdict& verdict) {
  if (verdict.keyed) return key_source(config);
  if (checks.key == nullptr) return "none: " + checks.no_key;
  if (!verdict.violations.empty()) return "none: the file is damaged, or is not a database";
  return "none: " + key_source(config) + " is not the key of this file";
}

Result<CommandResult> judge(const Console& console, const Config& given,
                            const Arguments& arguments) {
  const std::string path = arguments.text("FILE");
  Interruption never;
  ProgressLine line(console, never);
  const Config config = with_key_of(path, given);
  COFFER_TRY(const auto checks, file_checks(config, arguments));
  COFFER_TRY(const auto found, flows::judge_file(path, line.shower(), checks));
  CommandResult result =
      report(path, found.verdict.violations, extent_of(found.verdict),
             used_key(config, checks, found.verdict), given_checkpoints(arguments), arguments);
  if (!found.verdict.violations.empty()) return result;
  if (found.verdict.newer_schema || found.verdict.older_schema) {
    return unexpected(Slug::conflict,
                      path + " has schema " + std::to_string(found.schema_before) +
                          ", from another version of coffer: the SQLite structure is intact. To "
                          "check the invariants, install that version, or restore the file first");
  }
  Record& record = result.records.front();
  record.emplace_back("signedBy", found.signer);
  record.emplace_back("checksum", found.checksum ? "matches" : "no checksum file");
  record.emplace_back("payments", found.verdict.summary.payments);
  record.emplace_back("lastEntryAt", last_entry(found.verdict.summary));
  if (!found.log_doubt.empty()) record.emplace_back("warning", found.log_doubt);
  return result;
}

Result<CommandResult> checkpoint(Session& session, const Arguments&) {
  COFFER_TRY(const std::string line,
             flows::make_checkpoint(session.app.flows(), [] { return true; }));
  return CommandResult{.records = {{{"checkpoint", line}}}};
}

int print_judgement(const Console& console, const Config& config, const Arguments& arguments) {
  return print_result(console, judge(console, config, arguments), arguments.json);
}

/// `coffer verify FILE`: verifies a backup in this process, without a database.
int verify_given_file(const Console& console, const Arguments& arguments,
                      const ConfigFlags& flags) {
  int code = 0;
  const auto config = read_settings(console, {.flags = flags}, code);
  return config ? print_judgement(console, *config, arguments) : code;
}

/// `coffer verify` without a master key, on a database that no process has open.
int verify_without_key(const Console& console, Arguments arguments, const Config& config) {
  arguments.values["FILE"] = config.db;
  return print_judgement(console, config, arguments);
}

}  // namespace

std::string key_source(const Config& config) {
  return config.master_key.empty() ? config.master_key_file : config.origins.at("master_key");
}

std::string_view extent_of(const store::FileVerdict& verdict) {
  return verdict.keyed ? kEverything : kStructureOnly;
}

Result<flows::FileChecks> file_checks(const Config& config, const Arguments& arguments) {
  flows::FileChecks out;
  OsRandom random;
  const auto key = configured_key(config, random, auth::MissingKey::refuse);
  out.key_source = key_source(config);
  if (key) {
    out.key = std::make_unique<const flows::KeyCandidate>(*key);
  } else if (names_key_file(config) || key.error().slug != Slug::not_found) {
    return unexpected(key.error());
  } else {
    out.no_key = key.error().detail;
  }
  COFFER_TRY(out.checkpoints, checkpoints_of(arguments));
  out.foreign = arguments.has("foreign");
  out.unsigned_backup = arguments.has("unsigned");
  return out;
}

Result<flows::Checkpoints> checkpoints_of(const Arguments& arguments) {
  const auto file = arguments.find("checkpoint");
  return file ? flows::read_checkpoints(*file) : flows::Checkpoints();
}

Result<Compared> compare(App& app, const Arguments& arguments,
                         const flows::Checkpoints& checkpoints) {
  Compared out = given_checkpoints(arguments);
  std::string source = arguments.find("checkpoint").value_or("");
  if (out.any) {
    COFFER_TRY(out.fault, app.flows().read([&](store::Connection& db) {
      return flows::mismatch_with(app.flows().sealer, db, checkpoints);
    }));
  }
  if (out.fault.empty() && !app.config().archive.empty()) {
    source = app.config().archive;
    const auto done = compare_with_archive(app, out);
    if (!done) {
      const std::string& why = done.error().detail;
      log_warning("archive", "not compared", {{"problem", why}});
      if (done.error().exit_code == exit_code::kFault) out.damage = why;
      if (!out.any) out.result = "not compared with the archive: " + why;
    }
  }
  if (out.fault.empty()) return out;
  out.fault = app.database().path() + " is not the file of " + source + ": " + out.fault +
              ". Find out who replaced the file, and restore the newest backup. If you have "
              "restored an older backup on purpose, set archive to a new place";
  return out;
}

Result<void> with_consistent_copy(const Session& session, const std::string& command,
                                  const ProgressFunction& progress,
                                  const std::function<void(const std::string&)>& use) {
  const std::string& path = session.app.database().path();
  if (!session.app.listeners().api_stats()) {
    use(path);
    return {};
  }
  const auto floor_mib = static_cast<std::uint64_t>(session.app.config().disk_floor_mib);
  auto done = flows::with_copy(
      session.app.flows(),
      {.path = path + flows::kCopyEnding + command, .floor_bytes = floor_mib << 20}, progress, use);
  if (done || done.error().slug != Slug::storage_full) return done;
  return unexpected(Slug::storage_full,
                    "While a server runs, this command works on a copy of the database next to it, "
                    "for which the disk has too little free space. Free disk space, or stop the "
                    "server for this command.");
}

std::vector<Record> records_of(const std::vector<store::Violation>& violations) {
  return records_of(violations, [](const store::Violation& violation) -> Record {
    return {{"invariant", violation.invariant}, {"detail", violation.detail}};
  });
}

std::optional<std::string> last_entry(const store::FileSummary& summary) {
  if (!summary.last_entry_at) return std::nullopt;
  return summary.last_entry_at->to_string();
}

std::vector<Command> verify_commands() {
  return {
      {.path = "verify",
       .summary = "Check the integrity of the database or a backup; exits with 3 if it is damaged",
       .label = "Verify file",
       .run = verify,
       .role = OperatorRole::viewer,
       .arguments = {path_positional("Backup to check instead of the database", false),
                     on_page(toggle("quick", "Skip the slow check of the SQLite structure"),
                             "Skip the check of the SQLite structure"),
                     kCheckpointOption},
       .details =
           "Checks the schema, the invariants of the ledger, the keyed chains of entries and "
           "audit log, the digests\nof rows that grant access, and the SQLite structure. "
           "Without the master key, it checks only the\nstructure of the chains. For a backup, it "
           "also checks the checksum and the signature next to it. It\nprints the first invalid "
           "row of each failed check. The file of a running server is first copied;\nwith --quick, "
           "it is checked in place, in slices.",
       .on_given_file = verify_given_file,
       .without_key = verify_without_key},
      {.path = "checkpoint",
       .summary = "Print a signed statement of the newest state of the database",
       .label = "Sign a checkpoint",
       .run = checkpoint,
       .role = OperatorRole::viewer,
       .details =
           "Keep the lines where users who can write to the database cannot change them, such as "
           "in a log that is\nsent to another machine. coffer verify, restore and serve "
           "--checkpoint FILE then reject a\ndatabase that was replaced by an older one."}};
}

}  // namespace coffer::cli
