#include <algorithm>

#include "api/pipeline/traffic.h"
#include "app/app.h"
#include "auth/totp.h"
#include "base/digest.h"
#include "base/telemetry/log.h"
#include "base/text/ascii.h"
#include "base/text/next_part.h"
#include "cli/admin/site.h"
#include "cli/identity/operators.h"
#include "flows/identity/audit_log.h"
#include "flows/identity/login.h"
#include "flows/identity/operator_sign_in.h"
#include "flows/identity/operators.h"
#include "http/client_address.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kIssuer = "coffer";

constexpr std::string_view kPlainCookie = "coffer-admin";
constexpr std::string_view kSecureCookie = "__Host-coffer-admin";  // only over TLS, for one host
constexpr std::string_view kAttempt = "-attempt";
constexpr std::string_view kKnown = "-known";
constexpr std::int64_t kKnownSeconds = 180 * kDayMs / 1'000;

/// The value of a cookie; empty if it was not sent.
std::string cookie(const http::Request& request, const std::string& name) {
  const std::string* header = request.header("Cookie");
  std::string_view rest = header == nullptr ? std::string_view() : *header;
  while (!rest.empty()) {
    const std::string_view pair = next_part(rest, ';');
    if (pair.starts_with(name + "=")) return std::string(pair.substr(name.size() + 1));
  }
  return {};
}

}  // namespace

bool AdminSite::has_own_tls() const { return app_.admin_origin().starts_with("https://"); }

/// A proxy may terminate the TLS of the browser. A trusted proxy says so in X-Forwarded-Proto, and
/// the browser itself in the Origin of every POST.
bool AdminSite::is_over_tls(const http::Request& request) const {
  const std::string* origin = request.header("Origin");
  return has_own_tls() || app_.proxies().has_tls(request) ||
         (origin != nullptr && origin->starts_with("https://"));
}

/// Browsers send a cookie to all ports of a host, so its name contains the port: that of the
/// address in the browser, or of the listener if a proxy does not pass it on.
std::string AdminSite::port_suffix(const http::Request& request) const {
  const std::string* host = request.header("Host");
  const std::string own = app_.admin_origin();
  const std::string& address = host != nullptr && host->rfind(':') != host->npos ? *host : own;
  const std::string port = address.substr(address.rfind(':') + 1);
  return std::ranges::all_of(port, ascii::is_digit) ? '-' + port : std::string();
}

std::string AdminSite::cookie_of(const http::Request& request, std::string_view kind) const {
  const std::string suffix = port_suffix(request) + std::string(kind);
  std::string value = cookie(request, std::string(kSecureCookie) + suffix);
  // A GET through a proxy that is not trusted does not show whether the browser uses TLS.
  if (value.empty() && !is_over_tls(request)) {
    value = cookie(request, std::string(kPlainCookie) + suffix);
  }
  return value;
}

void AdminSite::set_cookie(const http::Request& request, http::Response& response,
                           std::string_view kind, const std::string& value,
                           std::optional<std::int64_t> seconds) const {
  const bool secure = is_over_tls(request);
  std::string text(secure ? kSecureCookie : kPlainCookie);
  text.append(port_suffix(request)).append(kind).append("=").append(value);
  text += "; Path=/; HttpOnly; SameSite=Strict";
  if (seconds) text += "; Max-Age=" + std::to_string(*seconds);
  if (secure) text += "; Secure";
  response.header("Set-Cookie", std::move(text));
}

std::string AdminSite::new_attempt() {
  constexpr std::size_t kSecretBytes = 32;
  return to_base64url(app_.flows().random.bytes(kSecretBytes));
}

std::string AdminSite::attempt_of(const http::Request& request) const {
  return cookie_of(request, kAttempt);
}

