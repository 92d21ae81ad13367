// Which commands wait for a second operator (docs/operating.md#four-eyes).
#pragma once

#include "cli/command.h"
#include "store/identity/approvals.h"

namespace coffer::cli {

/// Whether the setting four_eyes applies to the command: it moves money or changes access. Commands
/// of a demo move no real money.
bool is_under_four_eyes(const Command& command);
/// Whether the command needs approval: an operator runs it on the admin page, and the value of
/// four_eyes does not exempt it.
bool waits_for_approval(Session& session, const Command& command, const Arguments& arguments);
/// Stores a request for approval instead of running the command. `detail` is for the audit log, and
/// `seen` is what its preview shows.
Result<CommandResult> request_approval(Session& session, const Command& command,
                                       const Arguments& arguments, const std::string& detail,
                                       const Record& seen);
/// The arguments of a request that has not been decided, and what the preview showed, as
/// `{name, value}`.
struct RequestedArguments {
  std::map<std::string, std::string> values;
  std::vector<Record> seen;
};
Result<RequestedArguments> requested_arguments(Session& session, const store::ApprovalRow& row);
/// The member of a result with the record ID of the payment that a command has made.
inline constexpr std::string_view kPaymentOf = "transactionRecordId";
/// The text of a member; nullopt if it is absent or not a text.
std::optional<std::string> text_in(const Record& record, std::string_view key);
/// A request as the lists show it.
Record approval_view(Session& session, const store::ApprovalRow& row);

}  // namespace coffer::cli
