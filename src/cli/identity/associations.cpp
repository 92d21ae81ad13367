#include "app/app.h"
#include "cli/command_groups.h"
#include "flows/identity/tenancy_changes.h"
#include "store/identity/tenants.h"

namespace coffer::cli {
namespace {

Record association_view(const store::AssociationRow& row) {
  return {{"id", row.id},
          {"name", row.name},
          {"status", name(row.status)},
          {"type", row.entity_type == EntityType::person ? "person" : "business"},
          {"createdAt", row.created_at},
          {"updatedAt", row.updated_at}};
}

Result<CommandResult> create(Session& session, const Arguments& arguments) {
  const auto status =
      arguments.has("pending") ? AssociationStatus::pending : AssociationStatus::active;
  const auto type = arguments.text("type") == "person" ? EntityType::person : EntityType::business;
  COFFER_TRY(const auto row, flows::register_association(session.app.flows(),
                                                         arguments.text("NAME"), status, type));
  return CommandResult{
      .records = {association_view(row)},
      .note = "\nNext, register an application for it: coffer application register"};
}

Result<CommandResult> list_associations(Session& session, const Arguments&) {
  return session.app.flows().read([](store::Connection& db) {
    CommandResult result{.list = true, .columns = {"id", "name", "status", "createdAt"}};
    for (const auto& row : store::list_associations(db))
      result.records.push_back(association_view(row));
    return result;
  });
}

template <AssociationStatus kTo>
Result<CommandResult> change(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<AssociationId>(arguments, "ID"));
  COFFER_TRY(const auto row, flows::change_association_status(session.app.flows(), id, kTo));
  return CommandResult{.records = {association_view(row)}};
}

constexpr std::string_view kAssociationHint = "List IDs with coffer association list";

}  // namespace

std::vector<Command> association_commands() {
  const Argument id = positional("ID", "ID of the association");
  std::vector<Command> out{
      {.path = "association create",
       .summary = "Create an association",
       .label = "Create association",
       .run = create,
       .arguments = {positional("NAME", "Name of the association"),
                     toggle("pending",
                            "Create it as pending: it can read data, but cannot move money"),
                     choice("type", "person|business",
                            "Whether it pays as a person or as a business", "business")}},
      {.path = "association list",
       .summary = "List associations",
       .run = list_associations,
       .role = OperatorRole::viewer},
      {.path = "association activate",
       .summary = "Activate a pending or suspended association",
       .label = "Activate association",
       .consequence = "It can move money immediately.",
       .run = change<AssociationStatus::active>,
       .role = OperatorRole::operating,
       .arguments = {id},
       .hint = kAssociationHint,
       .sensitive = true},
      {.path = "association suspend",
       .summary = "Suspend an association: payments are refused, reads and settlements in progress "
                  "continue",
       .label = "Suspend association",
       .consequence =
           "Payments are refused immediately. Reads and settlements in progress continue.",
       .run = change<AssociationStatus::suspended>,
       .role = OperatorRole::operating,
       .arguments = {id},
       .hint = kAssociationHint},
  };
  for (Command& one : association_quota_commands()) out.push_back(std::move(one));
  return out;
}

}  // namespace coffer::cli
