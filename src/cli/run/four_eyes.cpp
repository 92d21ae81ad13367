#include "cli/run/four_eyes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/app.h"
#include "flows/identity/approvals.h"
#include "store/identity/operators.h"

namespace coffer::cli {
namespace {

std::string_view status_of(const store::ApprovalRow& row, Timestamp now) {
  if (flows::end_of(row)) return "ended";
  const bool expired = row.state == ApprovalState::waiting && row.expires_at.ms <= now.ms;
  return expired ? "expired" : name(row.state);
}

/// The problem of a failed command, or the reason why the request ended.
std::optional<std::string> outcome_of(const store::ApprovalRow& row) {
  if (row.state == ApprovalState::done) return std::nullopt;
  const auto end = flows::end_of(row);
  return end ? std::optional(std::string(end->name)) : row.outcome;
}

/// The entry of the sealed arguments with what the preview showed. No argument has this name.
constexpr const char* kSeen = "";

/// `101.50 USDC, Amina Otieno, ****5678`: what a request moves, and to whom.
std::optional<std::string> subject_of(Session& session, const store::ApprovalRow& row) {
  const auto asked = requested_arguments(session, row);
  if (!asked) return std::nullopt;
  std::string out;
  for (const Record& one : asked->seen) {
    const std::string name = text_in(one, "name").value_or("");
    if (name != "total" && name != "destinationName" && name != "destinationAccount") continue;
    out += (out.empty() ? "" : ", ") + text_in(one, "value").value_or("");
  }
  return out.empty() ? std::nullopt : std::optional(out);
}

}  // namespace

std::optional<std::string> text_in(const Record& record, std::string_view key) {
  const auto found = std::ranges::find(record, key, &Field::key);
  const auto* text = found == record.end() ? nullptr : std::get_if<std::string>(&found->value);
  return text == nullptr ? std::nullopt : std::optional(*text);
}

Result<RequestedArguments> requested_arguments(Session& session, const store::ApprovalRow& row) {
  RequestedArguments out;
  if (row.sealed_arguments.empty()) return out;
  COFFER_TRY(out.values, flows::requested_arguments(session.app.flows(), row));
  const auto seen = out.values.extract(kSeen);
  if (seen.empty()) return out;
  const auto shown = nlohmann::ordered_json::parse(seen.mapped());
  for (const auto& [name, value] : shown.items()) {
    if (value.is_string()) out.seen.push_back({{"name", name}, {"value", std::string(value)}});
  }
  return out;
}

Record approval_view(Session& session, const store::ApprovalRow& row) {
  return {{"id", row.id},
          {"status", status_of(row, session.app.queue().now())},
          {"requestedBy", row.operator_name},
          {"command", row.command},
          {"arguments", row.detail},
          {"subject", subject_of(session, row)},
          {"requestedAt", row.requested_at},
          {"expiresAt", row.expires_at},
          {"decidedBy", row.decided_by},
          {"decidedAt", row.decided_at},
          {"outcome", outcome_of(row)},
          {kPaymentOf.data(), row.state == ApprovalState::done ? row.outcome : std::nullopt}};
}

bool is_under_four_eyes(const Command& command) {
  return needs_recent_sign_in(command) && !command.alone && !command.demo_only;
}

bool waits_for_approval(Session& session, const Command& command, const Arguments& arguments) {
  if (!session.actor.id || !is_under_four_eyes(command)) return false;
  if (!command.preview.empty() && arguments.has(std::string(command.preview))) return false;
  const auto moved = command.moves == nullptr ? std::nullopt : command.moves(session, arguments);
  return session.app.config().four_eyes.waits(moved);
}

Result<CommandResult> request_approval(Session& session, const Command& command,
                                       const Arguments& arguments, const std::string& detail,
                                       const Record& seen) {
  auto sealed = arguments.values;
  if (!seen.empty()) sealed[kSeen] = to_json(seen, false);
  COFFER_TRY(const auto row,
             flows::request_approval(session.app.flows(), session.actor,
                                     {std::string(command.path), detail, std::move(sealed)}));
  COFFER_TRY(const bool alone, session.app.flows().read([&](store::Connection& db) {
    return std::ranges::none_of(store::list_operators(db), [&](const store::OperatorRow& each) {
      return each.id != session.actor.id && !each.suspended && each.password_hash &&
             each.role >= command.role;
    });
  }));
  std::string note = "Nothing has changed yet: a second operator must approve this command.";
  if (alone) {
    const std::string role(name(command.role));
    note += " No other operator has the role " + role +
            ". On the command line of the server, coffer operator add NAME --role " + role +
            " adds one without an approval.";
  }
  return CommandResult{
      .records = {approval_view(session, row)}, .note = std::move(note), .waits = true};
}

}  // namespace coffer::cli
