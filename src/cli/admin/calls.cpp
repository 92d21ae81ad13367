#include "cli/admin/calls.h"

#include <algorithm>

#include "api/pipeline/traffic.h"
#include "app/app.h"
#include "base/digest.h"
#include "base/limits/address_range.h"
#include "base/telemetry/log.h"
#include "base/text/ascii.h"
#include "base/text/next_part.h"
#include "flows/identity/login.h"
#include "flows/identity/operator_tokens.h"
#include "http/client_address.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kPlainCookie = "coffer-admin";
constexpr std::string_view kSecureCookie = "__Host-coffer-admin";  // only over TLS, for one host
constexpr std::string_view kKnown = "-known";
constexpr std::int64_t kKnownSeconds = 180 * kDayMs / 1'000;

/// The host and port of an origin; empty if it is not one of http or https.
std::string_view authority_of(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return origin.substr(scheme.size());
  }
  return {};
}

/// In lower case, without the port; an IPv6 address without its brackets.
std::string name_of(std::string_view authority) {
  const bool v6 = authority.starts_with('[');
  return ascii::to_lower(
      v6 ? authority.substr(1, std::min(authority.find(']'), authority.size()) - 1)
         : authority.substr(0, authority.find(':')));
}

/// The value of a cookie; empty if it was not sent.
std::string cookie_of(const http::Request& request, const std::string& name) {
  const std::string* header = request.header("Cookie");
  std::string_view rest = header == nullptr ? std::string_view() : *header;
  while (!rest.empty()) {
    const std::string_view pair = next_part(rest, ';');
    if (pair.starts_with(name + "=")) return std::string(pair.substr(name.size() + 1));
  }
  return {};
}

}  // namespace

AdminState::AdminState(App& of) : app(of), sessions(of.sessions()), challenges(of.flows().random) {
  const Config& config = app.config();
  if (config.oidc_issuer.empty()) return;
  provider = std::make_unique<flows::ProviderSignIn>(
      flows::ProviderSettings{config.oidc_issuer, config.oidc_client_id, config.oidc_client_secret},
      app.flows().clock, app.client(), app.resolver());
}

/// Whether the operator has named this host: in `admin_hosts`, or as the public address.
bool PageBrowser::is_configured(const std::string& name) const {
  const Config& config = app_.config();
  const auto is_it = [&](const std::string& known) { return name_of(known) == name; };
  return !name.empty() && (std::ranges::any_of(config.admin_hosts, is_it) ||
                           is_it(config.home_domain) || is_it(config.web_auth_domain));
}

/// A proxy may change Host, but no browser sends a forged Origin.
std::string PageBrowser::host_name() const {
  const std::string* origin = request_.header("Origin");
  const std::string name = origin == nullptr ? std::string() : name_of(authority_of(*origin));
  if (is_configured(name)) return name;
  return name_of(app_.proxies().host(request_));
}

/// Whether a request that changes data comes from the page itself. A browser sends Origin with
/// every POST, so a request without it is rejected.
bool PageBrowser::is_own() const {
  const std::string* origin = request_.header("Origin");
  const std::string_view page = origin == nullptr ? std::string_view() : authority_of(*origin);
  return !page.empty() &&
         (ascii::same_word(page, app_.proxies().host(request_)) || is_configured(name_of(page)));
}

/// Protects against DNS rebinding: an attacker's page can point its own host name at this server,
/// and would then have the same origin as the admin page. Its requests still carry the attacker's
/// name, so only IP addresses and configured names are accepted.
Result<void> PageBrowser::check_host() const {
  if (request_.header("Host") == nullptr) return {};  // no browser
  const std::string name = host_name();
  const bool own = NumericAddress::parse(name).has_value() || name == "localhost" ||
                   name == ascii::to_lower(app_.config().admin_listen.host) || is_configured(name);
  if (own) return {};
  return unexpected(
      Slug::forbidden,
      "The admin page does not accept this host name. Add it to the setting admin_hosts.");
}

bool PageBrowser::has_own_tls() const {
  return app_.listeners().admin_origin().starts_with("https://");
}

/// A proxy may terminate the TLS of the browser. A trusted proxy says so in X-Forwarded-Proto, and
/// the browser itself in the Origin of every POST.
bool PageBrowser::is_over_tls() const {
  const std::string* origin = request_.header("Origin");
  return has_own_tls() || app_.proxies().has_tls(request_) ||
         (origin != nullptr && origin->starts_with("https://"));
}

/// Browsers send a cookie to all ports of a host, so its name contains the port: that of the
/// address in the browser, or of the listener if a proxy does not pass it on.
std::string PageBrowser::port_suffix() const {
  const std::string* host = request_.header("Host");
  const std::string own = app_.listeners().admin_origin();
  const std::string& address = host != nullptr && host->rfind(':') != host->npos ? *host : own;
  const std::string port = address.substr(address.rfind(':') + 1);
  return std::ranges::all_of(port, ascii::is_digit) ? '-' + port : std::string();
}

