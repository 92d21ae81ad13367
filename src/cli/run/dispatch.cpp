#include "cli/run/dispatch.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "app/app.h"
#include "base/digest.h"
#include "base/platform/exit_code.h"
#include "base/telemetry/log.h"
#include "base/thread.h"
#include "cli/paths.h"
#include "cli/progress.h"
#include "cli/run/four_eyes.h"
#include "cli/settings.h"
#include "flows/identity/approvals.h"
#include "flows/identity/audit_log.h"
#include "store/commit_rider.h"
#include "store/file/connection.h"
#include "store/file/lock_file.h"
#include "store/requests/request_log_file.h"

namespace coffer::cli {
namespace {

// A server that is starting locks the file before its socket exists, and another command locks it
// only briefly, so a busy file is retried.
constexpr int kTries = 40;
constexpr int kTryEveryMs = 50;

std::string recorded(const Argument& argument, const std::string& value) {
  if (!argument.holds_content()) return value;
  return "sha256:" + to_hex(sha256(value)) + " (" + std::to_string(value.size()) + " bytes)";
}

/// The arguments for the audit log. No argument is a secret.
Record recorded(const Command& command, const Arguments& arguments) {
  Record record;
  for (const Argument& argument : command.arguments) {
    const auto value = arguments.find(std::string(argument.name));
    if (value) record.emplace_back(std::string(argument.name), recorded(argument, *value));
  }
  return record;
}

/// Records the result of a command. If that fails, it only logs an error, because the command
/// itself is already in the audit log.
void record_end(Session& session, std::string_view command, std::int64_t entry,
                const std::string& outcome, const std::string& said) {
  const auto done = flows::record_outcome(session.app.flows(), entry, session.actor,
                                          std::string(command), outcome, said);
  if (done) return;
  log_error("audit", "the result of a command could not be recorded in the audit log",
            {{"entry", entry}, {"command", command}, {"outcome", outcome}});
}

/// Writes only the content, so that the output can be redirected to a file.
int print_file(Session& session, const ProducedFile& file) {
  const Console& console = session.console;
  if (console.terminal && !file.text) {
    print_error(console,
                "the output is a binary file. Redirect it to a file, such as > " + file.name);
    return exit_code::kUsage;
  }
  const bool complete = file.write([&](std::string_view piece) {
    console.out << piece << std::flush;
    return console.out.good() && !session.interruption.requested();
  });
  if (complete) return 0;
  // A write error on standard output is reported once, at the end.
  if (console.out) print_error(console, "the output is incomplete. Run the command again");
  return exit_code::kFailed;
}

/// `forbidden` for the role of the actor, `conflict` for the file.
Result<void> check_permitted(const Session& session, const Command& command) {
  if (session.actor.role < command.role) {
    return unexpected(Slug::forbidden, "This command requires the role " +
                                           std::string(name(command.role)) +
                                           ". Ask an administrator for it.");
  }
  if (!command.demo_only || is_demo(session.app)) return {};
  return unexpected(Slug::conflict, session.app.database().path() +
                                        " is not a demo file and is unchanged. This command works "
                                        "only on a file that coffer demo created.");
}

/// `malformed-request`.
Result<void> check_paths(const Session& session, const Command& command,
                         const Arguments& arguments) {
  for (const Argument& argument : command.arguments) {
    const auto given = arguments.find(std::string(argument.name));
    if (!given || !names_place(argument)) continue;
    COFFER_TRY_VOID(check_not_beside(session.app.database().path(), *given));
  }
  return {};
}

/// Runs the command. `overloaded` if its ProgressLine ends it.
Result<CommandResult> run_on(Session& session, const Command& command, const Arguments& arguments) {
  return unless_stopped([&]() -> Result<CommandResult> {
    const auto* read = std::get_if<ReadCommand>(&command.run);
    if (read != nullptr) return run_read(session, *read, arguments);
    return std::get<FileCommand>(command.run)(session, arguments);
  });
}

/// What the preview of the command shows: its only record, or what it says about a list. Adds the
/// values that the preview has found to `arguments`, so that what runs is what was previewed.
Result<Record> run_preview(Session& session, const Command& command, Arguments& arguments) {
  Arguments trial = arguments;
  trial.values.emplace(command.preview, "true");
  COFFER_TRY(auto seen, run_on(session, command, trial));
  if (seen.records.empty()) return Record{{"result", seen.note}};
  for (const Argument& argument : command.arguments) {
    if (!argument.carried) continue;
    const auto found = text_in(seen.records.front(), member_of(argument));
    if (found) arguments.values.insert_or_assign(std::string(argument.name), *found);
  }
  return seen.list ? Record{{"result", seen.note}} : std::move(seen.records.front());
}

/// The Problem with which the command would fail now, or what its preview shows. Without a preview,
/// the command runs up to its first change, which is undone.
Result<Record> check_runs(Session& session, const Command& command, Arguments& arguments) {
  if (!command.preview.empty()) return run_preview(session, command, arguments);
  bool reached = false;
  store::CommitRider rider(
      [&](store::WriteTx&) -> Result<void> {
        reached = true;
        return unexpected(Slug::conflict, "The command was only tried.");
      },
      store::CommitRider::Runs::after);
  const auto tried = run_on(session, command, arguments);
  if (tried || reached) return Record();
  return unexpected(tried.error());
}

/// Runs an approved command. If it fails before its first change, the request stays open.
Result<CommandResult> run_once(Session& session, const Command& command, const Arguments& arguments,
                               const GivenApproval& approval) {
  const flows::Context& flows = session.app.flows();
  const auto approve = [&](store::WriteTx& tx) {
    return flows::approve(tx, approval.id, approval.by);
  };
  bool stored = false;
  auto result = [&] {
    store::CommitRider rider(approve);
    auto out = run_on(session, command, arguments);
    stored = rider.committed();
    return out;
  }();
  if (!stored && result && result->exit_code == 0) {  // The command had nothing to change.
    COFFER_TRY_VOID(flows.queue.run(approve));
    stored = true;
  }
  if (!stored) return result;
  const std::string outcome = result ? std::string() : std::string(info(result.error().slug).name);
  const auto made = result && !result->records.empty()
                        ? text_in(result->records.front(), kPaymentOf)
                        : std::nullopt;
  if (!flows::finish_approval(flows, approval.id, outcome, made)) {
    log_error("audit", "the result of an approved command could not be recorded",
              {{"approval", approval.id.to_string()}, {"command", command.path}});
  }
  return result;
}

/// How to find the object that the problem is about.
std::string hint_of(const Command& command, const Problem& problem) {
  for (const FieldError& error : at_arguments(command, problem).fields) {
    const auto named = std::ranges::find(command.arguments, error.field, &Argument::name);
    if (named == command.arguments.end() || named->is_positional()) continue;
    const std::string list(offered_by(*named));
    if (list.empty()) return {};
    if (command.hint.find(list) == std::string_view::npos) return "List IDs with coffer " + list;
  }
  if (!command.hint.empty()) return std::string(command.hint);
  const auto with_hint = std::ranges::find_if(
      command.arguments, [](const Argument& argument) { return !argument.hint.empty(); });
  return with_hint == command.arguments.end() ? std::string() : std::string(with_hint->hint);
}

int run_in(Session& session, const Command& command, const Arguments& arguments) {
  const auto result = carry_out(session, command, arguments);
  if (!result) {
    // A command whose output cannot be written ends early. The error is printed once, at the end.
    if (!session.console.out) return exit_code::kFailed;
    return print_problem(session.console, result.error(), hint_of(command, result.error()));
  }
  if (result->file) return print_file(session, *result->file);
  return print_result(session.console, *result, arguments.json);
}

bool gives_file(const Command& command, const Arguments& arguments) {
  return std::ranges::any_of(command.arguments, [&](const Argument& argument) {
    return argument.is_positional() && names_place(argument) &&
           arguments.has(std::string(argument.name));
  });
}

ControlRequest request_of(const CommandLine& line, const Console& console) {
  return {std::string(line.command->path),
          line.arguments.values,
          line.arguments.json,
          console.terminal,
          console.progress,
          console.colour,
          console.columns};
}

/// Hides informational log lines, because the operator wants only the result.
void keep_quiet(const Config& config) {
  const bool asked = config.origins.at("log_level") == "--log-level";
  configure_logging(asked ? config.log_level : LogLevel::warning,
                    config.log_format.value_or(default_log_format()));
}

int run_on_file(const CommandLine& line, const Console& console) {
  int code = 0;
  const auto config = read_ledger_settings(console, line.flags, code);
  if (!config) return code;
  keep_quiet(*config);
  if (line.command->without_key != nullptr && !has_master_key(*config) &&
      !store::lock_state(config->db).locked) {
    return line.command->without_key(console, line.arguments, *config);
  }
  const SystemClock clock;
  OsRandom random;
  StartError error;
  for (int tries = 0;; ++tries) {
    const std::string_view command = line.command->path;
    if (const auto app = App::open(*config, clock, random, error, App::Missing::refuse, command)) {
      Interruption interruption;
      const Actor actor = command_line_actor(::geteuid());
      Session session{*app, console, interruption, actor};
      return run_in(session, *line.command, line.arguments);
    }
    if (error.exit_code != exit_code::kBusy) break;
    if (const auto there = run_in_server(config->db, request_of(line, console), console)) {
      return *there;
    }
    if (tries == kTries) {
      if (const auto why = why_unreachable(config->db); !why.empty()) error.message = why;
      break;
    }
    rest(kTryEveryMs);
  }
  return print_error(console, error);
}

int run_checked(App& app, const ControlRequest& request, const Console& console,
                Interruption& interruption) {
  const Command* command = find_command(request.command);
  if (command == nullptr || !command->is_on_file()) {
    print_error(console,
                "the running server does not have the command " + request.command +
                    ". It may be another version of coffer: compare coffer version with its log");
    return exit_code::kUsage;
  }
  Arguments arguments{request.arguments, request.json};
  if (const auto judged = check_arguments(*command, arguments); !judged) {
    return print_problem(console, judged.error(), {});
  }
  log_info("control", "command", {{"command", command->path}, {"uid", request.uid}});
  const Actor actor = command_line_actor(request.uid);
  Session session{app, console, interruption, actor};
  return run_in(session, *command, arguments);
}

}  // namespace

Result<CommandResult> run_recorded(Session& session, std::string_view command,
                                   const std::string& detail,
                                   const std::function<Result<CommandResult>()>& run) {
  COFFER_TRY(const auto entry, flows::record_audit_entry(session.app.flows(), session.actor,
                                                         std::string(command), detail));
  try {
    auto result = run();
    if (result) {
      record_end(session, command, entry, "done", result->unchanged);
    } else {
      record_end(session, command, entry, std::string(info(result.error().slug).name),
                 result.error().detail);
    }
    return result;
  } catch (...) {
    record_end(session, command, entry, "unexpected-error", {});
    throw;
  }
}

Result<CommandResult> carry_out(Session& session, const Command& command, Arguments arguments) {
  COFFER_TRY_VOID(check_permitted(session, command));
  COFFER_TRY_VOID(check_paths(session, command, arguments));
  const auto run = [&] { return run_on(session, command, arguments); };
  if (command.role == OperatorRole::viewer) return run();
  const auto detail = [&] { return to_json(recorded(command, arguments), false); };
  Result<Record> seen = Record();
  if (waits_for_approval(session, command, arguments)) {
    seen = check_runs(session, command, arguments);
    // The preview may have found the amount.
    if (seen && waits_for_approval(session, command, arguments)) {
      return request_approval(session, command, arguments, detail(), *seen);
    }
  }
  return run_recorded(session, command.path, detail(), [&]() -> Result<CommandResult> {
    COFFER_TRY_VOID(seen);
    return run();
  });
}

Result<CommandResult> carry_out_approved(Session& session, const Command& command,
                                         const Arguments& arguments,
                                         const GivenApproval& approval) {
  COFFER_TRY_VOID(check_permitted(session, command));
  Record record = recorded(command, arguments);
  record.emplace_back("approval", approval.id);
  record.emplace_back("approvedBy", approval.by.name);
  return run_recorded(session, command.path, to_json(record, false),
                      [&] { return run_once(session, command, arguments, approval); });
}

int run_command(const CommandLine& line, const Console& console) {
  const Command& command = *line.command;
  if (const auto* own = std::get_if<OwnCommand>(&command.run)) {
    return (*own)(console, line.arguments, line.flags);
  }
  if (command.on_given_file != nullptr && gives_file(command, line.arguments)) {
    return command.on_given_file(console, line.arguments, line.flags);
  }
  CommandLine sent = line;
  make_paths_absolute(command, sent.arguments);
  if (const auto read = read_contents(command, sent.arguments); !read) {
    return print_problem(console, read.error(), {});
  }
  return run_on_file(sent, console);
}

int print_fault(const Console& console, const std::exception& fault) {
  constexpr int kCorruptPage = 11;  // SQLITE_CORRUPT
  constexpr int kNoDatabase = 26;   // SQLITE_NOTADB
  if (const auto* sql = dynamic_cast<const store::SqlError*>(&fault)) {
    if (store::is_full_disk(*sql)) {
      print_error(console, "the disk is full. Free disk space, and run the command again");
      return exit_code::kBusy;
    }
    if (sql->primary_code == kCorruptPage || sql->primary_code == kNoDatabase) {
      print_error(console, "the database is damaged (" + std::string(sql->what()) +
                               "). Stop the server, keep a copy of the file, and restore a backup "
                               "with coffer restore");
      return exit_code::kCorrupt;
    }
  }
  if (dynamic_cast<const store::DamagedRequestLog*>(&fault) != nullptr) {
    print_error(console, fault.what());
    return exit_code::kCorrupt;
  }
  if (const auto* system = dynamic_cast<const std::system_error*>(&fault)) {
    if (system->code() == std::errc::permission_denied) {
      print_error(
          console,
          "permission denied: " + std::string(system->what()) +
              ". Run the command as the owner of the file, or choose another file with --db");
      return exit_code::kPermission;
    }
  }
  print_error(console,
              "internal error: " + std::string(fault.what()) +
                  ". Run `coffer verify`. If it finds no error in the file, report this one");
  return exit_code::kFailed;
}

int run_request(App& app, const ControlRequest& request, std::ostream& out, std::ostream& err,
                Interruption& interruption) {
  const Console console{
      out, err, request.terminal, request.progress, request.colour, request.columns};
  try {
    return run_checked(app, request, console, interruption);
  } catch (const std::exception& fault) {
    log_error("control", "command failed", {{"command", request.command}, {"error", fault.what()}});
    return print_fault(console, fault);
  }
}

}  // namespace coffer::cli
