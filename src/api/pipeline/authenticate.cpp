#include "api/pipeline/authenticate.h"

#include <algorithm>

#include "auth/secret_hash.h"
#include "base/text/ascii.h"
#include "base/text/next_part.h"
#include "flows/identity/login.h"
#include "store/identity/users.h"

namespace coffer::api {
namespace {

Unexpected rejected(const char* detail) { return unexpected(Slug::unauthorized, detail); }

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  return ascii::same_word(text.substr(0, prefix.size()), prefix);
}

/// Part of the cache key: routes of one kind accept the same credentials.
char kind_of(Access access) {
  switch (access) {
    case Access::business:
      return 'b';
    case Access::connect:
      return 'c';
    case Access::open:
    case Access::login:
    case Access::application:
    case Access::sandbox:
      return 'a';
  }
  throw InternalError("unknown access");
}

bool is_taken(auth::TokenKind kind, Access access) {
  switch (kind) {
    case auth::TokenKind::access:
      return access != Access::connect;
    case auth::TokenKind::id:
      return true;
    case auth::TokenKind::user:
      return access == Access::business;
  }
  throw InternalError("unknown kind of token");
}

constexpr std::int64_t kExternalCacheMs = 60'000;

Result<Origins> origins_of(const store::ApplicationRow& application) {
  COFFER_TRY(AddressList networks, AddressList::parse(parts_of(application.networks, ',')));
  return Origins{std::move(networks), parts_of(application.certificates, ',')};
}

Result<void> check_origin(const Origins& origins, const http::Request& request,
                          std::string_view address) {
  if (!origins.networks.empty() && !origins.networks.contains(address)) {
    return rejected(
        "The application may not be used from this address. Ask the operator to permit the "
        "address.");
  }
  const auto& known = origins.certificates;
  if (!known.empty() && std::ranges::find(known, request.client_certificate) == known.end()) {
    return rejected(
        "The application requires its TLS client certificate. Connect with the certificate.");
  }
  return {};
}

/// Used only to count lane shares; two secrets with the same digest would share one.
std::uint64_t digest_of(std::string_view text) { return std::hash<std::string_view>()(text); }

}  // namespace

Result<void> check_client(const store::ApplicationRow& application, const http::Request& request,
                          const http::TrustedProxies& proxies) {
  COFFER_TRY(const Origins origins, origins_of(application));
  return check_origin(origins, request, proxies.client_address(request));
}

std::string_view bearer_token(const http::Request& request) {
  const std::string* header = request.header("authorization");
  constexpr std::string_view kScheme = "bearer ";
  if (header == nullptr || !starts_with_ignoring_case(*header, kScheme)) return {};
  return std::string_view(*header).substr(kScheme.size());
}

Result<Caller> Authenticator::authenticate(const http::Request& request, Access access) const {
  const std::string* secret = request.header("x-svc-auth");
  if (secret == nullptr || secret->empty()) {
    return rejected(access == Access::connect
                        ? "The header x-svc-auth with the connect secret is missing."
                        : "The header x-svc-auth with the API key is missing.");
  }
  const std::string_view token = bearer_token(request);
  if (token.empty()) return rejected("The header Authorization: Bearer with a token is missing.");

  const Sha256 digest = sha256({token, "\n", *secret});
  // Credentials for one kind of route may be invalid for another.
  const std::string id = std::string(as_text(digest)) + kind_of(access);
  const Timestamp now = context_.clock.now();
  // Read before the look-up, so that a change committed during the look-up makes the new entry
  // stale.
  const std::uint64_t generation = context_.database.tenancy_generation();
  {
    const Lock lock(mutex_);
    if (generation_ != generation) {
      forget();
      generation_ = generation;
    }
    const auto it = entries_.find(id);
    if (it != entries_.end()) {
      if (now < it->second.expires_at) {
        COFFER_TRY_VOID(admit_use(it->second, request));
        return it->second.caller;
      }
      entries_.erase(it);
    }
  }
  COFFER_TRY(const Entry entry, look_up(*secret, token, access));
  const Lock lock(mutex_);
  COFFER_TRY_VOID(admit_use(entry, request));
  if (generation_ == generation) {
    if (entries_.size() >= kEntriesMax) forget();
    entries_.insert_or_assign(id, entry);
    accepted_.insert(digest_of(*secret));
  }
  return entry.caller;
}

Result<void> Authenticator::admit_use(const Entry& entry, const http::Request& request) const {
  const std::string address = proxies_.client_address(request);
  COFFER_TRY_VOID(check_origin(entry.origins, request, address));
  store::SecretUse& use = uses_[entry.secret];
  use.hash = entry.secret;
  use.application = entry.caller.application_key;
  use.at = context_.clock.now();
  if (use.address != address) use.address = address;
  return {};
}