std::string PageBrowser::cookie(std::string_view kind) const {
  const std::string suffix = port_suffix() + std::string(kind);
  std::string value = cookie_of(request_, std::string(kSecureCookie) + suffix);
  // A GET through a proxy that is not trusted does not show whether the browser uses TLS.
  if (value.empty() && !is_over_tls()) {
    value = cookie_of(request_, std::string(kPlainCookie) + suffix);
  }
  return value;
}

void PageBrowser::set_cookie(http::Response& response, std::string_view kind,
                             const std::string& value, std::optional<std::int64_t> seconds) const {
  const bool secure = is_over_tls();
  std::string text(secure ? kSecureCookie : kPlainCookie);
  text.append(port_suffix()).append(kind).append("=").append(value);
  text += "; Path=/; HttpOnly; SameSite=Strict";
  if (seconds) text += "; Max-Age=" + std::to_string(*seconds);
  if (secure) text += "; Secure";
  response.header("Set-Cookie", std::move(text));
}

flows::SignInSource PageBrowser::source() const {
  const std::string address = app_.proxies().client_address(request_);
  return {address, http::network_of(address), cookie(kKnown)};
}

/// A passkey is bound to a host name only, so a page on another port or scheme of the same host
/// could request it. Accepts two origins: that of the listener itself, and that of a TLS proxy in
/// front of it.
Result<auth::RelyingParty> PageBrowser::party() const {
  const std::string* origin = request_.header("Origin");
  const std::string name = host_name();
  const std::string own = app_.listeners().admin_origin();
  if (origin != nullptr) {
    const std::string scheme = own.substr(0, own.find(':') + 3);
    const bool is_name = !NumericAddress::parse(name).has_value();
    const bool is_proxied = *origin == "https://" + name;
    const bool is_direct = (has_own_tls() || name == "localhost") &&
                           *origin == scheme + name + own.substr(own.rfind(':'));
    if (is_name && (is_proxied || is_direct)) return auth::RelyingParty{name, *origin};
  }
  return unexpected(
      Slug::conflict,
      "Passkeys need a host name and TLS. Open this page at https:// with a name of the setting "
      "admin_hosts, or on the server at http://localhost" +
          own.substr(own.rfind(':')) + "/admin/.");
}

const flows::Context& Call::flows() const { return site.app.flows(); }

Result<void> Call::identify() {
  const Problem signed_out(Slug::unauthorized, "Sign in first.");
  visitor.session_id = browser.cookie({});
  if (visitor.session_id.empty()) return unexpected(signed_out);
  const auto session = site.sessions.find(visitor.session_id, flows().clock.monotonic_ms());
  if (!session) return unexpected(signed_out);
  visitor.session = *session;
  COFFER_TRY(const auto row, flows().read([&](store::Connection& db) {
    return store::find_operator(db, session->operator_id);
  }));
  if (!row || row->suspended || row->version != session->version) {
    site.sessions.end(visitor.session_id);
    return unexpected(signed_out);
  }
  visitor.row = *row;
  return {};
}

Result<void> Call::identify_program(std::string_view token) {
  auto found = flows::use_operator_token(flows(), std::string(token), browser.source());
  if (!found) return unexpected(rejected(found.error()));
  visitor.row = std::move(found->program);
  visitor.session_id = "token:" + visitor.row.name;
  visitor.commands = std::move(found->token.commands);
  return {};
}

Problem Call::rejected(const Problem& problem) const {
  if (problem.slug == Slug::unauthorized) {
    api::count_sign_in_failure(site.app.metrics(), "admin");
    log_warning("admin", "sign-in rejected",
                {{"address", browser.source().address}, {"request_id", request.request_id}});
  }
  return problem;
}

http::Response Call::begin_session(const store::OperatorRow& row, http::Response response,
                                   bool by_provider) const {
  constexpr std::size_t kBrowserBytesMax = 120;
  const std::string* agent = request.header("User-Agent");
  flows::OperatorSession session;
  session.operator_id = row.id;
  session.version = row.version;
  session.by_provider = by_provider;
  session.address = browser.source().address;
  session.browser = agent == nullptr ? "" : agent->substr(0, kBrowserBytesMax);
  session.began_at = flows().clock.now();
  const std::string secret =
      site.sessions.begin(flows().random, std::move(session), flows().clock.monotonic_ms());
  browser.set_cookie(response, {}, secret, {});
  browser.set_cookie(response, kKnown, flows::known_browser(flows(), flows::account_of(row)),
                     kKnownSeconds);
  return response;
}

http::Response Call::replace_session(const store::OperatorRow& row, http::Response response) const {
  site.sessions.end(visitor.session_id);
  return begin_session(row, std::move(response));
}

std::string Call::new_attempt() const {
  constexpr std::size_t kSecretBytes = 32;
  return to_base64url(flows().random.bytes(kSecretBytes));
}

http::Response Call::with_attempt(http::Response response, const std::string& attempt) const {
  browser.set_cookie(response, kAttemptCookie, attempt,
                     flows::SignInChallenges::kLifetimeMs / 1'000);
  return response;
}

Result<flows::PasskeyPlace> Call::place(const std::string& secret) const {
  COFFER_TRY(auto party, browser.party());
  return flows::PasskeyPlace{std::move(party), site.challenges, secret};
}

}  // namespace coffer::cli
