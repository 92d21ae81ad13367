#include "app/app.h"
#include "cli/command_groups.h"
#include "cli/paging.h"
#include "store/operations/noun_lists.h"

namespace coffer::cli {
namespace {

Record notification_view(const store::Notification& row) {
  return {{"transactionRecordId", row.payment_id}, {"channel", name(row.message.channel)},
          {"recipient", row.message.recipient},    {"state", name(row.message.state)},
          {"attempts", row.message.attempts},      {"environment", name(row.environment)},
          {"associationId", row.association},      {"dueAt", row.message.due_at},
          {"closedAt", row.message.closed_at}};
}

Result<CommandResult> list_notifications(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto at, page_argument(arguments));
  return session.app.flows().read([&](store::Connection& db) {
    CommandResult result{.list = true,
                         .columns = {"transactionRecordId", "channel", "recipient", "state",
                                     "attempts", "environment", "dueAt"}};
    const auto state = parse_term<MessageState>(arguments.find("state").value_or(""));
    put_page(result, store::newest_notifications(db, state, at), notification_view);
    return result;
  });
}

}  // namespace

std::vector<Command> notification_commands() {
  return {{.path = "notification list",
           .summary = "List messages to recipients of payments, newest first",
           .run = list_notifications,
           .role = OperatorRole::viewer,
           .arguments = joined({choice("state", choices<MessageState>(), "Filter by state")},
                               page_arguments())}};
}

}  // namespace coffer::cli
