// coffer apply: creates and changes what a file declares (docs/operating.md#fixtures).
#include "cli/apply/plan.h"
#include "cli/command_groups.h"
#include "cli/exit_code.h"
#include "cli/paths.h"

namespace coffer::cli {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : "; ") + part;
  return out;
}

std::string_view action_of(const ApplyStep& step) {
  if (step.creates) return "create";
  return step.differences.empty() ? "unchanged" : "change";
}

Record view(const ApplyStep& step) {
  return {{"action", action_of(step)},
          {"kind", step.kind},
          {"name", step.name},
          {"differences", joined(step.differences)}};
}

/// Each step is committed on its own. The first failure ends the run, and the result shows what was
/// done before it, with the secrets that are shown once.
void carry_out(const std::vector<ApplyStep>& steps, CommandResult& result) {
  for (const ApplyStep& step : steps) {
    Record record = view(step);
    if (step.is_change()) {
      auto done = step.carry_out();
      record.emplace_back("status", done ? "done" : "failed");
      if (!done) {
        std::string why = done.error().detail;
        for (const FieldError& field : done.error().fields) {
          why += (why.empty() ? "" : " ") + field.field + " " + field.message + ".";
        }
        record.emplace_back("problem", why);
        result.records.push_back(std::move(record));
        result.exit_code = exit_code::kFailed;
        result.note = "The object above failed: " + why +
                      " Correct the file and repeat the command: what was done is skipped.";
        return;
      }
      for (Field& field : *done) record.push_back(std::move(field));
    }
    result.records.push_back(std::move(record));
  }
}

Result<CommandResult> apply(Session& session, const Arguments& arguments) {
  ApplyPlan plan(session);
  COFFER_TRY_VOID(plan.read(arguments.text("FILE")));
  CommandResult result{.list = true, .columns = {"action", "kind", "name", "differences"}};
  std::size_t changes = 0;
  for (const ApplyStep& step : plan.steps()) changes += step.is_change() ? 1 : 0;
  const std::string count =
      std::to_string(changes) + " of " + std::to_string(plan.steps().size()) + " objects ";
  if (arguments.has("dry-run")) {
    for (const ApplyStep& step : plan.steps()) result.records.push_back(view(step));
    result.note = count + "would change. Nothing was changed.";
    return result;
  }
  result.note = count + "changed. Secrets of new objects are shown once, with --json.";
  if (changes == 0) {
    result.note = "All objects are as declared. Nothing was changed.";
    result.unchanged = "all objects are as declared";
  }
  carry_out(plan.steps(), result);
  return result;
}

constexpr std::string_view kDetails =
    "The file is JSON. It may declare assets, rates, connectors, applications, fees, wallets, "
    "fundings,\nbeneficiaries and webhooks of one association and environment; "
    "docs/operating.md#fixtures lists their\nfields. The command creates what is missing and "
    "changes what differs. It never removes an object.";

}  // namespace

std::vector<Command> apply_commands() {
  return {{.path = "apply",
           .summary = "Create and change the objects that a file declares",
           .label = "Apply declarations",
           .consequence = "coffer creates what is missing and changes what differs.",
           .run = apply,
           .role = OperatorRole::administrator,
           .arguments = {content_positional("JSON file with declarations"),
                         toggle("dry-run", "Show the differences and change nothing")},
           .details = kDetails}};
}

}  // namespace coffer::cli
