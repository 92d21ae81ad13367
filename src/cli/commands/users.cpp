#include "cli/commands/users.h"

#include "app.h"
#include "cli/operating/paging.h"
#include "flows/user_changes.h"

namespace coffer::cli {
namespace {

Record view(const store::UserRow& row) {
  return {{"id", row.id.to_string()},
          {"username", row.username},
          {"associationId", row.association.to_string()},
          {"status", row.suspended ? "suspended" : "active"},
          {"createdAt", row.created_at.to_string()},
          {"updatedAt", row.updated_at.to_string()}};
}

/// With what the operator hands over; what did not change is left out.
Answer view(const flows::EnrolledUser& enrolled) {
  Record record = view(enrolled.user);
  if (!enrolled.password.empty()) record.emplace_back("password", enrolled.password);
  if (!enrolled.otpauth_uri.empty()) record.emplace_back("otpauthUri", enrolled.otpauth_uri);
  return {.records = {std::move(record)},
          .note =
              "\nThis is shown once. An authenticator app reads the otpauth URI, as text or as "
              "a QR code."};
}

Result<Answer> add(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto association, id_argument<AssociationId>(arguments, "association"));
  COFFER_TRY(const auto enrolled,
             flows::add_user(session.app.flows(), arguments.text("USERNAME"), association));
  return view(enrolled);
}

Result<Answer> list(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto at, page_argument(arguments));
  return store::with_reader(session.app.database(), [&](store::Connection& db) -> Result<Answer> {
    Answer answer{.list = true,
                  .columns = {"id", "username", "associationId", "status", "createdAt"}};
    const auto page = store::list_users(db, at);
    for (const auto& row : page.rows) answer.records.push_back(view(row));
    put_next(answer, page.next, false);
    return answer;
  });
}

template <bool kSuspended>
Result<Answer> suspend(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<UserId>(arguments, "ID"));
  COFFER_TRY(const auto row, flows::suspend_user(session.app.flows(), id, kSuspended));
  return Answer{.records = {view(row)}};
}

using Reset = Result<flows::EnrolledUser> (*)(const flows::Context&, UserId);

template <Reset kReset>
Result<Answer> reset(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<UserId>(arguments, "ID"));
  COFFER_TRY(const auto enrolled, kReset(session.app.flows(), id));
  return view(enrolled);
}

constexpr std::string_view kHint = "coffer user list shows who there is";

}  // namespace

std::vector<Command> user_commands() {
  const Argument id = positional("ID", "Its id");
  return {
      {.path = "user add",
       .summary = "Enrol a person who logs in with password and one-time code",
       .run = add,
       .arguments = {positional("USERNAME", "1 to 64 of A-Z a-z 0-9 . _ @ + -"),
                     required_option("association", "ID", "Whose business it may see")},
       .hint = "coffer association list shows what there is"},
      {.path = "user list",
       .summary = "List the users of all associations, newest first",
       .run = list,
       .role = OperatorRole::viewer,
       .arguments = page_arguments()},
      {.path = "user suspend",
       .summary = "End the tokens of a user and refuse new ones",
       .run = suspend<true>,
       .role = OperatorRole::operating,
       .arguments = {id},
       .hint = kHint},
      {.path = "user resume",
       .summary = "Let a suspended user log in again",
       .run = suspend<false>,
       .role = OperatorRole::operating,
       .arguments = {id},
       .hint = kHint},
      {.path = "user reset-otp",
       .summary = "Give a user a new key for the authenticator app",
       .run = reset<flows::reset_otp>,
       .arguments = {id},
       .hint = kHint},
      {.path = "user reset-password",
       .summary = "Give a user a new password",
       .run = reset<flows::reset_password>,
       .arguments = {id},
       .hint = kHint},
  };
}

}  // namespace coffer::cli
