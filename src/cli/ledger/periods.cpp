// coffer period: closed months of the ledger.
#include "app/app.h"
#include "cli/command_groups.h"
#include "flows/ledger/period_close.h"

namespace coffer::cli {
namespace {

Record period_view(const store::ClosedPeriod& row) {
  return {{"period", flows::period_text(row.period)},
          {"closedAt", row.closed_at},
          {"lastEntrySet", row.journal},
          {"accounts", row.accounts},
          {"digest", to_hex(as_text(row.digest))}};
}

Result<CommandResult> close(Session& session, const Arguments& arguments) {
  const auto period = flows::parse_period(arguments.text("MONTH"));
  if (!period) {
    return unexpected(Slug::malformed_request,
                      "Invalid MONTH \"" + arguments.text("MONTH") + "\". Write it like 2026-10.");
  }
  COFFER_TRY(const auto closed, flows::close_period(session.app.flows(), *period));
  return CommandResult{.records = {period_view(closed)}};
}

Result<CommandResult> list_periods(Session&, store::Connection& db, const Arguments&) {
  return list_of({}, store::list_closed_periods(db), period_view);
}

}  // namespace

std::vector<Command> period_commands() {
  return {for_administrators(
              "period close", "Close a month of the ledger", "Close month",
              "The balances at its end are sealed. This cannot be undone.", close,
              {on_page(positional("MONTH", "Month that has ended (UTC), such as 2026-10"), "Month",
                       "2026-10")},
              {.details = "Months are closed one after the other. coffer verify computes the "
                          "balances of each closed month again."}),
          for_viewers("period list", "List closed months and their digests", list_periods)};
}

}  // namespace coffer::cli
