#include "flows/identity/login.h"

#include "api/identity/form.h"
#include "api/identity/login_guard.h"
#include "api/json/fields.h"
#include "api/json/json.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
#include "store/ledger/catalog.h"

namespace coffer::api {
namespace {

constexpr std::string_view kTomlType = "text/plain; charset=utf-8";
constexpr const char* kSep1Version = "2.7.0";

/// Admits an application whose credentials are valid: from this client, within the rate limit of
/// this kind of login.
flows::AdmitClient admit_client(const Services& services, const Call& call, const char* kind) {
  return [&services, &call, kind](const store::ApplicationRow& application) -> Result<void> {
    COFFER_TRY_VOID(check_client(application, call.request, services.proxies));
    return services.limiter.admit_login(kind + application.id.to_string());
  };
}

http::Response never_stored(http::Response response) {
  response.header("Cache-Control", "no-store");
  return response;
}

Result<http::Response> session_response(Result<flows::Session> session) {
  if (!session) return unexpected(std::move(session).error());
  return never_stored(json_response(200, {{"idToken", session->id_token},
                                          {"refreshToken", session->refresh_token.reveal()},
                                          {"expiresIn", session->expires_in_s},
                                          {"token", session->id_token}}));
}

/// The account of a challenge request. Optional SEP-10 parameters that would require a different
/// challenge are rejected, not ignored.
Result<auth::PublicKey> read_account(const Services& services, const Call& call) {
  QueryFields query(call.request);
  const auto text = query.text("account");
  const auto account = text ? auth::PublicKey::parse(*text) : std::nullopt;
  if (!text) {
    query.add_error(Slug::malformed_request, "account", "is required");
  } else if (!account) {
    query.add_error(Slug::malformed_request, "account",
                    "must be a G... public key with a correct checksum");
  }
  const auto domain = query.text("home_domain");
  if (domain && *domain != flows::challenge_domains(services.flows).home) {
    query.add_error(Slug::malformed_request, "home_domain", "is not a home domain of this server");
  }
  if (query.text("memo")) {
    query.add_error(Slug::malformed_request, "memo",
                    "is not supported because accounts are not shared here");
  }
  COFFER_TRY_VOID(query.check());
  return *account;
}

/// Challenges need no credentials, so each source may request only as many as a client may log in.
Result<void> admit_challenge(const Services& services, const flows::SecretKeys& keys) {
  const int per_min = services.limiter.login_per_min();
  if (per_min == 0) return {};
  const std::string key = "challenge\n" + keys.named;
  const std::int64_t now = services.flows.clock.monotonic_ms();
  if (const auto wait = services.guesses.wait_ms(key, now); wait > 0) {
    return unexpected(flows::too_many_failures(wait));
  }
  const std::int64_t each_ms = 60'000 / per_min;
  services.guesses.failed(
      key, {.free = per_min - 1, .first_ms = each_ms, .longest_ms = each_ms, .memory_ms = 60'000},
      now);
  return {};
}

Result<http::Response> get_challenge(const Services& services, const Call& call) {
  COFFER_TRY(const auth::PublicKey account, read_account(services, call));
  const flows::SecretKeys keys = login_keys(services, call, "account:" + account.to_string());
  COFFER_TRY_VOID(admit_challenge(services, keys));
  // An unregistered account counts as a failed attempt.
  auto issued = flows::issue_challenge(
      services.flows, account, [&](const store::ApplicationRow& application) {
        return check_client(application, call.request, services.proxies);
      });
  if (!issued) {
    if (!is_wrong_secret(issued.error())) return unexpected(std::move(issued).error());
    return unexpected(reject_login(services, keys, std::move(issued).error()));
  }
  const std::string& transaction = *issued;
  const std::string& passphrase = services.flows.logins->challenges.network_passphrase();
  return never_stored(
      json_response(200, {{"transaction", transaction}, {"network_passphrase", passphrase}}));
}

/// SEP-10 permits JSON and a form.
Result<std::string> read_transaction(const Call& call) {
  ValidationErrors errors;
  std::optional<std::string> transaction;
  if (call.body == nullptr) {
    COFFER_TRY(const FormBody form, FormBody::parse(call.request.body));
    transaction = form.value("transaction");
    if (!transaction) errors.add(Slug::malformed_request, "transaction", "is required");
  } else {
    // The challenge check limits its length.
    transaction =
        Fields(*call.body, errors).text("transaction", required, call.request.body.size());
  }
  COFFER_TRY_VOID(errors.check());
  return *std::move(transaction);
}

Result<http::Response> submit_challenge(const Services& services, const Call& call) {
  COFFER_TRY(const std::string transaction, read_transaction(call));
  const flows::SecretKeys keys = login_keys(services, call, "challenge");
  return session_response(guard_login(services, keys, [&]() -> Result<flows::Session> {
    COFFER_TRY(const auto challenge, flows::verify_challenge(services.flows, transaction));
    return flows::accept_challenge(services.flows, challenge,
                                   admit_client(services, call, "account:"));
  }));
}

Result<http::Response> sign_in(const Services& services, const Call& call) {
  Fields fields(*call.body);
  const auto public_key = fields.text("publicKey", required);
  const auto secret = fields.opaque("secret", required);
  COFFER_TRY_VOID(fields.check());
  const flows::SecretKeys keys = login_keys(services, call, "sign-in:" + *public_key);
  return session_response(guard_login(services, keys, [&] {
    return flows::sign_in(services.flows, *public_key, *secret,
                          admit_client(services, call, "sign-in:"));
  }));
}

Result<http::Response> refresh(const Services& services, const Call& call) {
  Fields fields(*call.body);
  const auto token = fields.opaque("refreshToken", required, 4096);
  COFFER_TRY_VOID(fields.check());
  const flows::SecretKeys keys = login_keys(services, call, "refresh");
  return session_response(guard_login(services, keys, [&] {
    return flows::refresh_session(services.flows, *token, admit_client(services, call, "refresh:"));
  }));
}

Result<http::Response> verify_otp(const Services& services, const Call& call) {
  Fields fields(*call.body);
  const auto username = fields.text("username", required);
  const auto password = fields.opaque("password", required);
  const auto otp = fields.text("otp", required);
  COFFER_TRY_VOID(fields.check());
  const std::string address = services.proxies.client_address(call.request);
  COFFER_TRY(const auto session, flows::log_in_user(services.flows, *username, *password, *otp,
                                                    {address, http::network_of(address)}));
  return never_stored(json_response(200, {{"accessToken", session.access_token},
                                          {"tokenType", "Bearer"},
                                          {"expiresIn", session.expires_in_s},
                                          {"associationId", session.association.to_string()}}));
}

/// A basic string of TOML has the escapes of JSON.
std::string toml_row(std::string_view name, const std::string& value) {
  return std::string(name) + " = " +
         Json(value).dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

/// A table of CURRENCIES. coffer does not know what the operator holds for an asset, so it does not
/// call any asset anchored.
std::string toml_currency(const Asset& asset) {
  return "\n[[CURRENCIES]]\n" + toml_row("code", asset.code.value()) +
         toml_row("issuer", asset.issuer) + "display_decimals = " + std::to_string(asset.decimals) +
         '\n' + toml_row("desc", asset.name) + toml_row("status", "private") +
         "is_asset_anchored = false\n" + toml_row("anchor_asset_type", "other");
}

/// SEP-1: the file from which wallets and SEP-10 clients read the trusted key.
Result<http::Response> serve_stellar_toml(const Services& services, const Call&) {
  const flows::Context& flows = services.flows;
  const auth::ChallengeServer& challenges = flows.logins->challenges;
  COFFER_TRY(const auto assets,
             flows.read([](store::Connection& db) { return store::list_assets(db); }));
  http::Response response;
  response.content_type = kTomlType;
  response.body = toml_row("VERSION", kSep1Version) +
                  toml_row("NETWORK_PASSPHRASE", challenges.network_passphrase()) +
                  toml_row("SIGNING_KEY", challenges.public_key().to_string()) +
                  toml_row("WEB_AUTH_ENDPOINT", flows::web_auth_endpoint(flows)) +
                  "\n[DOCUMENTATION]\n" +
                  toml_row("ORG_NAME", flows::challenge_domains(flows).home) +
                  toml_row("ORG_URL", flows::public_base_url(flows));
  for (const Asset& asset : assets) response.body += toml_currency(asset);
  return response;
}

}  // namespace

std::vector<Route> login_routes() {
  constexpr RouteGroup kAuth{"Auth", {}, {}, Access::login};
  constexpr RouteGroup kAuthOpen{"Auth", {}, {}, Access::open};
  return {with_query(kAuth("GET", "/v1/public/auth-connect", "getChallenge",
                           "Request a challenge to sign (SEP-10)", Lane::read, {{200, "Challenge"}},
                           {Slug::not_found, Slug::unauthorized}, get_challenge),
                     {{"account", "PublicKey", "The application's public key", true},
                      {"home_domain", "Text", "Optional; must be a home domain of this server"},
                      {"client_domain", "Text", "Ignored; coffer does not verify client domains"},
                      {"memo", "Text", "Not supported, because accounts are not shared"}}),
          {.method = "POST",
           .pattern = "/v1/public/auth-connect",
           .operation = "submitChallenge",
           .tag = "Auth",
           .summary = "Log in with a signed challenge",
           .lane = Lane::money,
           .access = Access::login,
           .body = Body::json_or_form,
           .request_schema = "SignedChallenge",
           .string_max = 64 * 1024,
           .responses = {{200, "Session"}},
           .problems = {Slug::invalid_challenge, Slug::unauthorized},
           .handler = submit_challenge},
          kAuthOpen("GET", "/.well-known/stellar.toml", "getStellarToml",
                    "Signing key, network and endpoint of the challenge login (SEP-1)",
                    Lane::system, {{200}}, {}, serve_stellar_toml),
          with_body(kAuth("POST", "/v1/public/auth-connect/sign-in", "signIn",
                          "Sign in with public key and secret", Lane::money, {{200, "Session"}},
                          {Slug::unauthorized}, sign_in),
                    "SignIn"),
          with_body(kAuth("POST", "/v1/public/auth/refresh", "refreshSession",
                          "Exchange a refresh token for a new idToken", Lane::money,
                          {{200, "Session"}}, {Slug::unauthorized}, refresh),
                    "Refresh"),
          with_body(kAuth("POST", "/v1/public/auth/verify-otp", "verifyOtp",
                          "Log in a user with password and one-time code, for the business routes",
                          Lane::password, {{200, "Token"}}, {Slug::unauthorized}, verify_otp),
                    "OtpLogin")};
}

}  // namespace coffer::api
