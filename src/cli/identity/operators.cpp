#include "cli/identity/operators.h"

#include <cstdint>

#include "app/app.h"
#include "base/check.h"
#include "cli/command_groups.h"
#include "cli/paging.h"
#include "flows/identity/operator_change.h"
#include "flows/identity/operator_sign_in.h"
#include "flows/identity/operators.h"
#include "flows/identity/passkeys.h"
#include "flows/identity/provider_sign_in.h"
#include "store/identity/audit_log.h"

namespace coffer::cli {
namespace {

/// The sign-in status of an operator.
std::string_view status_of(const store::OperatorRow& row) {
  if (row.token) return "token";
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
  return session.app.listeners().admin_origin() + "/admin/#claim=" + link.reveal();
}

CommandResult with_link(Session& session, const flows::InvitedOperator& invited) {
  Record record = operator_view(invited.row);
  record.emplace_back("link", link_address(session, invited.link));
  return {.records = {std::move(record)},
          .note =
              "\nGive this link to the operator. It works once, expires after 24 hours, and lets "
              "its holder choose a password."};
}

OperatorRole role_argument(const Arguments& arguments) {
  return *parse_term<OperatorRole>(arguments.text("role"));
}

Result<CommandResult> add(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto invited, flows::invite_operator(session.app.flows(), arguments.text("NAME"),
                                                        role_argument(arguments)));
  return with_link(session, invited);
}

Result<CommandResult> list_operators(Session&, store::Connection& db, const Arguments&) {
  return list_of({"name", "role", "status", "createdAt"}, store::list_operators(db), operator_view);
}

Result<CommandResult> reset(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto invited,
             flows::reset_operator(session.app.flows(), arguments.text("NAME")));
  return with_link(session, invited);
}

Result<CommandResult> change_role(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto row,
             flows::change_operator_role(session.app.flows(), arguments.text("NAME"),
                                         role_argument(arguments)));
  return CommandResult{.records = {operator_view(row)}};
}

template <bool kSuspended>
Result<CommandResult> suspend_operator(Session& session, const Arguments& arguments) {
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

Record audit_view(const store::AuditEntryView& entry) {
  return {{"entry", std::to_string(entry.entry)},
          {"at", entry.at},
          {"actor", entry.actor},
          {"command", entry.command},
          {"arguments", entry.detail},
          {"outcome", entry.outcome},
          {"details", entry.result}};
}

Result<CommandResult> list_audit_entries(Session&, store::Connection& db,
                                         const Arguments& arguments) {
  const store::AuditFilter filter{arguments.find("actor"), arguments.find("command")};
  store::PageAt page;
  COFFER_TRY(page.limit, number_argument<int>(arguments, "limit", 1, 500));
  COFFER_TRY(page.key, optional_number<std::int64_t>(arguments, "before", 1, INT64_MAX));
  const auto found = store::list_audit_entries(db, filter, page);
  CommandResult result =
      list_of({"entry", "at", "actor", "command", "outcome"}, found.rows, audit_view);
  if (found.cut_short) {
    result.note = cut_short_note() + " Continue with --before " + std::to_string(*found.next) + '.';
  }
  return result;
}

Result<CommandResult> list_sessions(Session& session, const Arguments& arguments) {
  const flows::Context& flows = session.app.flows();
  std::optional<OperatorId> of;
  if (const auto name = arguments.find("operator")) {
    COFFER_TRY(const auto row, flows::find_operator(flows, *name));
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

Result<CommandResult> end_sessions(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto row, flows::find_operator(session.app.flows(), arguments.text("NAME")));
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

Result<CommandResult> list_passkeys(Session& session, const Arguments& arguments) {
  const flows::Context& flows = session.app.flows();
  COFFER_TRY(const auto row, flows::find_operator(flows, arguments.text("NAME")));
  COFFER_TRY(const auto passkeys, flows::list_passkeys(flows, row.id));
  return list_of({"id", "name", "site", "createdAt", "usedAt"}, passkeys, passkey_record);
}

Result<CommandResult> remove_passkey(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto row, flows::change_operator_named(
                                 session.app.flows(), arguments.text("NAME"),
                                 [&](store::WriteTx& tx, store::OperatorRow& now) {
                                   return flows::remove_passkey(tx, now, arguments.text("ID"));
                                 }));
  return CommandResult{.records = {{{"operator", row.name}, {"passkeys", row.passkeys}}}};
}

CommandResult linked(const store::OperatorRow& row) {
  return {.records = {{{"name", row.name}, {"subject", row.subject}}}};
}

Result<CommandResult> link(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto row,
             flows::link_operator(session.app.flows(), arguments.text("NAME"),
                                  session.app.config().oidc_issuer, arguments.text("subject")));
  return linked(row);
}

Result<CommandResult> unlink(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto row, flows::unlink_operator(session.app.flows(), arguments.text("NAME")));
  return linked(row);
}

