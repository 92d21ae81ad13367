#include "flows/identity/login.h"

#include "auth/secret_hash.h"
#include "base/check.h"
#include "store/identity/logins.h"
#include "store/identity/tenants.h"
#include "store/ledger/catalog.h"

namespace coffer::flows {
namespace {

constexpr std::string_view kChallengeKey = "challenge_key";
constexpr std::string_view kChallengeKeyContext = "challenge-key";
constexpr std::string_view kWebAuthPath = "/v1/public/auth-connect";
constexpr std::int64_t kRefreshLifetimeMs = 30 * kDayMs;

const Logins& logins_of(const Context& context) {
  COFFER_CHECK(context.logins != nullptr);
  return *context.logins;
}

Problem suspended() {
  return Problem(Slug::unauthorized,
                 "The application is suspended. Ask the operator to resume it.");
}
Problem wrong_secret() {
  return Problem(Slug::unauthorized, "The public key or the secret is wrong.");
}
Problem wrong_token() {
  return Problem(Slug::unauthorized,
                 "The refresh token is unknown, used, expired or revoked. Log in again.");
}
std::string id_token_for(const Context& context, const store::ApplicationRow& application) {
  auth::TokenClaims claims;
  claims.kind = auth::TokenKind::id;
  claims.issuer = web_auth_endpoint(context);
  claims.account = application.public_key;
  claims.application = application.id;
  if (application.tenant) claims.association = application.tenant->association;
  claims.environment = application.environment;
  claims.scopes = application.scopes;
  claims.key_version = application.key_version;
  claims.last(context.clock.now(), context.token_lifetime_ms);
  return context.tokens.issue(claims);
}

/// The next refresh token of a family, created before the command that stores it.
struct NewToken {
  Secret text;
  Sha256 hash{};
};

NewToken new_token(const Context& context) {
  NewToken out;
  out.text = auth::generate_secret(context.random, auth::kRefreshTokenPrefix);
  out.hash = context.hasher->hash(out.text.reveal());
  return out;
}

void store_token(store::WriteTx& tx, const NewToken& token, const Uuid& family,
                 const store::ApplicationRow& application) {
  store::forget_expired_logins(tx);
  store::insert_refresh_token(tx, token.hash,
                              {family, application.id, application.key, application.key_version,
                               false, tx.now().plus_ms(kRefreshLifetimeMs)});
}

Session session_of(const Context& context, const store::ApplicationRow& application,
                   NewToken token) {
  return {id_token_for(context, application), std::move(token.text),
          context.token_lifetime_ms / 1000};
}

/// Starts a session. `find` returns the application that logs in; it runs inside the command.
Result<Session> start_session(
    const Context& context,
    const std::function<Result<store::ApplicationRow>(store::WriteTx&)>& find) {
  NewToken token = new_token(context);
  const Uuid family = context.random.uuid_v7(context.clock.now());
  COFFER_TRY(const auto application,
             context.write([&](store::WriteTx& tx) -> Result<store::ApplicationRow> {
               COFFER_TRY(auto row, find(tx));
               if (row.suspended) return unexpected(suspended());
               store_token(tx, token, family, row);
               return row;
             }));
  return session_of(context, application, std::move(token));
}

Problem unregistered(Slug slug) {
  return Problem(slug, "No application is registered with this public key.");
}

Result<std::optional<store::ApplicationRow>> application_with_key(const Context& context,
                                                                  const std::string& public_key) {
  return context.read(
      [&](store::Connection& db) { return store::find_application_by_public_key(db, public_key); });
}

}  // namespace

Result<auth::SigningKey> open_challenge_key(const Context& context) {
  COFFER_TRY(const auto stored, context.read([](store::Connection& db) {
    return store::read_meta(db, kChallengeKey);
  }));
  if (stored) {
    COFFER_TRY(const Secret seed, context.sealer.open(*stored, kChallengeKeyContext));
    return auth::SigningKey::from_seed(seed);
  }
  const Secret seed = auth::generate_key_pair(context.random).seed_text;
  const std::string sealed = context.sealer.seal(seed.reveal(), kChallengeKeyContext);
  COFFER_TRY_VOID(
      context.write([&](store::WriteTx& tx) { store::write_meta(tx, kChallengeKey, sealed); }));
  return auth::SigningKey::from_seed(seed);
}

auth::ChallengeDomains challenge_domains(const Context& context) {
  const Logins& logins = logins_of(context);
  auth::ChallengeDomains out;
  out.home = logins.home_domain.empty() ? logins.own_address() : logins.home_domain;
  out.web_auth = logins.web_auth_domain.empty() ? out.home : logins.web_auth_domain;
  return out;
}

std::string public_base_url(const Context& context) {
  return logins_of(context).scheme() + challenge_domains(context).web_auth;
}

std::string web_auth_endpoint(const Context& context) {
  return public_base_url(context) + std::string(kWebAuthPath);
}

Result<std::string> issue_challenge(const Context& context, const auth::PublicKey& account,
                                    const AdmitClient& admit) {
  COFFER_TRY(const auto application, application_with_key(context, account.to_string()));
  if (!application) return unexpected(unregistered(Slug::not_found));
  COFFER_TRY_VOID(admit(*application));
  return logins_of(context).challenges.issue(account, challenge_domains(context), context.random,
                                             context.queue.now(), context.clock.ahead_ms());
}

Result<auth::SignedChallenge> verify_challenge(const Context& context,
                                               std::string_view transaction) {
  return logins_of(context).challenges.verify(transaction, challenge_domains(context),
                                              context.queue.now());
}

Result<Session> accept_challenge(const Context& context, const auth::SignedChallenge& challenge,
                                 const AdmitClient& admit) {
  const std::string public_key = challenge.client.to_string();
  COFFER_TRY(const auto found, application_with_key(context, public_key));
  if (!found) return unexpected(unregistered(Slug::unauthorized));
  COFFER_TRY_VOID(admit(*found));
  return start_session(context, [&](store::WriteTx& tx) -> Result<store::ApplicationRow> {
    if (tx.now() >= challenge.expires_at) {
      return unexpected(Slug::invalid_challenge, "The challenge has expired. Request a new one.");
    }
    auto application = store::find_application_by_public_key(tx.db(), public_key);
    if (!application) return unexpected(unregistered(Slug::unauthorized));
    if (!store::use_challenge(tx, challenge.hash, challenge.expires_at)) {
      return unexpected(Slug::invalid_challenge,
                        "The challenge was already used. Request a new one for each login.");
    }
    return *std::move(application);
  });
}

Result<Session> sign_in(const Context& context, const std::string& public_key,
                        const std::string& secret, const AdmitClient& admit) {
  COFFER_TRY(const auto found, application_with_key(context, public_key));
  const store::OldSecrets* old = found ? found->old_at(context.queue.now()) : nullptr;
  // An unknown key costs the same comparisons as a wrong secret.
  const bool is_new =
      context.hasher->matches(found ? found->sign_in_hash : auth::no_secret_hash(), secret);
  const bool is_old =
      context.hasher->matches(old != nullptr ? old->sign_in_hash : auth::no_secret_hash(), secret);
  if (!found || !(is_new || is_old)) return unexpected(wrong_secret());
  COFFER_TRY_VOID(admit(*found));
  return start_session(context, [&](store::WriteTx& tx) -> Result<store::ApplicationRow> {
    auto row = store::find_application(tx.db(), found->id);
    // A concurrent rotation has ended the secret.
    if (!row || row->sign_in_hash != found->sign_in_hash) return unexpected(wrong_secret());
    if (!is_new && row->old_at(tx.now()) == nullptr) return unexpected(wrong_secret());
    if (!is_new) row->key_version = row->old->key_version;  // the session ends with the old secret
    return *std::move(row);
  });
}

Result<Session> refresh_session(const Context& context, const std::string& refresh_token,
                                const AdmitClient& admit) {
  const Sha256 hash = context.hasher->hash(refresh_token);
  // An unknown token costs only a read, not a place in the commit queue.
  COFFER_TRY(const auto owner, context.read([&](store::Connection& db) {
    const auto token = store::find_refresh_token(db, hash);
    return token ? store::find_application(db, token->application) : std::nullopt;
  }));
  if (!owner) return unexpected(wrong_token());
  COFFER_TRY_VOID(admit(*owner));
  NewToken next = new_token(context);
  std::optional<store::ApplicationRow> application;
  // A rejection must also commit, because a spent token revokes its whole family.
  COFFER_TRY_VOID(context.write([&](store::WriteTx& tx) {
    application.reset();
    const auto token = store::find_refresh_token(tx.db(), hash);
    if (!token) return;
    if (token->spent) {
      store::revoke_refresh_tokens(tx, token->family);
      return;
    }
    auto row = store::find_application(tx.db(), token->application);
    const bool ended = !row || row->suspended || !row->accepts(token->key_version, tx.now());
    if (ended || tx.now() >= token->expires_at) return;
    row->key_version = token->key_version;  // a token of an old secret ends with that secret
    store::spend_refresh_token(tx, hash);
    store_token(tx, next, token->family, *row);
    application = std::move(row);
  }));
  if (!application) return unexpected(wrong_token());
  return session_of(context, *application, std::move(next));
}

}  // namespace coffer::flows
