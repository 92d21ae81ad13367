#include "flows/identity/user_changes.h"

#include <algorithm>

#include "auth/password.h"
#include "auth/totp.h"
#include "base/text/ascii.h"
#include "store/identity/tenants.h"

namespace coffer::flows {
namespace {

constexpr std::size_t kUsernameMax = 64;
constexpr std::string_view kIssuer = "coffer";

std::string sealing_context(UserId id) { return "user-otp:" + id.to_string(); }

bool is_username(std::string_view text) {
  if (text.empty() || text.size() > kUsernameMax) return false;
  return std::ranges::all_of(text, [](char c) {
    return ascii::is_lower(c) || ascii::is_digit(c) ||
           std::string_view("._@+-").find(c) != std::string_view::npos;
  });
}

/// Stores a new TOTP key in `out`. Codes of the old key become invalid, and its last used time step
/// no longer applies.
void renew_otp(const Context& context, EnrolledUser& out) {
  const Secret key = auth::generate_totp_key(context.random);
  out.user.sealed_otp = context.sealer.seal(key.reveal(), sealing_context(out.user.id));
  out.user.otp_step = 0;
  out.otpauth_uri = auth::otpauth_uri(key, kIssuer, out.user.username);
}

void renew_password(const Context& context, EnrolledUser& out) {
  out.password = auth::generate_password(context.random);
  out.user.password_hash = auth::hash_password(out.password, context.random, context.password_cost);
}

Result<store::UserRow> read_user(const Context& context, UserId id) {
  return context.read(
      [&](store::Connection& db) { return existing(store::find_user(db, id), "user"); });
}

/// `change` receives the current row inside the command and modifies it.
Result<store::UserRow> change_user(const Context& context, UserId id,
                                   const std::function<void(store::UserRow&)>& change) {
  return context.write([&](store::WriteTx& tx) -> Result<store::UserRow> {
    COFFER_TRY(auto row, existing(store::find_user(tx.db(), id), "user"));
    change(row);
    ++row.key_version;
    store::update_user(tx, row);
    return *store::find_user(tx.db(), id);
  });
}

}  // namespace

std::string folded_username(std::string_view username) { return ascii::to_lower(username); }

Result<std::string> parse_username(std::string_view text, std::string_view field) {
  std::string folded = folded_username(text);
  if (is_username(folded)) return folded;
  return unexpected(
      Problem(Slug::validation_failed, "The " + std::string(field) + " is not valid.",
              {{std::string(field), "must be 1 to 64 characters of A-Z a-z 0-9 . _ @ + -"}}));
}

Result<Secret> open_otp_key(const Context& context, const store::UserRow& user) {
  return context.sealer.open(user.sealed_otp, sealing_context(user.id));
}

Result<EnrolledUser> add_user(const Context& context, const std::string& username,
                              AssociationId association) {
  EnrolledUser out;
  COFFER_TRY(out.user.username, parse_username(username, "username"));
  out.user.id = context.random.id<UserId>(context.clock.now());
  out.user.association = association;
  renew_otp(context, out);
  renew_password(context, out);
  COFFER_TRY(out.user, context.write([&](store::WriteTx& tx) -> Result<store::UserRow> {
    if (!store::find_association(tx.db(), association)) {
      return unexpected(Slug::not_found, "The association was not found.");
    }
    if (store::find_user_by_username(tx.db(), out.user.username)) {
      return unexpected(Slug::conflict, "A user with this name already exists.");
    }
    store::insert_user(tx, out.user);
    return *store::find_user(tx.db(), out.user.id);
  }));
  return out;
}

Result<EnrolledUser> reset_otp(const Context& context, UserId id) {
  EnrolledUser out;
  COFFER_TRY(out.user, read_user(context, id));
  renew_otp(context, out);
  const std::string sealed = out.user.sealed_otp;
  COFFER_TRY(out.user, change_user(context, id, [&](store::UserRow& row) {
               row.sealed_otp = sealed;
               row.otp_step = 0;
             }));
  return out;
}

Result<EnrolledUser> reset_password(const Context& context, UserId id) {
  EnrolledUser out;
  COFFER_TRY(out.user, read_user(context, id));
  renew_password(context, out);
  const std::string hash = out.user.password_hash;
  COFFER_TRY(out.user,
             change_user(context, id, [&](store::UserRow& row) { row.password_hash = hash; }));
  return out;
}

Result<store::UserRow> suspend_user(const Context& context, UserId id, bool suspended) {
  return change_user(context, id, [&](store::UserRow& row) { row.suspended = suspended; });
}

}  // namespace coffer::flows
