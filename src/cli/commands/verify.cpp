#include "cli/commands/verify.h"

#include "app.h"
#include "cli/exit_code.h"
#include "store/invariants.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kClearLine = "\r\x1b[K";

/// Leaves the verification from inside its progress.
struct Stopped {};

void show_progress(const Session& session, std::string_view what, std::int64_t done,
                   std::int64_t total) {
  if (session.interruption.requested()) throw Stopped();
  if (!session.console.progress) return;
  const std::int64_t percent = total > 0 ? done * 100 / total : 100;
  session.console.err << kClearLine << "checking " << what << ' ' << percent << " %" << std::flush;
  if (!session.console.err) throw Stopped();  // whoever asked is gone
}

std::vector<store::Violation> find_violations(const Session& session, bool deep) {
  // Not a leased reader: those are for short reads and are interrupted when they stay.
  store::Connection db(session.app.database().path(), store::OpenMode::read_only);
  std::vector<store::Violation> out;
  session.interruption.during(
      [&] { db.interrupt(); },
      [&] {
        out = store::verify(db, deep,
                            [&](std::string_view what, std::int64_t done, std::int64_t total) {
                              show_progress(session, what, done, total);
                            });
      });
  return out;
}

std::vector<Record> records_of(const std::vector<store::Violation>& violations) {
  std::vector<Record> out;
  for (const store::Violation& violation : violations) {
    out.push_back({{"invariant", violation.invariant}, {"detail", violation.detail}});
  }
  return out;
}

/// For programs one object; for people a table of what is wrong, or one good sentence.
Answer report(const std::string& path, const std::vector<store::Violation>& violations, bool json) {
  const bool whole = violations.empty();
  Answer answer;
  answer.exit_code = whole ? exit_code::kDone : exit_code::kFault;
  if (json) {
    answer.records = {{{"database", path}, {"ok", whole}, {"violations", records_of(violations)}}};
  } else if (whole) {
    answer.records = {{{"database", path}, {"verified", "every invariant holds"}}};
  } else {
    answer.list = true;
    answer.records = records_of(violations);
    answer.note = "\n" + path + " is at fault: stop the server, keep a copy, restore a backup.";
  }
  return answer;
}

Result<Answer> verify(Session& session, const Arguments& arguments) {
  const auto stopped = [] {
    return unexpected(Slug::overloaded, "The server is stopping; verify again when it is back.");
  };
  std::vector<store::Violation> violations;
  try {
    violations = find_violations(session, !arguments.has("quick"));
  } catch (const Stopped&) {
    return stopped();
  } catch (const store::SqlError&) {
    if (!session.interruption.requested()) throw;
    return stopped();
  }
  if (session.console.progress) session.console.err << kClearLine << std::flush;
  return report(session.app.database().path(), violations, arguments.json);
}

}  // namespace

std::vector<Command> verify_commands() {
  return {{.path = "verify",
           .summary = "Prove that the file is whole; ends with 3 when it is not",
           .run = verify,
           .role = OperatorRole::viewer,
           .arguments = {toggle("quick", "Without the slow check of SQLite's own structures")}}};
}

}  // namespace coffer::cli
