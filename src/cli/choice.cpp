#include "cli/choice.h"

#include "base/text/join.h"
#include "base/text/nearest.h"
#include "base/text/next_part.h"

namespace coffer::cli {
namespace {

std::vector<Environment> environments(const Arguments& arguments) {
  if (arguments.has("environment")) return {environment_argument(arguments)};
  return {Environment::sandbox, Environment::production};
}

Result<std::vector<store::AssociationRow>> associations(store::Connection& db,
                                                        const Arguments& arguments) {
  if (!arguments.has("association")) return store::list_associations(db);
  COFFER_TRY(const auto id, id_argument<AssociationId>(arguments, "association"));
  auto row = store::find_association(db, id);
  if (!row)
    return unexpected(Slug::not_found,
                      "The association was not found. List IDs with coffer association list.");
  return std::vector{*std::move(row)};
}

}  // namespace

Result<std::vector<NamedTenant>> chosen_tenants(store::Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto rows, associations(db, arguments));
  std::vector<NamedTenant> out;
  for (const store::AssociationRow& row : rows) {
    for (const Environment environment : environments(arguments)) {
      if (auto tenant = store::find_tenant(db, row.id, environment)) {
        out.push_back({*std::move(tenant), row.name});
      }
    }
  }
  return out;
}

std::vector<Argument> tenant_arguments() {
  return {environment_choice("Environment of the events"),
          option("association", "ID", "Association of the events; required if there are several")};
}

Result<NamedTenant> chosen_tenant(store::Connection& db, const Arguments& arguments,
                                  Environment environment) {
  COFFER_TRY(const auto rows, associations(db, arguments));
  if (rows.empty())
    return unexpected(Slug::not_found,
                      "No association exists yet. Create one with coffer association create.");
  if (rows.size() > 1) {
    return unexpected(Slug::malformed_request,
                      "There are " + std::to_string(rows.size()) +
                          " associations. Choose one with --association ID.");
  }
  auto tenant = store::find_tenant(db, rows.front().id, environment);
  COFFER_CHECK(tenant.has_value());
  return NamedTenant{*std::move(tenant), rows.front().name};
}

Argument event_type_choice(Argument argument) { return chosen_among(event_type_terms(), argument); }

Argument event_types_choice(Argument argument) {
  std::vector<Term> types{{"*", "Every payment event"}};
  types.insert(types.end(), event_type_terms().begin(), event_type_terms().end());
  return member_of("eventTypes", chosen_among(types, argument, ','));
}

Result<EventType> event_type_argument(const std::string& text) {
  if (const auto type = parse_event_type(text)) return *type;
  const auto known = term_codes(event_type_terms());
  const std::string meant = did_you_mean(text, known);
  return unexpected(Slug::malformed_request, "\"" + text +
                                                 "\" is not an event type; expected one of " +
                                                 join(known, ", ") + (meant.empty() ? "." : meant));
}

Result<EventTypeSet> event_types_argument(const Arguments& arguments, const std::string& name) {
  EventTypeSet set;
  const std::string text = arguments.find(name).value_or("");
  for (std::string_view rest = text; !rest.empty();) {
    COFFER_TRY(const EventType type, event_type_argument(std::string(next_whole_part(rest, ','))));
    set = set.with(type);
  }
  if (!set.empty()) return set;
  for (const Term& term : event_type_terms()) set = set.with(*parse_event_type(term.code));
  return set;
}

}  // namespace coffer::cli
