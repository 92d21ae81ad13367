// coffer connector require and unrequire: the fields that a connector requires.
#include <algorithm>

#include "app/app.h"
#include "base/text/join.h"
#include "base/text/next_part.h"
#include "cli/paging.h"
#include "cli/providers/members.h"
#include "flows/providers/connector_changes.h"

namespace coffer::cli {
namespace {

/// The field, with the given values.
Result<RequirementChange> requirement_argument(Session& session, const Arguments& arguments) {
  COFFER_TRY(RequirementChange out, given_members<Requirement>(session, arguments));
  if (arguments.has("optional") && arguments.has("no-optional")) {
    return unexpected(Slug::malformed_request,
                      "--optional and --no-optional are mutually exclusive.");
  }
  if (arguments.has("optional")) out.set<&Requirement::required>(false);
  if (arguments.has("no-optional")) out.set<&Requirement::required>(true);
  return out;
}

Result<CommandResult> require(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ConnectorId>(arguments, "ID"));
  COFFER_TRY(const RequirementChange change, requirement_argument(session, arguments));
  COFFER_TRY_VOID(flows::require_field(session.app.flows(), id, change));
  return run_read(session, show_connector, arguments);
}

Result<CommandResult> unrequire(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ConnectorId>(arguments, "ID"));
  COFFER_TRY_VOID(flows::unrequire_field(session.app.flows(), id, arguments.text("NAME")));
  return run_read(session, show_connector, arguments);
}

}  // namespace

/// The default label is the code.
Result<std::vector<Requirement::Choice>> choices_argument(const Arguments& arguments,
                                                          const std::string& name) {
  std::vector<Requirement::Choice> out;
  std::string_view rest = arguments.text(name);
  while (!rest.empty()) {
    const std::string_view item = next_part(rest, ',');
    const auto equals = std::min(item.find('='), item.size());
    const std::string_view label = equals == item.size() ? item : item.substr(equals + 1);
    out.push_back({std::string(item.substr(0, equals)), std::string(label)});
  }
  return out;
}

Record requirement_view(const Requirement& requirement) {
  Record record;
  each_member<Requirement>([&](const auto& row) { put_member(record, row, requirement, 0); });
  return record;
}

std::vector<Command> requirement_commands() {
  const Argument id = connector_id();
  std::vector<Argument> members = arguments_of<Requirement>(false);
  for (Argument& argument : members) argument.member = {};  // the record is the connector
  const Argument field = argument_of(member_row<Requirement, &Requirement::name>(), false);
  std::vector<Argument> removals;
  each_member<Requirement>([&](const auto& row) {
    if (!row.option.removal.empty()) removals.push_back(removal_of(row));
  });
  return {
      for_administrators(
          "connector require", "Require a field in every submission, or change a required field",
          "Require field", "It applies to new submissions. A value that you leave empty stays.",
          require,
          joined({id}, members,
                 std::vector<Argument>{toggle("optional", "Make the field optional"),
                                       toggle("no-optional", "Make the field required again")},
                 removals),
          {.details = "Of a field that is already required, a value that is not given stays."}),
      for_administrators("connector unrequire", "Stop requiring a field", "Remove required field",
                         "It applies to new submissions.", unrequire, {id, field})};
}

}  // namespace coffer::cli
