#include "flows/operations/alerts.h"

#include "app/app.h"
#include "base/platform/exit_code.h"
#include "cli/command_groups.h"
#include "cli/paging.h"

namespace coffer::cli {
namespace {

Record alert_view(const store::Message& message) {
  return {{"kind", name(message.kind)},
          {"channel", name(message.channel)},
          {"target", message.recipient},
          {"state", name(message.state)},
          {"attempts", message.attempts},
          {"createdAt", message.at},
          {"dueAt",
           message.state == MessageState::waiting ? std::optional(message.due_at) : std::nullopt},
          {"closedAt", message.closed_at},
          {"result", message.result}};
}

Record alert_view(const store::AlertRow& row, const std::vector<store::Message>& messages) {
  const AlertState& state = row.state;
  std::vector<Record> sent;
  for (const store::Message& each : messages) sent.push_back(alert_view(each));
  return {{"id", row.id},
          {"condition", name(state.condition)},
          {"summary", label(state.condition)},
          {"state", state.closed_at ? "ended" : "open"},
          {"count", row.count},
          {"beganAt", row.began_at},
          {"endedAt", state.closed_at ? state.gone_at : std::nullopt},
          {"messages", std::move(sent)}};
}

Result<CommandResult> list_alerts(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto at, page_argument(arguments));
  const auto wanted = arguments.find("state");
  const auto open = wanted ? std::optional(*wanted == "open") : std::nullopt;
  return session.app.flows().read([&](store::Connection& db) {
    CommandResult result{
        .list = true, .columns = {"condition", "state", "count", "beganAt", "endedAt", "messages"}};
    put_page(result, store::newest_alerts(db, open, at), [&](const auto& row) {
      return alert_view(row, store::messages_of_alert(db, row.key));
    });
    return result;
  });
}

Result<CommandResult> test(Session& session, const Arguments&) {
  COFFER_TRY(const auto tests, flows::test_alerts(session.app.flows()));
  CommandResult result{.list = true};
  for (const flows::AlertTest& each : tests) {
    if (!each.result.sent) result.exit_code = exit_code::kFailed;
    result.records.push_back({{"channel", name(each.target.channel)},
                              {"target", each.target.name},
                              {"sent", each.result.sent},
                              {"result", each.result.detail}});
  }
  return result;
}

}  // namespace

std::vector<Command> alert_commands() {
  return {
      {.path = "alert list",
       .summary = "List alerts and the messages sent about them, newest first",
       .run = list_alerts,
       .role = OperatorRole::viewer,
       .arguments = joined({choice("state", "open|ended", "Filter by state")}, page_arguments())},
      {.path = "alert test",
       .summary = "Send a test message to each alert target",
       .label = "Send a test",
       .consequence = "Each target receives one message marked as a test.",
       .run = test,
       .role = OperatorRole::operating,
       .details = "Exits with 1 if a target did not accept the message.",
       .calls_out = true}};
}

}  // namespace coffer::cli
