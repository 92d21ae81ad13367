#include "auth/password.h"
#include "auth/totp.h"
#include "flows/identity/audit_log.h"
#include "flows/identity/login.h"
#include "flows/identity/user_changes.h"
#include "store/identity/users.h"

namespace coffer::flows {
namespace {

Problem wrong_user() {
  return Problem(Slug::unauthorized, "The username, the password or the code is wrong.");
}

/// Called after the right password. Each code works once.
Result<void> use_code(const Context& context, const store::UserRow& user, std::int64_t step,
                      const SignInSource& source) {
  return context.write([&](store::WriteTx& tx) -> Result<void> {
    const auto row = store::find_user(tx.db(), user.id);
    const bool changed = !row || row->key_version != user.key_version;
    if (changed || row->suspended || step <= row->otp_step) return unexpected(wrong_user());
    store::set_otp_step(tx, row->id, step);
    store::remember_sign_in_source(tx, row->id.uuid, source.network);
    return {};
  });
}

Result<void> record_alarm(const Context& context, const store::UserRow& user,
                          const SignInSource& source) {
  return record_action(context, {"user " + user.username, "user login", source_json(source),
                                 "unauthorized", "wrong code after the right password"});
}

UserSession session_of(const Context& context, const store::UserRow& user) {
  auth::TokenClaims claims;
  claims.kind = auth::TokenKind::user;
  claims.user = user.id;
  claims.association = user.association;
  claims.scopes = ScopeSet::all();
  claims.key_version = user.key_version;
  claims.last(context.clock.now(), context.token_lifetime_ms);
  return UserSession{context.tokens.issue(claims), user.association,
                     context.token_lifetime_ms / 1000};
}

}  // namespace

Result<UserSession> log_in_user(const Context& context, const std::string& username,
                                const std::string& password, const std::string& code,
                                const SignInSource& source) {
  const std::string name = folded_username(username);
  COFFER_TRY(const auto found, context.read([&](store::Connection& db) {
    return store::find_user_by_username(db, name);
  }));
  std::optional<GuardedAccount> account;
  if (found) account = GuardedAccount{found->id.uuid, found->key_version};
  const SignInGuard guard(context, SignInGuard::Kind::user, name, account, source);
  COFFER_TRY_VOID(guard.admit());
  // An unknown name takes as long as a wrong password.
  const bool password_matches = auth::matches_password(
      found ? found->password_hash : auth::no_password_hash(context.password_cost), password);
  if (!found || !password_matches) {
    return unexpected(guard.wrong_password(wrong_user()));
  }
  COFFER_TRY(const Secret key, open_otp_key(context, *found));
  const auto step = auth::match_totp(key, code, context.clock.machine_now());
  const auto logged_in =
      step ? use_code(context, *found, *step, source) : Result<void>(unexpected(wrong_user()));
  if (!logged_in) {
    if (logged_in.error().slug != Slug::unauthorized) return unexpected(logged_in.error());
    const Problem response = guard.wrong_second_factor(logged_in.error());
    COFFER_TRY_VOID(record_alarm(context, *found, source));
    return unexpected(response);
  }
  guard.right();
  return session_of(context, *found);
}

}  // namespace coffer::flows
