#include "api/pipeline/authenticate.h"

#include "auth/secret_hash.h"
#include "store/tenants.h"

namespace coffer::api {
namespace {

Unexpected refused(const char* detail) { return unexpected(Slug::unauthorized, detail); }

bool starts_with_ignoring_case(std::string_view text, std::string_view lower_prefix) {
  if (text.size() < lower_prefix.size()) return false;
  for (std::size_t i = 0; i < lower_prefix.size(); ++i) {
    const char c = text[i];
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (lower != lower_prefix[i]) return false;
  }
  return true;
}

}  // namespace

std::string_view bearer_token(const http::Request& request) {
  const std::string* header = request.header("authorization");
  constexpr std::string_view kScheme = "bearer ";
  if (header == nullptr || !starts_with_ignoring_case(*header, kScheme)) return {};
  return std::string_view(*header).substr(kScheme.size());
}

Result<Caller> Authenticator::authenticate(const http::Request& request) const {
  const std::string* api_key = request.header("x-svc-auth");
  if (api_key == nullptr || api_key->empty()) {
    return refused("The header x-svc-auth with the API key is missing.");
  }
  const std::string_view token = bearer_token(request);
  if (token.empty()) return refused("The header Authorization: Bearer with a token is missing.");

  const Sha256 digest = sha256(std::string(token) + '\n' + *api_key);
  const std::string id(as_text(digest));
  const Timestamp now = context_.clock.now();
  // Read before looking up: a change that commits in between makes the new entry stale, not fresh.
  const std::uint64_t generation = context_.database.tenancy_generation();
  {
    const Lock lock(mutex_);
    if (generation_ != generation) {
      entries_.clear();
      generation_ = generation;
    }
    const auto it = entries_.find(id);
    if (it != entries_.end()) {
      if (now < it->second.expires_at) return it->second.caller;
      entries_.erase(it);
    }
  }
  COFFER_TRY(const Entry entry, look_up(*api_key, token));
  const Lock lock(mutex_);
  if (generation_ == generation) {
    if (entries_.size() >= kEntriesMax) entries_.clear();
    entries_.insert_or_assign(id, entry);
  }
  return entry.caller;
}

Result<Authenticator::Entry> Authenticator::look_up(std::string_view api_key,
                                                    std::string_view token) const {
  COFFER_TRY(const auth::TokenClaims claims,
             context_.tokens.verify(token, context_.clock.now()));
  COFFER_TRY(const auto found,
             store::with_reader(
                 context_.database,
                 [&](store::Connection& db) -> Result<std::optional<store::ApplicationRow>> {
                   return store::find_application_by_api_key(db, auth::hash_secret(api_key));
                 }));
  if (!found) return refused("The API key in x-svc-auth is unknown.");
  const store::ApplicationRow& application = *found;
  if (application.id != claims.application || claims.kind != auth::TokenKind::access) {
    return refused("x-svc-auth and the token belong to different applications.");
  }
  if (application.suspended) return refused("The application is suspended.");
  if (application.key_version != claims.key_version) {
    return refused("The token was ended by a rotation; request a new one.");
  }
  if (!application.tenant) {
    return unexpected(Slug::no_association, "The application has no registered association.");
  }
  Entry entry;
  entry.caller.application = application.id;
  entry.caller.application_key = application.key;
  entry.caller.tenant = *application.tenant;
  entry.caller.association_status = *application.association_status;
  entry.caller.scopes = application.scopes.intersect(claims.scopes);
  entry.expires_at = claims.expires_at;
  return entry;
}

}  // namespace coffer::api
