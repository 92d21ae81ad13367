#include "cli/commands/operators.h"

#include <cstdint>

#include "app.h"
#include "base/check.h"
#include "cli/operating/paging.h"
#include "flows/operators/operator_sign_in.h"
#include "flows/operators/operators.h"
#include "store/identity/acts.h"

namespace coffer::cli {
namespace {

/// Whether and how somebody gets in.
std::string_view status_of(const store::OperatorRow& row) {
  if (row.suspended) return "suspended";
  if (!row.password_hash) return "invited";
  return flows::needs_otp(row) ? "without authenticator" : "active";
}

Record view(const store::OperatorRow& row) {
  return {{"name", row.name},
          {"role", name(row.role)},
          {"status", status_of(row)},
          {"authenticator", row.sealed_otp.has_value()},
          {"createdAt", row.created_at.to_string()},
          {"updatedAt", row.updated_at.to_string()}};
}

/// Where a browser takes a one-time link to.
std::string link_address(Session& session, const Secret& link) {
  return session.app.admin_origin() + "/admin/#claim=" + link.reveal();
}

Answer with_link(Session& session, const flows::InvitedOperator& invited) {
  Record record = view(invited.row);
  record.emplace_back("link", link_address(session, invited.link));
  return {.records = {std::move(record)},
          .note =
              "\nHand the link over: it works once, for 24 hours, and lets its holder choose a "
              "password."};
}

Result<OperatorRole> role_argument(const Arguments& arguments) {
  const auto role = parse_operator_role(arguments.text("role"));
  COFFER_CHECK(role.has_value());  // a choice: judged by the table
  return *role;
}

Result<Answer> add(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto role, role_argument(arguments));
  COFFER_TRY(const auto invited,
             flows::invite_operator(session.app.flows(), arguments.text("NAME"), role));
  return with_link(session, invited);
}

Result<Answer> list(Session& session, const Arguments&) {
  return store::with_reader(session.app.database(), [](store::Connection& db) -> Result<Answer> {
    Answer answer{.list = true, .columns = {"name", "role", "status", "createdAt"}};
    for (const auto& row : store::list_operators(db)) answer.records.push_back(view(row));
    return answer;
  });
}

Result<Answer> reset(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto invited,
             flows::reset_operator(session.app.flows(), arguments.text("NAME")));
  return with_link(session, invited);
}

Result<Answer> change_role(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto role, role_argument(arguments));
  COFFER_TRY(const auto row,
             flows::change_operator_role(session.app.flows(), arguments.text("NAME"), role));
  return Answer{.records = {view(row)}};
}

template <bool kSuspended>
Result<Answer> suspend(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto row,
             flows::suspend_operator(session.app.flows(), arguments.text("NAME"), kSuspended));
  return Answer{.records = {view(row)}};
}

Result<Answer> admin_link(Session& session, const Arguments&) {
  COFFER_TRY(const Secret link, flows::administrator_link(session.app.flows()));
  return Answer{.records = {{{"link", link_address(session, link)}}},
                .note =
                    "\nWhoever opens it first becomes an administrator: it works once, for 24 "
                    "hours."};
}

Result<Answer> list_acts(Session& session, const Arguments& arguments) {
  store::ActFilter filter{arguments.find("actor"), arguments.find("command"), std::nullopt};
  COFFER_TRY(filter.limit, number_argument<int>(arguments, "limit", 1, 500));
  if (arguments.has("before")) {
    COFFER_TRY(filter.before, number_argument<std::int64_t>(arguments, "before", 1, INT64_MAX));
  }
  return store::with_reader(session.app.database(), [&](store::Connection& db) -> Result<Answer> {
    Answer answer{.list = true, .columns = {"act", "at", "actor", "command", "outcome"}};
    auto found = store::list_acts(db, filter);
    if (found.cut_at) {
      answer.note =
          cut_short_note() + " Continue with --before " + std::to_string(*found.cut_at) + '.';
    }
    for (auto& act : found.rows) {
      answer.records.push_back({{"act", std::to_string(act.act)},
                                {"at", act.at.to_string()},
                                {"actor", std::move(act.actor)},
                                {"command", std::move(act.command)},
                                {"arguments", std::move(act.detail)},
                                {"outcome", std::move(act.outcome)},
                                {"answer", std::move(act.answer)}});
    }
    return answer;
  });
}

constexpr std::string_view kHint = "coffer operator list shows who there is";
constexpr std::string_view kRoles = "viewer|operator|administrator";

}  // namespace

std::vector<Command> operator_commands() {
  const Argument who = positional("NAME", "Its name");
  return {
      {.path = "operator add",
       .summary = "Invite a person to the admin page, by a one-time link",
       .run = add,
       .arguments = {positional("NAME", "1 to 64 of A-Z a-z 0-9 . _ @ + -"),
                     choice("role", kRoles, "What it may do", "operator")}},
      {.path = "operator list",
       .summary = "List who may use the admin page",
       .run = list,
       .role = OperatorRole::viewer},
      {.path = "operator role",
       .summary = "Change what an operator may do, and end its sessions",
       .run = change_role,
       .arguments = {who, choice("role", kRoles, "What it may do", "operator")},
       .hint = kHint},
      {.path = "operator suspend",
       .summary = "End the sessions of an operator and refuse new ones",
       .run = suspend<true>,
       .arguments = {who},
       .hint = kHint},
      {.path = "operator resume",
       .summary = "Let a suspended operator sign in again",
       .run = suspend<false>,
       .arguments = {who},
       .hint = kHint},
      {.path = "operator reset",
       .summary = "Take password and authenticator away, and give a new one-time link",
       .run = reset,
       .arguments = {who},
       .hint = kHint},
      {.path = "admin link",
       .summary = "A one-time link that makes its holder an administrator of the admin page",
       .run = admin_link},
      {.path = "audit list",
       .summary = "What was done from the admin page and the command line, newest first",
       .run = list_acts,
       .role = OperatorRole::viewer,
       .arguments = {option("actor", "NAME", "Only what this one did"),
                     option("command", "COMMAND", "Only this command, as in \"wallet verify\""),
                     option("before", "ACT", "Only what is older than this act"),
                     option("limit", "N", "At most this many, up to 500", "50")}},
  };
}

}  // namespace coffer::cli