http::Response AdminSite::with_attempt(const http::Request& request, http::Response response,
                                       const std::string& attempt) const {
  set_cookie(request, response, kAttempt, attempt, flows::SignInChallenges::kLifetimeMs / 1'000);
  return response;
}

Result<AdminSite::Visitor> AdminSite::visitor(const http::Request& request) {
  const Problem signed_out(Slug::unauthorized, "Sign in first.");
  Visitor out;
  out.session_id = cookie_of(request, {});
  if (out.session_id.empty()) return unexpected(signed_out);
  const auto session = sessions_.find(out.session_id, app_.flows().clock.monotonic_ms());
  if (!session) return unexpected(signed_out);
  out.session = *session;
  COFFER_TRY(const auto row, app_.flows().read([&](store::Connection& db) {
    return store::find_operator(db, session->operator_id);
  }));
  if (!row || row->suspended || row->version != session->version) {
    sessions_.end(out.session_id);
    return unexpected(signed_out);
  }
  out.row = *row;
  return out;
}

flows::SignInSource AdminSite::source_of(const http::Request& request) const {
  const std::string address = app_.proxies().client_address(request);
  return {address, http::network_of(address), cookie_of(request, kKnown)};
}

Problem AdminSite::rejected_sign_in(const http::Request& request, const Problem& problem) {
  if (problem.slug == Slug::unauthorized) {
    api::count_sign_in_failure(app_.metrics(), "admin");
    log_warning("admin", "sign-in rejected",
                {{"address", source_of(request).address}, {"request_id", request.request_id}});
  }
  return problem;
}

Result<http::Response> AdminSite::sign_in(const http::Request& request) {
  COFFER_TRY(const Form form, Form::read(request));
  const flows::OperatorProof proof{Secret(form.text("password")), form.text("code")};
  COFFER_TRY(const auto step, one_at_a_time(request, [&] {
               return flows::sign_in_operator(app_.flows(), form.text("name"), proof,
                                              source_of(request));
             }));
  if (step.needs_passkey) return ask_for_passkey(request, step.row);
  return begin_session(request, step.row, no_content());
}

Result<http::Response> AdminSite::open_link(const http::Request& request) {
  COFFER_TRY(const Form form, Form::read(request));
  const auto name = flows::name_of_link(app_.flows(), form.text("link"), source_of(request));
  if (!name) return unexpected(rejected_sign_in(request, name.error()));
  return json_response(
      to_json({{"name", name->empty() ? std::nullopt : std::optional(*name)}}, false));
}

Result<http::Response> AdminSite::claim(const http::Request& request) {
  COFFER_TRY(const Form form, Form::read(request));
  COFFER_TRY(const auto row, one_at_a_time(request, [&] {
               return flows::claim_link(app_.flows(), form.text("link"), form.text("name"),
                                        Secret(form.text("password")), source_of(request));
             }));
  return begin_session(request, row, no_content());
}

Result<http::Response> AdminSite::begin_session(const http::Request& request,
                                                const store::OperatorRow& row,
                                                http::Response response, bool by_provider) {
  constexpr std::size_t kBrowserBytesMax = 120;
  const flows::Context& flows = app_.flows();
  const std::string* browser = request.header("User-Agent");
  flows::OperatorSession session;
  session.operator_id = row.id;
  session.version = row.version;
  session.by_provider = by_provider;
  session.address = source_of(request).address;
  session.browser = browser == nullptr ? "" : browser->substr(0, kBrowserBytesMax);
  session.began_at = flows.clock.now();
  const std::string secret =
      sessions_.begin(flows.random, std::move(session), flows.clock.monotonic_ms());
  set_cookie(request, response, {}, secret, {});
  set_cookie(request, response, kKnown, flows::known_browser(flows, flows::account_of(row)),
             kKnownSeconds);
  return response;
}

Result<http::Response> AdminSite::show_session(const http::Request&, const Visitor& visitor) {
  return json_response(to_json(
      {{"name", visitor.row.name},
       {"role", name(visitor.row.role)},
       {"csrfToken", visitor.session.csrf},
       {"authenticator", visitor.row.sealed_otp.has_value()},
       {"passkeys", visitor.row.passkeys},
       {"mustEnrol", flows::needs_second_factor(visitor.row) && !visitor.session.by_provider},
       {"apiUrl", flows::public_base_url(app_.flows())},
       {"idleSeconds", static_cast<int>(flows::OperatorSessions::kIdleMs / 1'000)}},
      false));
}

Result<http::Response> AdminSite::sign_out(const http::Request& request, const Visitor& visitor) {
  sessions_.end(visitor.session_id);
  COFFER_TRY_VOID(flows::record_action(
      app_.flows(), {visitor.row.name, "sign-out", flows::source_json(source_of(request))}));
  http::Response response = no_content();
  set_cookie(request, response, {}, {}, 0);
  return response;
}

/// A new authenticator grants full access to the account, so a session alone is not enough to enrol
/// one.
Result<http::Response> AdminSite::begin_otp(const http::Request& request, const Visitor& visitor) {
  COFFER_TRY(const Form form, Form::read(request));
  COFFER_TRY(const auto proof, proof_of(request, form, visitor));
  COFFER_TRY_VOID(one_at_a_time(request, [&] {
    return flows::prove_operator(app_.flows(), visitor.row.id, "begin authenticator enrolment",
                                 proof, source_of(request));
  }));
  const Secret key = auth::generate_totp_key(app_.flows().random);
  sessions_.set_otp_key(visitor.session_id, key);
  return json_response(
      to_json({{"otpauthUri", auth::otpauth_uri(key, kIssuer, visitor.row.name)}}, false));
}

/// begin_otp() verified the operator before it stored the key in this session.
Result<http::Response> AdminSite::confirm_otp(const http::Request& request,
                                              const Visitor& visitor) {
  COFFER_TRY(const Form form, Form::read(request));
  if (visitor.session.otp_key.empty()) {
    return unexpected(Slug::conflict, "No enrolment is in progress. Start again.");
  }
  COFFER_TRY(const auto enrolled,
             flows::enrol_otp(app_.flows(), visitor.row.id, visitor.session.otp_key,
                              form.text("code"), source_of(request)));
  sessions_.end(visitor.session_id);
  return begin_session(request, enrolled.row, recovery_codes_response(enrolled.recovery_codes));
}

Result<http::Response> AdminSite::renew_recovery_codes(const http::Request& request,
                                                       const Visitor& visitor) {
  COFFER_TRY(const Form form, Form::read(request));
  COFFER_TRY(const auto proof, proof_of(request, form, visitor));
  COFFER_TRY(const auto codes, one_at_a_time(request, [&] {
               return flows::renew_recovery_codes(app_.flows(), visitor.row.id, proof,
                                                  source_of(request));
             }));
  return recovery_codes_response(codes);
}

Result<http::Response> AdminSite::change_password(const http::Request& request,
                                                  const Visitor& visitor) {
  COFFER_TRY(const Form form, Form::read(request));
  COFFER_TRY(const auto proof, proof_of(request, form, visitor, "present"));
  COFFER_TRY(const auto row, one_at_a_time(request, [&] {
               return flows::change_operator_password(app_.flows(), visitor.row.id, proof,
                                                      Secret(form.text("next")),
                                                      source_of(request));
             }));
  sessions_.end(visitor.session_id);
  return begin_session(request, row, no_content());
}

Result<http::Response> AdminSite::list_sessions(const http::Request&, const Visitor& visitor) {
  const flows::Context& flows = app_.flows();
  CommandResult result{.list = true};
  for (const auto& listed : sessions_.list(visitor.row.id, flows.clock.monotonic_ms())) {
    Record record = session_record(listed, flows.clock);
    const std::string own = flows::OperatorSessions::listed_id(visitor.session_id);
    record.emplace_back("present", listed.id == own);
    result.records.push_back(std::move(record));
  }
  return json_response(to_json(result));
}

Result<http::Response> AdminSite::end_session(const http::Request& request,
                                              const Visitor& visitor) {
  COFFER_TRY(const Form form, Form::read(request));
  if (!sessions_.end_listed(form.text("id"), visitor.row.id)) {
    return unexpected(Slug::not_found, "This session has already ended.");
  }
  COFFER_TRY_VOID(flows::record_action(
      app_.flows(), {visitor.row.name, "end session", flows::source_json(source_of(request))}));
  return no_content();
}

/// A stolen session must not be enough to move money or to grant access.
Result<void> AdminSite::require_recent_sign_in(const Command& command, const Visitor& visitor) {
  const std::int64_t age_ms = app_.flows().clock.monotonic_ms() - visitor.session.began_ms;
  if (!needs_recent_sign_in(command) || age_ms < flows::OperatorSessions::kFreshMs) return {};
  sessions_.end(visitor.session_id);
  return unexpected(
      Slug::unauthorized,
      "This command moves money or changes access. Sign in again to confirm your identity.");
}

}  // namespace coffer::cli
