// Messages: alerts to the operator, and notifications to recipients of payments.
#include "app/app.h"
#include "base/platform/exit_code.h"
#include "cli/command_groups.h"
#include "cli/paging.h"
#include "flows/operations/alerts.h"
#include "store/operations/noun_lists.h"

namespace coffer::cli {
namespace {

Record message_view(const store::Message& message) {
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
  return {{"id", row.id},
          {"condition", name(state.condition)},
          {"summary", label(state.condition)},
          {"state", state.closed_at ? "ended" : "open"},
          {"count", row.count},
          {"beganAt", row.began_at},
          {"endedAt", state.closed_at ? state.gone_at : std::nullopt},
          {"messages", records_of(messages, message_view)}};
}

Record notification_view(const store::Notification& row) {
  return {{"transactionRecordId", row.payment_id}, {"channel", name(row.message.channel)},
          {"recipient", row.message.recipient},    {"state", name(row.message.state)},
          {"attempts", row.message.attempts},      {"environment", name(row.environment)},
          {"associationId", row.association},      {"dueAt", row.message.due_at},
          {"closedAt", row.message.closed_at}};
}

Result<CommandResult> list_notifications(Session&, store::Connection& db,
                                         const Arguments& arguments) {
  COFFER_TRY(const auto at, page_argument(arguments));
  return page_of(
      {"transactionRecordId", "channel", "recipient", "state", "attempts", "environment", "dueAt"},
      store::newest_notifications(db, optional_term<MessageState>(arguments, "state"), at),
      notification_view);
}

Result<CommandResult> list_alerts(Session&, store::Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto at, page_argument(arguments));
  const auto wanted = arguments.find("state");
  const auto open = wanted ? std::optional(*wanted == "open") : std::nullopt;
  return page_of({"condition", "state", "count", "beganAt", "endedAt", "messages"},
                 store::newest_alerts(db, open, at), [&](const store::AlertRow& row) {
                   return alert_view(row, store::messages_of_alert(db, row.key));
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
  return {for_viewers("alert list", "List alerts and the messages sent about them, newest first",
                      list_alerts,
                      joined({choice("state", "open|ended", "Filter by state")}, page_arguments())),
          {.path = "alert test",
           .summary = "Send a test message to each alert target",
           .label = "Send a test",
           .consequence = "Each target receives one message marked as a test.",
           .run = test,
           .role = OperatorRole::operating,
           .details = "Exits with 1 if a target did not accept the message.",
           .calls_out = true}};
}

std::vector<Command> notification_commands() {
  return {
      for_viewers("notification list", "List messages to recipients of payments, newest first",
                  list_notifications,
                  joined({choice_of<MessageState>("state", "Filter by state")}, page_arguments()))};
}

}  // namespace coffer::cli
