#include "flows/identity/approvals.h"

#include <nlohmann/json.hpp>

#include "flows/identity/audit_log.h"
#include "flows/identity/operator_tokens.h"
#include "store/identity/operators.h"

namespace coffer::flows {
namespace {

/// The sealing context that authenticates the arguments (store/operations/seals.cpp).
std::string seal_context(ApprovalId id) { return "approval:" + id.to_string(); }

Problem not_found() { return Problem(Slug::not_found, "The approval request was not found."); }

/// `conflict` unless the request is waiting.
Result<store::ApprovalRow> waiting_approval(store::Connection& db, ApprovalId id, Timestamp now) {
  auto row = store::find_approval(db, id);
  if (!row) return unexpected(not_found());
  if (row->state != ApprovalState::waiting) {
    return unexpected(Slug::conflict, "This request has already been decided by " +
                                          row->decided_by.value_or("") + ".");
  }
  if (const auto end = end_of(*row)) {
    return unexpected(Slug::conflict, "This request has ended because " + row->operator_name + " " +
                                          std::string(end->what) + ". Request the command again.");
  }
  if (row->expires_at.ms <= now.ms) {
    return unexpected(Slug::conflict,
                      "This request has expired. Ask " + row->operator_name + " to repeat it.");
  }
  return *std::move(row);
}

constexpr ApprovalEnd kSuspended{"operator-suspended", "was suspended"};
constexpr ApprovalEnd kChanged{"operator-changed", "got another role or new credentials"};

}  // namespace

std::optional<ApprovalEnd> end_of(const store::ApprovalRow& row) {
  if (row.state != ApprovalState::waiting) return std::nullopt;
  if (row.operator_suspended) return kSuspended;
  return row.operator_version == row.version ? std::nullopt : std::optional(kChanged);
}

Result<store::ApprovalRow> request_approval(const Context& context, const Actor& actor,
                                            const RequestedCommand& command) {
  store::ApprovalRow row;
  row.id = context.random.id<ApprovalId>(context.clock.now());
  row.operator_id = actor.id.value();
  row.command = command.command;
  row.detail = command.detail;
  row.sealed_arguments =
      context.sealer.seal(nlohmann::json(command.arguments).dump(), seal_context(row.id));
  return context.write([&](store::WriteTx& tx) -> Result<store::ApprovalRow> {
    const auto who = store::find_operator(tx.db(), row.operator_id);
    if (!who || who->suspended) return unexpected(Slug::unauthorized, "Sign in first.");
    if (store::count_waiting_approvals(tx.db(), row.operator_id, tx.now()) >=
        kWaitingApprovalsMax) {
      return unexpected(Slug::conflict,
                        "Too many of your requests are waiting for approval. Reject some first.");
    }
    row.version = who->version;
    row.requested_at = tx.now();
    row.expires_at = tx.now().plus_ms(kApprovalLifetimeMs);
    store::insert_approval(tx, row);
    append_audit_action(tx, {actor.name, command.command, command.detail, "requested",
                             "approval " + row.id.to_string()});
    return *store::find_approval(tx.db(), row.id);
  });
}

Result<store::ApprovalRow> find_approval(const Context& context, ApprovalId id) {
  return context.read([&](store::Connection& db) -> Result<store::ApprovalRow> {
    auto row = store::find_approval(db, id);
    if (!row) return unexpected(not_found());
    return *std::move(row);
  });
}

Result<std::map<std::string, std::string>> requested_arguments(const Context& context,
                                                               const store::ApprovalRow& row) {
  COFFER_TRY(const Secret text, context.sealer.open(row.sealed_arguments, seal_context(row.id)));
  return nlohmann::json::parse(text.reveal()).get<std::map<std::string, std::string>>();
}

Result<store::ApprovalRow> approvable(store::Connection& db, ApprovalId id, const Actor& approver,
                                      Timestamp now) {
  COFFER_TRY(auto row, waiting_approval(db, id, now));
  if (!approver.id) {
    return unexpected(Slug::forbidden,
                      "The command line does not identify an operator. Approve the request on the "
                      "admin page, or run the requested command here.");
  }
  if (*approver.id == row.operator_id) {
    return unexpected(Slug::forbidden, "You made this request. Another operator must approve it.");
  }
  const auto token = store::find_operator_token_of(db, row.operator_id);
  if (!token) return row;
  if (!acting_program(db, *token, now)) {
    return unexpected(Slug::conflict, "This request has ended, because the token of " +
                                          row.operator_name + " no longer works.");
  }
  // Both have seen the token, so one of them could request and approve alone.
  if (token->created_by == approver.id ||
      store::has_approved_token(db, row.operator_name, approver.name)) {
    return unexpected(Slug::forbidden,
                      "You created or approved the token that made this request. Another operator "
                      "must approve it.");
  }
  return row;
}

Result<void> approve(store::WriteTx& tx, ApprovalId id, const Actor& approver) {
  COFFER_TRY(const auto row, approvable(tx.db(), id, approver, tx.now()));
  store::decide_approval(tx, row.id, ApprovalState::started, approver.name);
  return {};
}

Result<void> finish_approval(const Context& context, ApprovalId id, const std::string& problem,
                             const std::optional<std::string>& made) {
  return context.write([&](store::WriteTx& tx) {
    store::finish_approval(tx, id, problem.empty() ? ApprovalState::done : ApprovalState::failed,
                           problem.empty() ? made : std::optional(problem));
  });
}

Result<store::ApprovalRow> reject_approval(const Context& context, ApprovalId id,
                                           const Actor& actor) {
  return context.write([&](store::WriteTx& tx) -> Result<store::ApprovalRow> {
    COFFER_TRY(const auto row, waiting_approval(tx.db(), id, tx.now()));
    store::decide_approval(tx, row.id, ApprovalState::rejected, actor.name);
    return *store::find_approval(tx.db(), id);
  });
}

}  // namespace coffer::flows
