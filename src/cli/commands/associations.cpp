#include "cli/commands/associations.h"

#include "app.h"
#include "cli/commands/associations_quotas.h"
#include "flows/tenancy_changes.h"
#include "store/tenants.h"

namespace coffer::cli {
namespace {

Record view(const store::AssociationRow& row) {
  return {{"id", row.id.to_string()},
          {"name", row.name},
          {"status", name(row.status)},
          {"type", row.entity_type == EntityType::person ? "person" : "business"},
          {"createdAt", row.created_at.to_string()},
          {"updatedAt", row.updated_at.to_string()}};
}

Result<Answer> create(Session& session, const Arguments& arguments) {
  const auto status =
      arguments.has("pending") ? AssociationStatus::pending : AssociationStatus::active;
  const auto type = arguments.text("type") == "person" ? EntityType::person : EntityType::business;
  COFFER_TRY(const auto row, flows::register_association(session.app.flows(),
                                                         arguments.text("NAME"), status, type));
  return Answer{.records = {view(row)},
                .note = "\nNext, register what calls the API for it: coffer application register"};
}

Result<Answer> list(Session& session, const Arguments&) {
  return store::with_reader(session.app.database(), [](store::Connection& db) -> Result<Answer> {
    Answer answer{.list = true, .columns = {"id", "name", "status", "createdAt"}};
    for (const auto& row : store::list_associations(db)) answer.records.push_back(view(row));
    return answer;
  });
}

template <AssociationStatus kTo>
Result<Answer> change(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<AssociationId>(arguments, "ID"));
  COFFER_TRY(const auto row, flows::change_association_status(session.app.flows(), id, kTo));
  return Answer{.records = {view(row)}};
}

constexpr std::string_view kHint = "coffer association list shows what there is";

}  // namespace

std::vector<Command> association_commands() {
  const Argument id = positional("ID", "Its id");
  std::vector<Command> out{
      {.path = "association create",
       .summary = "Register an association",
       .run = create,
       .arguments = {positional("NAME", "Its name"),
                     toggle("pending", "Not active yet: it reads, but moves no money"),
                     choice("type", "person|business", "Who it is as a sender", "business")}},
      {.path = "association list",
       .summary = "List the associations",
       .run = list,
       .role = OperatorRole::viewer},
      {.path = "association activate",
       .summary = "Let a pending or suspended association move money",
       .run = change<AssociationStatus::active>,
       .role = OperatorRole::operating,
       .arguments = {id},
       .hint = kHint},
      {.path = "association suspend",
       .summary = "Refuse what moves money; reading goes on, running settlements finish",
       .run = change<AssociationStatus::suspended>,
       .role = OperatorRole::operating,
       .arguments = {id},
       .hint = kHint},
  };
  for (Command& one : association_quota_commands()) out.push_back(std::move(one));
  return out;
}

}  // namespace coffer::cli
