#include <algorithm>

#include "api/identity/form.h"
#include "api/identity/login_guard.h"
#include "api/json.h"
#include "api/pipeline/base_url.h"
#include "api/pipeline/fields.h"
#include "api/pipeline/services.h"
#include "api/route_groups.h"
#include "auth/secret_hash.h"
#include "base/text/ascii.h"
#include "http/problem_json.h"
#include "store/identity/tenants.h"

namespace coffer::api {
namespace {

/// A token request in any accepted form.
struct TokenRequest {
  std::string client_id;
  std::string client_secret;
  std::optional<std::string> scope;
  bool oauth = false;  // the OAuth 2 form, so the response also contains OAuth members
};

/// OAuth members (RFC 6749 section 5.2) next to those of the problem, for standard clients.
http::Response oauth_failure(const Services& services, const Problem& problem,
                             std::string_view code, const http::Request& request) {
  http::Response response = http::problem_response(problem, request.path, request.request_id,
                                                   base_url(services, &request));
  Json body = Json::parse(response.body);
  body["error"] = code;
  body["error_description"] = problem.detail;
  response.body = body.dump();
  return response;
}

/// HTTP Basic with client ID and secret, each form-encoded (RFC 6749 section 2.3.1).
bool read_basic(const http::Request& request, TokenRequest& out) {
  const std::string* header = request.header("authorization");
  if (header == nullptr || header->size() < 6) return false;
  if (!ascii::same_word(std::string_view(*header).substr(0, 6), "basic ")) return false;
  const auto text = from_base64(std::string_view(*header).substr(6));
  const auto colon = text ? text->find(':') : std::string::npos;
  if (colon == std::string::npos) return false;
  return http::percent_decode(std::string_view(*text).substr(0, colon), true, out.client_id) &&
         http::percent_decode(std::string_view(*text).substr(colon + 1), true, out.client_secret);
}

Result<TokenRequest> read_form(const http::Request& request) {
  TokenRequest out;
  out.oauth = true;
  ValidationErrors errors;
  const auto grant = form_value(request.body, "grant_type");
  if (!grant) errors.add(Slug::malformed_request, "grant_type", "is required");
  if (grant && *grant != "client_credentials") {
    errors.add(Slug::malformed_request, "grant_type", "must be client_credentials");
  }
  if (!read_basic(request, out)) {
    const auto id = form_value(request.body, "client_id");
    const auto secret = form_value(request.body, "client_secret");
    if (!id) errors.add(Slug::malformed_request, "client_id", "is required");
    if (!secret) errors.add(Slug::malformed_request, "client_secret", "is required");
    out.client_id = id.value_or("");
    out.client_secret = secret.value_or("");
  }
  out.scope = form_value(request.body, "scope");
  COFFER_TRY_VOID(errors.check());
  return out;
}

Result<TokenRequest> read_json(const http::Request& request, const http::JsonValue& body) {
  TokenRequest out;
  Fields fields(body);
  // A JSON body may also use OAuth names, and Basic may contain the credentials of either form.
  const bool snake = fields.find("client_id") != nullptr || fields.find("grant_type") != nullptr;
  out.oauth = snake;
  if (!read_basic(request, out)) {
    out.client_id = fields.text(snake ? "client_id" : "clientId", required).value_or("");
    out.client_secret =
        fields.text(snake ? "client_secret" : "clientSecret", required).value_or("");
  }
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

http::Response token_response(const Services& services, const store::ApplicationRow& application,
                              ScopeSet scopes, bool oauth) {
  auth::TokenClaims claims;
  claims.application = application.id;
  if (application.tenant) claims.association = application.tenant->association;
  claims.environment = application.environment;
  claims.scopes = scopes;
  claims.key_version = application.key_version;
  claims.issued_at = services.flows.clock.now();
  claims.expires_at = claims.issued_at.plus_ms(services.flows.token_lifetime_ms);
  if (application.old && application.key_version == application.old->key_version) {
    claims.expires_at = std::min(claims.expires_at, application.old->until);
  }
  const std::string token = services.flows.tokens.issue(claims);
  const std::int64_t lifetime_s = (claims.expires_at.ms - claims.issued_at.ms) / 1000;
  Json body{{"accessToken", token},
            {"tokenType", "Bearer"},
            {"expiresIn", lifetime_s},
            {"associationId", application.tenant ? Json(application.tenant->association.to_string())
                                                 : Json(nullptr)}};
  if (oauth) {
    body["access_token"] = token;
    body["token_type"] = "Bearer";
    body["expires_in"] = lifetime_s;
    body["scope"] = scopes.to_string();
  }
  http::Response response = json_response(200, body);
  return response.header("Cache-Control", "no-store");
}

/// The OAuth error code for a problem of this request.
std::string_view oauth_code(const Problem& problem) {
  if (problem.slug == Slug::unauthorized) return "invalid_client";
  for (const FieldError& error : problem.fields) {
    if (error.field == "scope") return "invalid_scope";
    if (error.field == "grant_type" && error.message != "is required") {
      return "unsupported_grant_type";
    }
  }
  return problem.status() == 400 ? "invalid_request" : "temporarily_unavailable";
}

Result<http::Response> issue(const Services& services, const Call& call,
                             const TokenRequest& token) {
  const flows::SecretKeys keys = login_keys(services, call, "client:" + token.client_id);
  COFFER_TRY(const store::ApplicationRow application, guard_login(services, keys, [&] {
               return verify_client(services, token, call.request);
             }));
  COFFER_TRY_VOID(services.limiter.admit_login("client:" + application.client_id));
  COFFER_TRY(const ScopeSet scopes, granted_scopes(application, token.scope));
  return token_response(services, application, scopes, token.oauth);
}

Result<http::Response> create_token(const Services& services, const Call& call) {
  const bool form = call.body == nullptr;
  const auto token = form ? read_form(call.request) : read_json(call.request, *call.body);
  const bool oauth = form || (token && token->oauth);
  auto result = token ? issue(services, call, *token) : unexpected(token.error());
  if (result || !oauth) return result;
  return oauth_failure(services, result.error(), oauth_code(result.error()), call.request);
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
           .body = Body::json_or_form,
           .request_schema = "TokenRequest",
           .form_schema = "TokenForm",
           .responses = {{200, "Token"}},
           .problems = {Slug::unauthorized},
           .handler = create_token}};
}

}  // namespace coffer::api
