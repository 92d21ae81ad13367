#include "cli/operations/verify.h"

#include "app/app.h"
#include "cli/command_groups.h"
#include "cli/exit_code.h"
#include "cli/operations/still_file.h"
#include "cli/paths.h"
#include "cli/progress.h"
#include "flows/operations/live_verification.h"
#include "flows/operations/restore.h"
#include "store/invariants.h"

namespace coffer::cli {
namespace {

/// Verifies in one snapshot.
std::vector<store::Violation> verify_still(const Session& session, const std::string& path,
                                           bool deep, ProgressLine& line) {
  store::Connection db(path, store::OpenMode::read_only);
  std::vector<store::Violation> out;
  session.interruption.during([&] { db.interrupt(); },
                              [&] { out = store::verify(db, deep, line.shower()); });
  return out;
}

Result<std::vector<store::Violation>> find_violations(const Session& session, bool deep) {
  ProgressLine line(session.console, session.interruption);
  if (!deep && session.app.server_stats()) {
    return flows::verify_in_slices(session.app.flows(), line.shower());
  }
  std::vector<store::Violation> out;
  COFFER_TRY_VOID(with_still_file(session, line.shower(), [&](const std::string& path) {
    out = verify_still(session, path, deep, line);
  }));
  return out;
}

/// One object for programs; for people, a table of violations or a sentence.
CommandResult report(const std::string& path, const std::vector<store::Violation>& violations,
                     bool json) {
  const bool whole = violations.empty();
  CommandResult result;
  result.exit_code = whole ? exit_code::kDone : exit_code::kFault;
  if (json) {
    result.records = {{{"database", path}, {"ok", whole}, {"violations", records_of(violations)}}};
  } else if (whole) {
    result.records = {{{"database", path}, {"verified", "all invariants hold"}}};
  } else {
    result.list = true;
    result.records = records_of(violations);
    result.note = "\n" + path +
                  " is damaged. Stop the server, keep a copy of the file, and restore a backup.";
  }
  return result;
}

Result<CommandResult> verify(Session& session, const Arguments& arguments) {
  return unless_stopped([&]() -> Result<CommandResult> {
    try {
      COFFER_TRY(const auto violations, find_violations(session, !arguments.has("quick")));
      return report(session.app.database().path(), violations, arguments.json);
    } catch (const store::SqlError&) {
      if (!session.interruption.requested()) throw;
      throw ProgressLine::Stopped{ProgressLine::kServerStops};
    }
  });
}

Result<CommandResult> judge(const Console& console, const std::string& path, bool json) {
  Interruption never;
  ProgressLine line(console, never);
  COFFER_TRY(const auto found, flows::judge_file(path, line.shower()));
  CommandResult result = report(path, found.verdict.violations, json);
  if (!found.verdict.violations.empty()) return result;
  if (found.verdict.newer_schema || found.verdict.older_schema) {
    return unexpected(Slug::conflict,
                      path + " has schema " + std::to_string(found.schema_before) +
                          ", from another version of coffer: the SQLite structure is intact. To "
                          "check the invariants, use that version, or restore the file first");
  }
  Record& record = result.records.front();
  record.emplace_back("checksum", found.checksum ? "right" : "no checksum file");
  record.emplace_back("payments", found.verdict.summary.payments);
  record.emplace_back("lastEntryAt", last_entry(found.verdict.summary));
  return result;
}

}  // namespace

int verify_given_file(const Console& console, const Arguments& arguments, const ConfigFlags&) {
  const auto result = judge(console, arguments.text("FILE"), arguments.json);
  if (!result) return print_problem(console, result.error(), {});
  return print_result(console, *result, arguments.json);
}

std::vector<Record> records_of(const std::vector<store::Violation>& violations) {
  std::vector<Record> out;
  for (const store::Violation& violation : violations) {
    out.push_back({{"invariant", violation.invariant}, {"detail", violation.detail}});
  }
  return out;
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
                             "Skip the check of the SQLite structure")},
       .details = "Checks the invariants of the ledger, the hash chains of entries and audit log, "
                  "and the SQLite\nstructure. For a backup, it also checks the checksum file. It "
                  "prints the first faulty row of each\nfailed check. The file of a running server "
                  "is first copied beside it; with --quick, it is checked\nin place, in slices."}};
}

}  // namespace coffer::cli
