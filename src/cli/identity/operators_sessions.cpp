#include "cli/identity/operators_sessions.h"

#include "app/app.h"
#include "cli/command_groups.h"
#include "flows/identity/operators.h"

namespace coffer::cli {
namespace {

Result<store::OperatorRow> find(Session& session, const std::string& name) {
  return flows::find_operator(session.app.flows(), name);
}

Result<CommandResult> list_sessions(Session& session, const Arguments& arguments) {
  const flows::Context& flows = session.app.flows();
  std::optional<OperatorId> of;
  if (const auto name = arguments.find("operator")) {
    COFFER_TRY(const auto row, find(session, *name));
    of = row.id;
  }
  CommandResult result{.list = true, .columns = {"id", "operator", "address", "beganAt", "idleMs"}};
  for (const auto& listed : session.app.sessions().list(of, flows.clock.monotonic_ms())) {
    Record record = session_record(listed, flows.clock);
    COFFER_TRY(const auto name, flows::operator_name(flows, listed.session.operator_id));
    record.insert(record.begin() + 1, Field("operator", name));
    result.records.push_back(std::move(record));
  }
  return result;
}

Result<CommandResult> end(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto row, find(session, arguments.text("NAME")));
  flows::OperatorSessions& sessions = session.app.sessions();
  if (const auto id = arguments.find("session")) {
    if (!sessions.end_listed(*id, row.id)) {
      return unexpected(Slug::not_found, "This operator has no session with this ID.");
    }
    return CommandResult{.records = {{{"operator", row.name}, {"ended", 1}}}};
  }
  const auto there = sessions.list(row.id, session.app.flows().clock.monotonic_ms());
  // A newer version of the row ends every session, including one that begins meanwhile.
  COFFER_TRY_VOID(flows::end_operator_sessions(session.app.flows(), row.name));
  for (const auto& listed : there) sessions.end_listed(listed.id, row.id);
  return CommandResult{
      .records = {{{"operator", row.name}, {"ended", static_cast<int>(there.size())}}}};
}

}  // namespace

Record session_record(const flows::ListedSession& listed, const Clock& clock) {
  return {{"id", listed.id},
          {"address", listed.session.address},
          {"browser", listed.session.browser},
          {"beganAt", listed.session.began_at},
          {"idleMs", clock.monotonic_ms() - listed.session.used_ms}};
}

std::vector<Command> operator_session_commands() {
  return {{.path = "operator sessions",
           .summary = "List the sessions of operators on the admin page",
           .label = "List sessions",
           .run = list_sessions,
           .arguments = {on_page(option("operator", "NAME", "Only sessions of this operator"),
                                 "Operator")},
           .hint = "List operators with coffer operator list",
           .alone = true},
          {.path = "operator end-sessions",
           .summary = "End the sessions of an operator",
           .label = "End sessions",
           .consequence = "Their sessions end immediately. They can sign in again.",
           .run = end,
           .arguments = {positional("NAME", "Name of the operator"),
                         on_page(option("session", "ID", "Only this session, from the list"),
                                 "Session")},
           .hint = "List sessions with coffer operator sessions",
           .alone = true}};
}

}  // namespace coffer::cli
