#include "outbound/identity_provider.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/digest.h"
#include "base/text/join.h"
#include "outbound/wire/address_trial.h"

namespace coffer::outbound {
namespace {

constexpr std::int64_t kKnownMs = kHourMs;
constexpr std::size_t kAnswerBytesMax = 64 * 1024;

Unexpected wrong_provider(const std::string& why) {
  return unexpected(Slug::provider_error, "The sign-in provider is not usable: " + why + ".");
}

std::string text_member(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Whether a list contains a word; `absent` if the list is missing.
bool lists(const nlohmann::json& object, const char* name, const char* word, bool absent) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) return absent;
  return std::any_of(found->begin(), found->end(),
                     [&](const nlohmann::json& one) { return one == word; });
}

/// Sign-in data must not cross a network in plain text.
bool is_safe(const std::string& text) {
  const auto url = parse_url(text);
  if (!url || text.find('#') != std::string::npos) return false;
  return url->is_protected();
}

}  // namespace

std::string form_encoded(const std::vector<std::pair<std::string, std::string>>& members) {
  return join(members, "&", [](const auto& member) {
    return percent_encoded(member.first) + '=' + percent_encoded(member.second);
  });
}

std::string check_issuer(const std::string& issuer) {
  const auto url = parse_url(issuer);
  if (!url) return "\"" + issuer + "\" is not a URL";
  if (!url->query.empty() || !is_safe(issuer)) {
    return "\"" + issuer + "\" must be an https URL without query and fragment";
  }
  return {};
}

Result<ProviderEndpoints> read_discovery(std::string_view text, const std::string& issuer) {
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  if (!document.is_object()) return wrong_provider("its discovery document is not a JSON object");
  if (text_member(document, "issuer") != issuer) {
    return wrong_provider("its discovery document has another issuer");
  }
  ProviderEndpoints out{text_member(document, "authorization_endpoint"),
                        text_member(document, "token_endpoint"), text_member(document, "jwks_uri"),
                        false};
  for (const std::string* url : {&out.authorization, &out.token, &out.keys}) {
    if (!is_safe(*url)) return wrong_provider("an endpoint is missing or does not use TLS");
  }
  if (!lists(document, "code_challenge_methods_supported", "S256", true)) {
    return wrong_provider("it does not support PKCE with S256");
  }
  const char* methods = "token_endpoint_auth_methods_supported";
  out.takes_secret_in_body = !lists(document, methods, "client_secret_basic", true) &&
                             lists(document, methods, "client_secret_post", false);
  return out;
}

IdentityProvider::IdentityProvider(std::string issuer, const Clock& clock, http::Client& client,
                                   Resolver& resolver)
    : issuer_(std::move(issuer)), clock_(clock), client_(client), resolver_(resolver) {}

Result<http::ClientResponse> IdentityProvider::call(
    const std::string& url, std::string method, std::string body,
    std::vector<std::pair<std::string, std::string>> headers) {
  const auto slot = calls_.try_take();
  if (!slot) {
    return unexpected(Problem(Slug::overloaded, "Too many sign-ins are waiting for the provider.")
                          .retry_after(5));
  }
  const auto parsed = parse_url(url);
  if (!parsed) return wrong_provider("an endpoint is not a URL");
  http::ClientRequest request = request_to(*parsed);
  request.method = std::move(method);
  request.body = std::move(body);
  request.headers = std::move(headers);
  request.headers.emplace_back("Accept", "application/json");
  request.response_bytes_max = kAnswerBytesMax;
  request.connect_timeout_ms = kTimeoutMs;
  COFFER_TRY(auto response, send_to_host(std::move(request), client_, resolver_, kTimeoutMs));
  if (response.truncated) return wrong_provider("its response is incomplete, or over 64 KiB");
  return response;
}

Result<ProviderEndpoints> IdentityProvider::endpoints() {
  {
    const Lock lock(mutex_);
    if (known_ && clock_.monotonic_ms() - known_ms_ < kKnownMs) return *known_;
  }
  const std::string base = issuer_.ends_with('/') ? issuer_.substr(0, issuer_.size() - 1) : issuer_;
  COFFER_TRY(const auto response, call(base + "/.well-known/openid-configuration", "GET", {}, {}));
  if (response.status != 200) {
    return wrong_provider("its discovery document has status " + std::to_string(response.status));
  }
  COFFER_TRY(auto read, read_discovery(response.body, issuer_));
  const Lock lock(mutex_);
  known_ = read;
  known_ms_ = clock_.monotonic_ms();
  return read;
}

Result<std::string> IdentityProvider::redeem(const ProviderEndpoints& endpoints,
                                             const CodeExchange& exchange) {
  std::vector<std::pair<std::string, std::string>> form = {
      {"grant_type", "authorization_code"},
      {"code", exchange.code},
      {"redirect_uri", exchange.redirect_uri},
      {"code_verifier", exchange.verifier.reveal()}};
  std::vector<std::pair<std::string, std::string>> headers = {
      {"Content-Type", "application/x-www-form-urlencoded"}};
  const std::string& secret = exchange.client_secret.reveal();
  if (secret.empty() || endpoints.takes_secret_in_body) {
    form.emplace_back("client_id", exchange.client_id);
    if (!secret.empty()) form.emplace_back("client_secret", secret);
  } else {
    // RFC 6749 section 2.3.1: both parts are form-encoded.
    const std::string both = percent_encoded(exchange.client_id) + ':' + percent_encoded(secret);
    headers.emplace_back("Authorization", "Basic " + to_base64(both));
  }
  COFFER_TRY(const auto response,
             call(endpoints.token, "POST", form_encoded(form), std::move(headers)));
  const nlohmann::json reply = nlohmann::json::parse(response.body, nullptr, false);
  if (response.status == 200 && reply.is_object()) {
    const std::string token = text_member(reply, "id_token");
    return token.empty() ? wrong_provider("its response contains no ID token")
                         : Result<std::string>(token);
  }
  const std::string error = reply.is_object() ? text_member(reply, "error") : std::string();
  if (response.status == 400 && error == "invalid_grant") {
    return unexpected(Slug::unauthorized, "the provider rejected the code");
  }
  if (response.status == 200) return wrong_provider("its token response is not a JSON object");
  return wrong_provider("its token endpoint responds with status " +
                        std::to_string(response.status) +
                        (error.empty() ? "" : " (" + error.substr(0, 64) + ")"));
}

std::unique_ptr<KeySet> IdentityProvider::key_set(const ProviderEndpoints& endpoints) const {
  return std::make_unique<KeySet>(endpoints.keys, kTimeoutMs, clock_, client_, resolver_);
}

}  // namespace coffer::outbound
