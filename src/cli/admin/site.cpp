#include "cli/admin/site.h"

#include <algorithm>
#include <array>

#include "api/about/web_documents.h"
#include "api/pipeline/traffic.h"
#include "app/app.h"
#include "base/limits/address_range.h"
#include "base/telemetry/log.h"
#include "base/text/ascii.h"
#include "cli/command.h"
#include "flows/identity/operator_sign_in.h"
#include "http/client_address.h"
#include "http/problem_json.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kRoot = "/admin";
constexpr std::string_view kApi = "/admin/api/";
constexpr std::string_view kRun = "run/";
constexpr std::string_view kDownloads = "downloads/";
/// Calls that check a password or a one-time link.
constexpr std::array<std::string_view, 7> kPasswordCalls = {
    "sign-in",        "claim",          "password",       "authenticator",
    "recovery-codes", "passkeys/begin", "passkeys/remove"};
/// Calls that wait for another machine.
constexpr std::string_view kProviderCall = "sign-in/provider";
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Serves a file of the page. Browsers revalidate it on every use.
Result<http::Response> serve_file(const http::Request& request, std::string_view name) {
  if (request.method != "GET" && request.method != "HEAD") {
    return unexpected(Slug::method_not_allowed, "This path accepts GET only.");
  }
  const std::string path = "admin/" + std::string(name.empty() ? "index.html" : name);
  const http::Document* document = api::find_web_document(path);
  if (document == nullptr) return unexpected(Slug::not_found, "This page does not exist.");
  http::Response response = document->respond(request);
  response.header("Cache-Control", "no-cache");
  return response;
}

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

/// The command that `call` runs; nullptr for other calls.
const Command* command_of(std::string_view call) {
  if (!call.starts_with(kRun)) return nullptr;
  std::string path(call.substr(kRun.size()));
  std::replace(path.begin(), path.end(), '/', ' ');
  return find_command(path);
}

/// Whether the command takes the content of a file.
bool takes_content(const Command& command) {
  return std::ranges::any_of(command.arguments, [](const Argument& argument) {
    return argument.value == Argument::Value::content;
  });
}

/// Maps the method to a fixed set of label values, so that clients cannot create metric series.
std::string_view method_label(const http::Request& request) {
  for (const std::string_view known : {"GET", "HEAD", "POST"}) {
    if (request.method == known) return known;
  }
  return "other";
}

}  // namespace

AdminSite::AdminSite(App& app)
    : app_(app), sessions_(app.sessions()), challenges_(app.flows().random) {
  const Config& config = app.config();
  if (config.oidc_issuer.empty()) return;
  provider_ = std::make_unique<flows::ProviderSignIn>(
      flows::ProviderSettings{config.oidc_issuer, config.oidc_client_id, config.oidc_client_secret},
      app.flows().clock, app.client(), app.resolver());
}

bool AdminSite::owns(std::string_view path) {
  return path == kRoot || path.starts_with("/admin/") || path == MetricsPage::kPath;
}

Result<http::Admission> AdminSite::admit(const http::Request& head, std::uint64_t) const {
  http::Admission out;
  const std::string_view path = head.path;
  if (path.starts_with(kApi)) {
    const std::string_view call = path.substr(kApi.size());
    const bool takes_password = std::ranges::find(kPasswordCalls, call) != kPasswordCalls.end();
    const Command* command = command_of(call);
    const bool waits =
        call.starts_with(kProviderCall) || (command != nullptr && command->calls_out);
    out.lane = takes_password                 ? Lane::password
               : waits                        ? Lane::outbound
               : call.starts_with(kDownloads) ? Lane::exports
                                              : Lane::admin;
    if (command != nullptr && takes_content(*command))
      out.body_bytes_max = 2 * kContentBytesMax;  // room for JSON escapes
  }
  // Calls that check passwords are counted by client network, because a forged session cookie must
  // not start a new share of the lane. In the admin lane, a forged cookie gains nothing: the first
  // look-up rejects it.
  const std::string* session = out.lane == Lane::admin ? head.header("Cookie") : nullptr;
  const std::string who =
      session != nullptr ? *session : http::network_of(app_.proxies().client_address(head));
  out.caller.id = std::hash<std::string>()(who);
  return out;
}

