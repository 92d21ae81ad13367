#include "app/app.h"
#include "cli/command_groups.h"
#include "cli/paging.h"
#include "flows/identity/user_changes.h"

namespace coffer::cli {
namespace {

Record user_view(const store::UserRow& row) {
  return {{"id", row.id},
          {"username", row.username},
          {"associationId", row.association},
          {"status", row.suspended ? "suspended" : "active"},
          {"createdAt", row.created_at},
          {"updatedAt", row.updated_at}};
}

/// The user with the new secrets, which the operator hands over. Omits secrets that did not change.
CommandResult user_view(const flows::EnrolledUser& enrolled) {
  Record record = user_view(enrolled.user);
  if (!enrolled.password.empty()) record.emplace_back("password", enrolled.password);
  if (!enrolled.otpauth_uri.empty()) record.emplace_back("otpauthUri", enrolled.otpauth_uri);
  return {.records = {std::move(record)},
          .note =
              "\nCopy these secrets now. You won't see them again. Enter the otpauth URI in an "
              "authenticator app, as text or as a QR code."};
}

Result<CommandResult> user_add(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto association, id_argument<AssociationId>(arguments, "association"));
  COFFER_TRY(const auto enrolled,
             flows::add_user(session.app.flows(), arguments.text("USERNAME"), association));
  return user_view(enrolled);
}

Result<CommandResult> list_users(Session&, store::Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto at, page_argument(arguments));
  return page_of({"id", "username", "associationId", "status", "createdAt"},
                 store::list_users(db, at),
                 [](const store::UserRow& row) { return user_view(row); });
}

template <bool kSuspended>
Result<CommandResult> suspend_user(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<UserId>(arguments, "ID"));
  COFFER_TRY(const auto row, flows::suspend_user(session.app.flows(), id, kSuspended));
  return CommandResult{.records = {user_view(row)}};
}

using Reset = Result<flows::EnrolledUser> (*)(const flows::Context&, UserId);

template <Reset kReset>
Result<CommandResult> reset(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<UserId>(arguments, "ID"));
  COFFER_TRY(const auto enrolled, kReset(session.app.flows(), id));
  return user_view(enrolled);
}

}  // namespace

std::vector<Command> user_commands() {
  const Argument id = positional_id("ID", "ID of the user", "List users with coffer user list");
  return {
      for_administrators(
          "user add", "Add a user who logs in with a password and a one-time code", "Add user",
          "The password and the authenticator key are shown once.", user_add,
          {on_page(positional("USERNAME", "User name: 1 to 64 characters of A-Z a-z 0-9 . _ @ + -"),
                   "User name"),
           required_option("association", "ID", "Association of the user")},
          {.hint = "List IDs with coffer association list"}),
      for_viewers("user list", "List users of all associations, newest first", list_users,
                  page_arguments()),
      for_operators("user suspend", "Suspend a user and revoke their tokens", "Suspend user",
                    "Their tokens are revoked immediately.", suspend_user<true>, {id}),
      for_operators("user resume", "Resume a suspended user", "Resume user",
                    "They can log in again immediately.", suspend_user<false>, {id},
                    {.sensitive = true}),
      for_administrators("user reset-otp", "Issue a new authenticator key for a user",
                         "Reset authenticator",
                         "The old authenticator stops working. The new key is shown once.",
                         reset<flows::reset_otp>, {id}),
      for_administrators("user reset-password", "Issue a new password for a user", "Reset password",
                         "The old password stops working. The new one is shown once.",
                         reset<flows::reset_password>, {id}),
  };
}

}  // namespace coffer::cli