std::vector<store::SecretUse> Authenticator::take_uses() {
  std::map<Sha256, store::SecretUse> taken;
  {
    const Lock lock(mutex_);
    taken.swap(uses_);
  }
  std::vector<store::SecretUse> out;
  for (auto& [hash, use] : taken) out.push_back(std::move(use));
  return out;
}

void Authenticator::forget() const {
  entries_.clear();
  accepted_.clear();
}

LaneCaller Authenticator::lane_caller(const http::Request& request) const {
  if (const std::string* secret = request.header("x-svc-auth")) {
    const std::uint64_t digest = digest_of(*secret);
    const Lock lock(mutex_);
    if (accepted_.contains(digest)) return {digest, true};
  }
  return {digest_of(http::network_of(proxies_.client_address(request))), false};
}

Result<Authenticator::Bearer> Authenticator::read_bearer(std::string_view token,
                                                         Access access) const {
  const Timestamp now = context_.clock.now();
  flows::ExternalTokens* external =
      context_.logins == nullptr ? nullptr : context_.logins->external.get();
  if (access == Access::business && external != nullptr && !context_.tokens.could_be_ours(token)) {
    COFFER_TRY(const auth::ExternalClaims claims, external->verify(token));
    // Cached only briefly, because the issuer may withdraw its key.
    const Timestamp expires_at = std::min(claims.expires_at, now.plus_ms(kExternalCacheMs));
    return Bearer{{}, claims.client_id, expires_at};
  }
  COFFER_TRY(const auth::TokenClaims claims, context_.tokens.verify(token, now));
  if (!is_taken(claims.kind, access)) {
    return rejected(access == Access::connect
                        ? "This route requires the idToken of the challenge login."
                        : "This route does not accept this kind of token. Request a bearer token "
                          "with POST /v1/auth/token.");
  }
  return Bearer{claims, {}, claims.expires_at};
}

Result<void> Authenticator::check_user(const auth::TokenClaims& claims,
                                       const store::ApplicationRow& application) const {
  COFFER_TRY(const auto user, context_.read([&](store::Connection& db) {
    return store::find_user(db, *claims.user);
  }));
  if (!user || user->suspended || user->key_version != claims.key_version) {
    return rejected("The token is no longer valid. Log in again.");
  }
  if (application.tenant && application.tenant->association != user->association) {
    return rejected("x-svc-auth and the token belong to different associations.");
  }
  return {};
}

Result<void> Authenticator::check_bearer(const Bearer& bearer,
                                         const store::ApplicationRow& application) const {
  constexpr const char* kMismatch = "x-svc-auth and the token belong to different applications.";
  if (application.suspended)
    return rejected("The application is suspended. Ask the operator to resume it.");
  if (!bearer.client_id.empty()) {
    if (application.client_id != bearer.client_id) return rejected(kMismatch);
    return {};
  }
  const auth::TokenClaims& claims = bearer.claims;
  if (claims.kind == auth::TokenKind::user) return check_user(claims, application);
  if (application.id != claims.application) return rejected(kMismatch);
  if (!application.accepts(claims.key_version, context_.clock.now())) {
    return rejected("The token was revoked by a rotation of the credentials. Request a new one.");
  }
  return {};
}

Result<Authenticator::Entry> Authenticator::look_up(std::string_view secret, std::string_view token,
                                                    Access access) const {
  COFFER_TRY(const Bearer bearer, read_bearer(token, access));
  const Sha256 hash = context_.hasher->hash(secret);
  COFFER_TRY(const auto found, context_.read([&](store::Connection& db) {
    return access == Access::connect ? store::find_application_by_connect_secret(db, hash)
                                     : store::find_application_by_api_key(db, hash);
  }));
  const Timestamp now = context_.clock.now();
  const bool is_new =
      found && (access == Access::connect ? found->connect_hash : found->api_key_hash) == hash;
  if (!found || (!is_new && found->old_at(now) == nullptr)) {
    return rejected(access == Access::connect ? "The connect secret in x-svc-auth is unknown."
                                              : "The API key in x-svc-auth is unknown.");
  }
  const store::ApplicationRow& application = *found;
  COFFER_TRY_VOID(check_bearer(bearer, application));
  if (!application.tenant) {
    return unexpected(Slug::no_association, "The application has no registered association.");
  }
  Entry entry;
  entry.secret = hash;
  entry.caller.application = application.id;
  entry.caller.application_key = application.key;
  entry.caller.tenant = *application.tenant;
  entry.caller.association_status = *application.association_status;
  // An external token has all scopes of its application, because its issuer does not know coffer's
  // scopes.
  entry.caller.scopes = bearer.client_id.empty()
                            ? application.scopes.intersect(bearer.claims.scopes)
                            : application.scopes;
  entry.expires_at = bearer.expires_at;
  // Old secrets and their tokens expire then. For new ones, this only causes another look-up.
  if (const auto* old = application.old_at(now)) {
    entry.expires_at = std::min(entry.expires_at, old->until);
  }
  COFFER_TRY(entry.origins, origins_of(application));
  return entry;
}

}  // namespace coffer::api