http::Response AdminSite::handle(http::Request& request) {
  const Stopwatch watch;
  const auto rejected = [&](const Problem& problem) {
    return http::problem_response(problem, request.path, request.request_id,
                                  flows::public_base_url(app_.flows()));
  };
  const bool is_scrape = request.path == MetricsPage::kPath;
  const store::ReadersScope scope(is_scrape ? store::Readers::system : store::Readers::control);
  http::Response response;
  try {
    auto result = route(request);
    response = result ? *std::move(result) : rejected(result.error());
  } catch (const std::exception& fault) {
    log_error(
        "admin", "request failed",
        {{"path", request.path}, {"request_id", request.request_id}, {"error", fault.what()}});
    response = rejected(Problem(Slug::unexpected_error));
  }
  // The page shows ages by the server's time, which a demo can advance.
  if (request.path.starts_with(kApi)) {
    response.header("Coffer-Time", app_.flows().clock.now().to_string());
  }
  response.header("Content-Security-Policy", std::string(kPolicy))
      .header("Referrer-Policy", "no-referrer")
      .header("Cross-Origin-Opener-Policy", "same-origin")
      .header("Cross-Origin-Resource-Policy", "same-origin");
  api::count_request(app_.metrics(), method_label(request), is_scrape ? MetricsPage::kPath : kRoot,
                     response.status, watch.elapsed_us());
  return response;
}

/// Whether the operator has named this host: in `admin_hosts`, or as the public address.
bool AdminSite::is_configured(const std::string& name) const {
  const Config& config = app_.config();
  const auto is_it = [&](const std::string& known) { return name_of(known) == name; };
  return !name.empty() && (std::ranges::any_of(config.admin_hosts, is_it) ||
                           is_it(config.home_domain) || is_it(config.web_auth_domain));
}

/// A proxy may change Host, but no browser sends a forged Origin.
std::string AdminSite::host_name(const http::Request& request) const {
  const std::string* origin = request.header("Origin");
  const std::string name = origin == nullptr ? std::string() : name_of(authority_of(*origin));
  if (is_configured(name)) return name;
  return name_of(app_.proxies().host(request));
}

/// Whether a request that changes data comes from the page itself. A browser sends Origin with
/// every POST, so a request without it is rejected.
bool AdminSite::is_own(const http::Request& request) const {
  const std::string* origin = request.header("Origin");
  const std::string_view page = origin == nullptr ? std::string_view() : authority_of(*origin);
  return !page.empty() &&
         (ascii::same_word(page, app_.proxies().host(request)) || is_configured(name_of(page)));
}

/// Protects against DNS rebinding: an attacker's page can point its own host name at this server,
/// and would then have the same origin as the admin page. Its requests still carry the attacker's
/// name, so only IP addresses and configured names are accepted.
Result<void> AdminSite::check_host(const http::Request& request) const {
  if (request.header("Host") == nullptr) return {};  // no browser
  const std::string name = host_name(request);
  const bool own = NumericAddress::parse(name).has_value() || name == "localhost" ||
                   name == ascii::to_lower(app_.config().admin_listen.host) || is_configured(name);
  if (own) return {};
  return unexpected(
      Slug::forbidden,
      "The admin page does not accept this host name. Add it to the setting admin_hosts.");
}

Result<http::Response> AdminSite::route(const http::Request& request) {
  const std::string_view path = request.path;
  COFFER_TRY_VOID(check_host(request));
  if (path == MetricsPage::kPath) return metrics_.handle(request);
  if (!owns(path) && path != "/") return unexpected(Slug::not_found, "This page does not exist.");
  if (path == kRoot || path == "/") {
    http::Response response;
    response.status = 308;
    response.content_type.clear();
    response.header("Location", "/admin/");
    return response;
  }
  if (path.starts_with(kApi)) return call(request, path.substr(kApi.size()));
  return serve_file(request, path.substr(kRoot.size() + 1));
}

