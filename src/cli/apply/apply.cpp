// coffer apply: creates and changes the objects that a file declares (docs/operating.md#fixtures).
#include <algorithm>

#include "app/app.h"
#include "base/platform/exit_code.h"
#include "base/text/join.h"
#include "cli/apply/plan.h"
#include "cli/command_groups.h"
#include "cli/paths.h"

namespace coffer::cli {
namespace {

std::string_view action_of(const ApplyStep& step) {
  if (step.creates) return "create";
  return step.differences.empty() ? "unchanged" : "change";
}

Record step_view(const ApplyStep& step) {
  return {{"action", action_of(step)},
          {"kind", step.kind},
          {"name", step.name},
          {"differences", join(step.differences, "; ")}};
}

/// The objects of the file, and the secrets of new ones, which are shown once.
struct Outcome {
  std::vector<Record> objects;
  std::vector<Record> credentials;
  std::optional<std::string> problem;  // of the last object
};

/// Each step is a separate commit. The first failure ends the run; earlier steps stay committed,
/// and their secrets are shown.
Outcome carry_out(const std::vector<ApplyStep>& steps) {
  Outcome out;
  for (const ApplyStep& step : steps) {
    Record& object = out.objects.emplace_back(step_view(step));
    std::optional<std::string> id;
    if (step.is_change()) {
      auto done = step.carry_out();
      if (!done) {
        out.problem = sentence(done.error());
      } else {
        for (Field& field : *done) {
          if (field.key == "id") {
            id = std::get<std::string>(field.value);
            continue;
          }
          Record& shown = out.credentials.emplace_back(
              Record{{"kind", step.kind}, {"name", step.name}, {"field", field.key}});
          field.key = "value";
          shown.push_back(std::move(field));
        }
      }
    }
    object.emplace_back("status", out.problem ? "failed" : "done");
    object.emplace_back("id", id);
    if (out.problem) break;
  }
  return out;
}

Result<CommandResult> apply(Session& session, const Arguments& arguments) {
  ApplyPlan plan(session.app.flows());
  COFFER_TRY_VOID(plan.read(arguments.text("FILE")));
  const auto& steps = plan.steps();
  const auto changes =
      std::ranges::count_if(steps, [](const ApplyStep& step) { return step.is_change(); });
  const std::string count = std::to_string(changes) + " of " + std::to_string(steps.size()) + ".";
  CommandResult result;
  Outcome outcome;
  if (arguments.has("dry-run")) {
    for (const ApplyStep& step : steps) outcome.objects.push_back(step_view(step));
    result.note = "Objects that would change: " + count + " Nothing was changed.";
  } else {
    outcome = carry_out(steps);
    result.note = "Objects changed: " + count;
    if (!outcome.credentials.empty()) {
      result.note += " Copy the credentials now. You won't see them again.";
    }
  }
  if (changes == 0) {
    result.note = "All objects match the file. Nothing was changed.";
    result.unchanged = "all objects match the file";
  }
  if (outcome.problem) {
    result.note = "The last object failed: " + *outcome.problem +
                  " Correct the file and repeat the command. It skips objects that already match.";
    if (!outcome.credentials.empty()) result.note += " Copy the credentials now.";
    result.exit_code = exit_code::kFailed;
  }
  // The note states the problem.
  result.columns = {"objects"};
  if (!outcome.credentials.empty()) result.columns.push_back("credentials");
  result.records = {{{"objects", std::move(outcome.objects)},
                     {"credentials", std::move(outcome.credentials)},
                     {"problem", outcome.problem}}};
  return result;
}

constexpr std::string_view kDetails =
    "The file is JSON. It may declare assets, rates, connectors, applications, fees, wallets, "
    "fundings,\nbeneficiaries and webhooks of one association and environment; "
    "docs/operating.md#fixtures lists their\nfields. The command creates missing objects and "
    "changes those that differ. It never removes an object.";

}  // namespace

std::vector<Command> apply_commands() {
  return {{.path = "apply",
           .summary = "Create and change the objects that a file declares",
           .label = "Apply declarations",
           .consequence = "coffer creates missing objects and changes those that differ.",
           .run = apply,
           .role = OperatorRole::administrator,
           .arguments = {content_positional("JSON file with declarations"),
                         toggle("dry-run", "Show the differences and change nothing")},
           .details = kDetails,
           .preview = "dry-run"}};
}

}  // namespace coffer::cli
