#include "flows/identity/operators.h"

#include <cstdint>

#include "app/app.h"
#include "base/check.h"
#include "cli/command_groups.h"
#include "cli/operations/paging.h"
#include "flows/identity/operator_sign_in.h"
#include "store/identity/audit_log.h"

namespace coffer::cli {
namespace {

/// The sign-in status of an operator.
std::string_view status_of(const store::OperatorRow& row) {
  if (row.suspended) return "suspended";
  if (!row.password_hash) return "invited";
  return flows::needs_second_factor(row) ? "without authenticator" : "active";
}

Record operator_view(const store::OperatorRow& row) {
  return {{"name", row.name},
          {"role", name(row.role)},
          {"status", status_of(row)},
          {"authenticator", row.sealed_otp.has_value()},
          {"passkeys", row.passkeys},
          {"subject", row.subject},
          {"createdAt", row.created_at},
          {"updatedAt", row.updated_at}};
}

/// The URL that a browser opens to use a one-time link.
std::string link_address(Session& session, const Secret& link) {
  return session.app.admin_origin() + "/admin/#claim=" + link.reveal();
}

CommandResult with_link(Session& session, const flows::InvitedOperator& invited) {
  Record record = operator_view(invited.row);
  record.emplace_back("link", link_address(session, invited.link));
  return {.records = {std::move(record)},
          .note =
              "\nGive this link to the operator. It works once, expires after 24 hours, and lets "
              "its holder choose a password."};
}

Result<OperatorRole> role_argument(const Arguments& arguments) {
  const auto role = parse_operator_role(arguments.text("role"));
  COFFER_CHECK(role.has_value());  // the table of arguments has checked the choice
  return *role;
}

Result<CommandResult> add(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto role, role_argument(arguments));
  COFFER_TRY(const auto invited,
             flows::invite_operator(session.app.flows(), arguments.text("NAME"), role));
  return with_link(session, invited);
}

Result<CommandResult> list_operators(Session& session, const Arguments&) {
  return session.app.flows().read([](store::Connection& db) {
    CommandResult result{.list = true, .columns = {"name", "role", "status", "createdAt"}};
    for (const auto& row : store::list_operators(db)) result.records.push_back(operator_view(row));
    return result;
  });
}

Result<CommandResult> reset(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto invited,
             flows::reset_operator(session.app.flows(), arguments.text("NAME")));
  return with_link(session, invited);
}

Result<CommandResult> change_role(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto role, role_argument(arguments));
  COFFER_TRY(const auto row,
             flows::change_operator_role(session.app.flows(), arguments.text("NAME"), role));
  return CommandResult{.records = {operator_view(row)}};
}

template <bool kSuspended>
Result<CommandResult> suspend(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto row,
             flows::suspend_operator(session.app.flows(), arguments.text("NAME"), kSuspended));
  return CommandResult{.records = {operator_view(row)}};
}

Result<CommandResult> admin_link(Session& session, const Arguments&) {
  COFFER_TRY(const Secret link, flows::administrator_link(session.app.flows()));
  return CommandResult{.records = {{{"link", link_address(session, link)}}},
                       .note =
                           "\nThe first person who opens this link becomes an administrator. It "
                           "works once and expires after 24 hours."};
}

Result<CommandResult> list_audit_entries(Session& session, const Arguments& arguments) {
  store::AuditFilter filter{arguments.find("actor"), arguments.find("command"), std::nullopt};
  COFFER_TRY(filter.limit, number_argument<int>(arguments, "limit", 1, 500));
  if (arguments.has("before")) {
    COFFER_TRY(filter.before, number_argument<std::int64_t>(arguments, "before", 1, INT64_MAX));
  }
  return session.app.flows().read([&](store::Connection& db) {
    CommandResult result{.list = true, .columns = {"act", "at", "actor", "command", "outcome"}};
    auto found = store::list_audit_entries(db, filter);
    if (found.cut_at) {
      result.note =
          cut_short_note() + " Continue with --before " + std::to_string(*found.cut_at) + '.';
    }
    for (auto& entry : found.rows) {
      result.records.push_back({{"act", std::to_string(entry.entry)},
                                {"at", entry.at},
                                {"actor", std::move(entry.actor)},
                                {"command", std::move(entry.command)},
                                {"arguments", std::move(entry.detail)},
                                {"outcome", std::move(entry.outcome)},
                                {"answer", std::move(entry.result)}});
    }
    return result;
  });
}

constexpr std::string_view kOperatorHint = "List operators with coffer operator list";
constexpr std::string_view kRoles = "viewer|operator|administrator";

}  // namespace

std::vector<Command> operator_commands() {
  const Argument who = positional("NAME", "Name of the operator");
  return {
      {.path = "operator add",
       .summary = "Add an operator and print a one-time sign-in link",
       .label = "Add operator",
       .consequence = "The link is shown once.",
       .run = add,
       .arguments = {positional("NAME", "Name: 1 to 64 characters of A-Z a-z 0-9 . _ @ + -"),
                     choice("role", kRoles, "Role", "operator")}},
      {.path = "operator list",
       .summary = "List operators",
       .run = list_operators,
       .role = OperatorRole::viewer},
      {.path = "operator role",
       .summary = "Change the role of an operator and end their sessions",
       .label = "Change role",
       .consequence = "Their sessions end immediately.",
       .run = change_role,
       .arguments = {who, choice("role", kRoles, "Role", "operator")},
       .hint = kOperatorHint},
      {.path = "operator suspend",
       .summary = "Suspend an operator and end their sessions",
       .label = "Suspend operator",
       .consequence = "Their sessions end immediately.",
       .run = suspend<true>,
       .arguments = {who},
       .hint = kOperatorHint,
       .alone = true},
      {.path = "operator resume",
       .summary = "Resume a suspended operator",
       .label = "Resume operator",
       .consequence = "They can sign in again immediately.",
       .run = suspend<false>,
       .arguments = {who},
       .hint = kOperatorHint},
      {.path = "operator reset",
       .summary = "Remove password, authenticator and passkeys, and print a new one-time link",
       .label = "Reset sign-in",
       .consequence =
           "Their password, authenticator and passkeys stop working. The new link is shown once.",
       .run = reset,
       .arguments = {who},
       .hint = kOperatorHint},
      {.path = "admin link",
       .summary = "Print a one-time link that makes its holder an administrator",
       .label = "Create administrator link",
       .consequence = "The first person who opens it becomes an administrator.",
       .run = admin_link},
      {.path = "audit list",
       .summary = "List audit entries, newest first",
       .run = list_audit_entries,
       .role = OperatorRole::viewer,
       .arguments =
           {on_page(option("actor", "NAME", "Filter by operator or user"), "Operator or user"),
            on_page(option("command", "COMMAND", "Filter by command, such as \"wallet verify\""),
                    "Command", "wallet verify"),
            option("before", "ACT", "Only entries before this one"),
            option("limit", "N", "Maximum number of entries, up to 500", "50")}},
  };
}

}  // namespace coffer::cli
