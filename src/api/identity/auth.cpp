#include <algorithm>

#include "api/identity/form.h"
#include "api/identity/login_guard.h"
#include "api/json/fields.h"
#include "api/json/json.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
#include "auth/secret_hash.h"
#include "base/text/ascii.h"
#include "http/router.h"
#include "store/identity/tenants.h"

namespace coffer::api {
namespace {

constexpr std::int64_t kSecondMs = 1'000;

/// A token request in either form.
struct TokenRequest {
  std::string client_id;
  std::string client_secret;
  std::optional<std::string> scope;
};

/// The credentials in HTTP Basic; nullopt without that scheme.
std::optional<std::string_view> basic_credentials(const http::Request& request) {
  constexpr std::string_view kScheme = "basic ";
  const std::string* header = request.header("authorization");
  if (header == nullptr || !ascii::same_word(header->substr(0, kScheme.size()), kScheme)) return {};
  return std::string_view(*header).substr(kScheme.size());
}

/// Client ID and secret, each form-encoded (RFC 6749 section 2.3.1).
bool read_basic(std::string_view credentials, TokenRequest& out) {
  const auto text = from_base64(credentials);
  const auto colon = text ? text->find(':') : std::string::npos;
  if (colon == std::string::npos) return false;
  return http::percent_decode(std::string_view(*text).substr(0, colon), true, out.client_id) &&
         http::percent_decode(std::string_view(*text).substr(colon + 1), true, out.client_secret);
}

/// A client authenticates with Basic or in the form, not with both (RFC 6749 section 2.3).
Result<void> read_client(const http::Request& request, const FormBody& form,
                         ValidationErrors& errors, TokenRequest& out) {
  const auto id = form.value("client_id");
  const auto secret = form.value("client_secret");
  if (const auto basic = basic_credentials(request)) {
    if (!read_basic(*basic, out)) {
      return unexpected(Slug::unauthorized, "The Basic credentials are not valid.");
    }
    if (secret) {
      errors.add(Slug::malformed_request, "client_secret",
                 "must not be sent together with HTTP Basic");
    }
    if (id && *id != out.client_id) {
      errors.add(Slug::malformed_request, "client_id", "differs from the client of HTTP Basic");
    }
    return {};
  }
  if (!id) errors.add(Slug::malformed_request, "client_id", "is required");
  if (!secret) errors.add(Slug::malformed_request, "client_secret", "is required");
  out.client_id = id.value_or("");
  out.client_secret = secret.value_or("");
  return {};
}

Result<TokenRequest> read_form(const http::Request& request) {
  COFFER_TRY(const FormBody form, FormBody::parse(request.body));
  const auto grant = form.value("grant_type");
  ValidationErrors errors;
  if (!grant || *grant != "client_credentials") {
    errors.add(Slug::malformed_request, "grant_type",
               grant ? "must be client_credentials" : "is required");
  }
  TokenRequest out;
  COFFER_TRY_VOID(read_client(request, form, errors, out));
  COFFER_TRY_VOID(errors.check());
  out.scope = form.value("scope");
  return out;
}

Result<TokenRequest> read_json(const http::JsonValue& body) {
  TokenRequest out;
  Fields fields(body);
  out.client_id = fields.text("clientId", required).value_or("");
  out.client_secret = fields.opaque("clientSecret", required).value_or("");
  out.scope = fields.text("scope", optional, 1000);
  COFFER_TRY_VOID(fields.check());
  return out;
}

Result<store::ApplicationRow> verify_client(const Services& services, const TokenRequest& token,
                                            const http::Request& request) {
  COFFER_TRY(const auto found, services.flows.read([&](store::Connection& db) {
    return store::find_application_by_client_id(db, token.client_id);
  }));
  const auth::SecretHasher& hasher = *services.flows.hasher;
  const Timestamp now = services.flows.queue.now();
  const store::OldSecrets* old = found ? found->old_at(now) : nullptr;
  // An unknown client costs the same comparisons as a wrong secret.
  const bool is_new = hasher.matches(found ? found->client_secret_hash : auth::no_secret_hash(),
                                     token.client_secret);
  const bool is_old = hasher.matches(
      old != nullptr ? old->client_secret_hash : auth::no_secret_hash(), token.client_secret);
  if (!found || !(is_new || is_old)) {
    return unexpected(Slug::unauthorized, "The client ID or the client secret is wrong.");
  }
  if (found->suspended)
    return unexpected(Slug::unauthorized,
                      "The application is suspended. Ask the operator to resume it.");
  COFFER_TRY_VOID(check_client(*found, request, services.proxies));
  const std::string* api_key = request.header("x-svc-auth");
  const bool fits = api_key == nullptr || hasher.matches(found->api_key_hash, *api_key) ||
                    (old != nullptr && hasher.matches(old->api_key_hash, *api_key));
  if (!fits) return unexpected(Slug::unauthorized, "x-svc-auth belongs to another application.");
  store::ApplicationRow out = *found;
  if (!is_new) out.key_version = old->key_version;  // the token expires with the old secret
  return out;
}

/// The requested scopes, all of which the application must have; by default, all scopes of the
/// application.
Result<ScopeSet> granted_scopes(const store::ApplicationRow& application,
                                const std::optional<std::string>& asked) {
  if (!asked || asked->empty()) return application.scopes;
  COFFER_TRY(const ScopeSet scopes, ScopeSet::parse(*asked));
  if (!application.scopes.contains(scopes)) {
    return unexpected(Problem(Slug::malformed_request,
                              "The application does not have all of these scopes.",
                              {{"scope", "may only name scopes of the application"}}));
  }
  return scopes;
}

/// An issued token. The lifetime is in seconds.
struct IssuedToken {
  std::string text;
  std::int64_t lifetime_s = 0;
  ScopeSet scopes;
  std::optional<Tenant> tenant;
};

IssuedToken issue_token(const flows::Context& flows, const store::ApplicationRow& application,
                        ScopeSet scopes) {
  auth::TokenClaims claims;
  claims.application = application.id;
  if (application.tenant) claims.association = application.tenant->association;
  claims.environment = application.environment;
  claims.scopes = scopes;
  claims.key_version = application.key_version;
  std::int64_t lifetime_ms = flows.token_lifetime_ms;
  const Timestamp now = flows.clock.now();
  if (application.old && application.key_version == application.old->key_version) {
    lifetime_ms = std::min(lifetime_ms, application.old->until.ms - now.ms);
  }
  claims.last(now, lifetime_ms - lifetime_ms % kSecondMs);
  return {flows.tokens.issue(claims), lifetime_ms / kSecondMs, scopes, application.tenant};
}

Result<IssuedToken> exchange(const Services& services, const Call& call,
                             const TokenRequest& token) {
  const flows::SecretKeys keys = login_keys(services, call, "client:" + token.client_id);
  COFFER_TRY(const store::ApplicationRow application, guard_login(services, keys, [&] {
               return verify_client(services, token, call.request);
             }));
  COFFER_TRY_VOID(services.limiter.admit_login("client:" + application.client_id));
  COFFER_TRY(const ScopeSet scopes, granted_scopes(application, token.scope));
  return issue_token(services.flows, application, scopes);
}

Result<http::Response> create_token(const Services& services, const Call& call) {
  COFFER_TRY(const TokenRequest request, read_json(*call.body));
  COFFER_TRY(const IssuedToken token, exchange(services, call, request));
  const auto& tenant = token.tenant;
  http::Response response = json_response(
      200, {{"accessToken", token.text},
            {"tokenType", "Bearer"},
            {"expiresIn", token.lifetime_s},
            {"associationId", tenant ? Json(tenant->association.to_string()) : Json(nullptr)}});
  return response.header("Cache-Control", "no-store");
}

/// RFC 6749 section 4.4, with its members only.
Result<http::Response> create_oauth_token(const Services& services, const Call& call) {
  COFFER_TRY(const TokenRequest request, read_form(call.request));
  COFFER_TRY(const IssuedToken token, exchange(services, call, request));
  http::Response response = json_response(200, {{"access_token", token.text},
                                                {"token_type", "Bearer"},
                                                {"expires_in", token.lifetime_s},
                                                {"scope", token.scopes.to_string()}});
  return response.header("Cache-Control", "no-store").header("Pragma", "no-cache");
}

}  // namespace

std::vector<Route> auth_routes() {
  return {{.method = "POST",
           .pattern = "/v1/auth/token",
           .operation = "createToken",
           .tag = "Auth",
           .summary = "Exchange client credentials for a bearer token",
           .lane = Lane::read,
           .access = Access::login,
           .needs_storage = false,
           .body = Body::json,
           .request_schema = "TokenRequest",
           .type_remedy = "OAuth 2 clients send a form to POST /v1/oauth/token.",
           .responses = {{200, "Token"}},
           .problems = {Slug::unauthorized},
           .handler = create_token},
          {.method = "POST",
           .pattern = "/v1/oauth/token",
           .operation = "createOAuthToken",
           .tag = "Auth",
           .summary = "Exchange client credentials for a bearer token (OAuth 2, RFC 6749)",
           .lane = Lane::read,
           .access = Access::login,
           .needs_storage = false,
           .body = Body::form,
           .request_schema = "OAuthTokenRequest",
           .type_remedy = "JSON clients use POST /v1/auth/token.",
           .responses = {{200, "OAuthToken"}},
           .problems = {Slug::unauthorized},
           .handler = create_oauth_token}};
}

}  // namespace coffer::api