constexpr std::string_view kOperatorHint = "List operators with coffer operator list";
constexpr Argument kWho = positional_id("NAME", "Name of the operator", kOperatorHint);

}  // namespace

Record passkey_record(const store::PasskeyRow& row) {
  return {{"id", flows::passkey_list_id(row)},
          {"name", row.name},
          {"site", row.site},
          {"createdAt", row.created_at},
          {"usedAt", row.used_at}};
}

Record session_record(const flows::ListedSession& listed, const Clock& clock) {
  return {{"id", listed.id},
          {"address", listed.session.address},
          {"browser", listed.session.browser},
          {"beganAt", listed.session.began_at},
          {"idleMs", clock.monotonic_ms() - listed.session.used_ms}};
}

std::vector<Command> operator_commands() {
  const Argument role = choice_of<OperatorRole>("role", "Role", "operator");
  Argument new_role = choice_of<OperatorRole>("role", "New role");
  new_role.required = true;
  new_role.member = "role";
  return {
      for_administrators(
          "operator add", "Add an operator and print a one-time sign-in link", "Add operator",
          "The link is shown once.", add,
          {positional("NAME", "Name: 1 to 64 characters of A-Z a-z 0-9 . _ @ + -"), role},
          {.by_person = true}),
      for_viewers("operator list", "List operators", list_operators),
      for_administrators("operator role", "Change the role of an operator and end their sessions",
                         "Change role", "Their sessions end immediately.", change_role,
                         {kWho, new_role}, {.by_person = true}),
      for_administrators("operator suspend", "Suspend an operator and end their sessions",
                         "Suspend operator", "Their sessions end immediately.",
                         suspend_operator<true>, {kWho}, {.alone = true}),
      for_administrators("operator resume", "Resume a suspended operator", "Resume operator",
                         "They can sign in again immediately.", suspend_operator<false>, {kWho},
                         {.by_person = true}),
      for_administrators(
          "operator reset",
          "Remove password, authenticator and passkeys, and print a new one-time link",
          "Reset sign-in",
          "Their password, authenticator and passkeys stop working. The new link is shown once.",
          reset, {kWho}, {.by_person = true}),
      for_administrators(
          "admin link", "Print a one-time link that makes its holder an administrator",
          "Create administrator link", "The first person who opens it becomes an administrator.",
          admin_link, {}, {.by_person = true}),
      for_viewers(
          "audit list", "List audit entries, newest first", list_audit_entries,
          {on_page(option("actor", "NAME", "Filter by operator or user"), "Operator or user"),
           on_page(option("command", "COMMAND", "Filter by command, such as \"wallet verify\""),
                   "Command", "wallet verify"),
           option("before", "ENTRY", "Only entries before this one"),
           option("limit", "N", "Maximum number of entries, up to 500", "50")}),
  };
}

std::vector<Command> operator_sign_in_commands() {
  return {
      for_administrators(
          "operator sessions", "List the sessions of operators on the admin page", "List sessions",
          "", list_sessions,
          {on_page(option("operator", "NAME", "Only sessions of this operator"), "Operator")},
          {.hint = kOperatorHint, .alone = true}),
      for_administrators(
          "operator end-sessions", "End the sessions of an operator", "End sessions",
          "Their sessions end immediately. They can sign in again.", end_sessions,
          {kWho, on_page(option("session", "ID", "Only this session, from the list"), "Session")},
          {.hint = "List sessions with coffer operator sessions", .alone = true}),
      for_administrators("operator passkeys", "List the passkeys of an operator", "List passkeys",
                         "", list_passkeys, {kWho}, {.alone = true}),
      for_administrators(
          "operator remove-passkey", "Remove a passkey of an operator and end their sessions",
          "Remove passkey", "It stops working immediately, and their sessions end.", remove_passkey,
          {kWho, on_page(positional("ID", "ID of the passkey, from the list"), "Passkey")},
          {.hint = "List passkeys with coffer operator passkeys", .by_person = true}),
      for_administrators(
          "operator link", "Let an operator sign in with an account of the identity provider",
          "Link account", "The owner of this account at the provider signs in as the operator.",
          link,
          {kWho, on_page(required_option("subject", "SUB",
                                         "Subject (sub) of the account; the audit log contains it "
                                         "after a rejected sign-in"),
                         "Subject")},
          {.by_person = true}),
      for_administrators("operator unlink",
                         "Remove the link to an account of the identity provider", "Unlink account",
                         "Their sessions end. They sign in with their password or a passkey.",
                         unlink, {kWho}, {.by_person = true})};
}

}  // namespace coffer::cli