Result<http::Response> AdminSite::call(const http::Request& request, std::string_view path) {
  struct Open {
    std::string_view method;
    std::string_view path;
    Action action;
  };
  struct Signed {
    std::string_view method;
    std::string_view path;
    SignedAction action;
    bool before_otp = false;  // allowed before the operator has enrolled a second factor
  };
  static constexpr std::array<Open, 8> kOpen = {
      {{"POST", "sign-in", &AdminSite::sign_in},
       {"GET", "sign-in/options", &AdminSite::sign_in_options},
       {"POST", "sign-in/passkey", &AdminSite::passkey_sign_in},
       {"POST", "sign-in/passkey/begin", &AdminSite::begin_passkey_sign_in},
       {"POST", "sign-in/provider", &AdminSite::provider_sign_in},
       {"POST", "sign-in/provider/begin", &AdminSite::begin_provider_sign_in},
       {"POST", "link", &AdminSite::open_link},
       {"POST", "claim", &AdminSite::claim}}};
  static constexpr std::array<Signed, 14> kSigned = {{
      {"GET", "session", &AdminSite::show_session, true},
      {"POST", "sign-out", &AdminSite::sign_out, true},
      {"POST", "authenticator", &AdminSite::begin_otp, true},
      {"POST", "authenticator/confirm", &AdminSite::confirm_otp, true},
      {"GET", "passkeys", &AdminSite::list_passkeys, true},
      {"POST", "passkeys", &AdminSite::add_passkey, true},
      {"POST", "passkeys/begin", &AdminSite::begin_passkey, true},
      {"POST", "passkeys/remove", &AdminSite::remove_passkey},
      {"POST", "passkeys/challenge", &AdminSite::passkey_challenge},
      {"POST", "recovery-codes", &AdminSite::renew_recovery_codes},
      {"POST", "password", &AdminSite::change_password},
      {"GET", "sessions", &AdminSite::list_sessions},
      {"POST", "sessions/end", &AdminSite::end_session},
      {"GET", "commands", &AdminSite::list_commands},
  }};
  const bool change = request.method == "POST";
  if (!change && request.method != "GET") {
    return unexpected(Slug::method_not_allowed, "This path accepts GET and POST only.");
  }
  if (change && !is_own(request)) {
    return unexpected(Slug::forbidden,
                      "The request does not come from the admin page. If a proxy in front of "
                      "coffer changes Host, "
                      "add the name of the page to the setting admin_hosts.");
  }
  for (const Open& row : kOpen) {
    if (row.path == path && row.method == request.method) return (this->*row.action)(request);
  }
  COFFER_TRY(const Visitor who, visitor(request));
  const std::string* token = request.header("X-CSRF-Token");
  if (change && (token == nullptr || !equal_constant_time(*token, who.session.csrf))) {
    return unexpected(Slug::forbidden, "The session token is missing. Reload the page.");
  }
  const bool enrolling = flows::needs_second_factor(who.row) && !who.session.by_provider;
  const Problem enrol_first(Slug::forbidden,
                            "An authenticator or a passkey is required. Enrol one first.");
  for (const Signed& row : kSigned) {
    if (row.path != path || row.method != request.method) continue;
    if (enrolling && !row.before_otp) return unexpected(enrol_first);
    return (this->*row.action)(request, who);
  }
  if (enrolling) return unexpected(enrol_first);
  if (path.starts_with(kDownloads) && !change)
    return send_file(who, path.substr(kDownloads.size()));
  if (!path.starts_with(kRun)) return unexpected(Slug::not_found, "This path does not exist.");
  return run(request, who, path.substr(kRun.size()));
}

}  // namespace coffer::cli
