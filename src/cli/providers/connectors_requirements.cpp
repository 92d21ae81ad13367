// coffer connector require and unrequire: the fields that a connector requires.
#include <algorithm>

#include "app/app.h"
#include "base/text/join.h"
#include "base/text/next_part.h"
#include "cli/providers/connectors.h"
#include "flows/providers/connector_changes.h"

namespace coffer::cli {
namespace {

Result<std::string> text_value(const Arguments& arguments, const std::string& name) {
  return arguments.text(name);
}

/// `CODE=Label,CODE=Label`; the default label is the code.
std::vector<Requirement::Choice> choices_of(const std::string& text) {
  std::vector<Requirement::Choice> out;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view item = next_part(rest, ',');
    const auto equals = std::min(item.find('='), item.size());
    const std::string_view label = equals == item.size() ? item : item.substr(equals + 1);
    out.push_back({std::string(item.substr(0, equals)), std::string(label)});
  }
  return out;
}

/// The field, with the given values.
Result<RequirementChange> requirement_argument(const Arguments& arguments) {
  RequirementChange out{.name = arguments.text("NAME")};
  out.type = optional_term<Requirement::Type>(arguments, "type");
  if (arguments.has("optional") && arguments.has("no-optional")) {
    return unexpected(Slug::malformed_request,
                      "--optional and --no-optional are mutually exclusive.");
  }
  if (arguments.has("optional")) out.required = false;
  if (arguments.has("no-optional")) out.required = true;
  out.label = arguments.find("label");
  COFFER_TRY(auto description, removable(arguments, "description", text_value));
  if (description) out.description = description->value_or("");
  COFFER_TRY(out.pattern, removable(arguments, "pattern", text_value));
  COFFER_TRY(out.min_length, removable(arguments, "min-length", integer_value));
  COFFER_TRY(out.max_length, removable(arguments, "max-length", integer_value));
  COFFER_TRY(auto choices, removable(arguments, "choices", text_value));
  if (choices) out.choices = choices_of(choices->value_or(""));
  if (arguments.has("types")) {
    COFFER_TRY(out.types, types_argument(arguments, "types"));
  }
  return out;
}

Result<CommandResult> require(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ConnectorId>(arguments, "ID"));
  COFFER_TRY(const RequirementChange change, requirement_argument(arguments));
  COFFER_TRY_VOID(flows::require_field(session.app.flows(), id, change));
  return run_read(session, show_connector, arguments);
}

Result<CommandResult> unrequire(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ConnectorId>(arguments, "ID"));
  COFFER_TRY_VOID(flows::unrequire_field(session.app.flows(), id, arguments.text("NAME")));
  return run_read(session, show_connector, arguments);
}

}  // namespace

Record requirement_view(const Requirement& requirement) {
  Record record{{"name", requirement.name},
                {"type", name(requirement.type)},
                {"required", requirement.required},
                {"label", requirement.label},
                {"description", requirement.description},
                {"pattern", requirement.pattern},
                {"minLength", requirement.min_length},
                {"maxLength", requirement.max_length},
                {"choices", join(requirement.choices, ",",
                                 [](const auto& one) { return one.code + "=" + one.label; })},
                {"transactionTypes", shown_types(requirement.types)}};
  return record;
}

std::vector<Command> requirement_commands() {
  const Argument id = connector_id();
  const Argument field = positional("NAME", "Name of the field in additionalFields");
  return {
      {.path = "connector require",
       .summary = "Require a field in every submission, or change a required field",
       .label = "Require field",
       .consequence = "It applies to new submissions. A value that you leave empty stays.",
       .run = require,
       .arguments = {id, field,
                     choice("type", choices<Requirement::Type>(),
                            "Type of the value; string for a new field"),
                     option("label", "TEXT", "Label in a form; the name for a new field"),
                     option("description", "TEXT", "Description in a form"),
                     on_page(option("pattern", "REGEX", "Pattern that the whole value must match"),
                             "Pattern", "^[0-9]{11}$"),
                     on_page(option("min-length", "N", "Minimum length in characters"),
                             "Minimum length", "1"),
                     on_page(option("max-length", "N", "Maximum length in characters, up to 200"),
                             "Maximum length", "200"),
                     on_page(option("choices", "LIST",
                                    "Permitted values with labels, such as A=First,B=Second"),
                             "Permitted values", "A=First,B=Second"),
                     types_option(), toggle("optional", "Make the field optional"),
                     toggle("no-optional", "Make the field required again"),
                     toggle("no-description", "Remove the description"),
                     toggle("no-pattern", "Remove the pattern"),
                     toggle("no-min-length", "Remove the minimum length"),
                     toggle("no-max-length", "Remove the maximum length"),
                     toggle("no-choices", "Permit any value")},
       .details = "Of a field that is already required, a value that is not given stays."},
      {.path = "connector unrequire",
       .summary = "Stop requiring a field",
       .label = "Remove required field",
       .consequence = "It applies to new submissions.",
       .run = unrequire,
       .arguments = {id, field}}};
}

}  // namespace coffer::cli
