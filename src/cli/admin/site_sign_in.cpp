
#include "api/pipeline/traffic.h"
#include "app/app.h"
#include "auth/totp.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/text/next_part.h"
#include "cli/admin/site.h"
#include "cli/identity/operators.h"
#include "flows/identity/audit_log.h"
#include "flows/identity/operator_sign_in.h"
#include "flows/identity/operators.h"
#include "http/client_address.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kIssuer = "coffer";

std::string cookie_name(bool secure) { return secure ? "__Host-coffer-admin" : "coffer-admin"; }

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

/// The cookie is Secure if the page is served over TLS.
bool AdminSite::secure() const { return app_.admin_origin().starts_with("https://"); }

std::string AdminSite::new_attempt() {
  constexpr std::size_t kSecretBytes = 32;
  return to_base64url(app_.flows().random.bytes(kSecretBytes));
}

std::string AdminSite::attempt_of(const http::Request& request) const {
  return cookie(request, cookie_name(secure()) + "-attempt");
}

http::Response AdminSite::with_attempt(http::Response response, const std::string& attempt) const {
  constexpr std::int64_t kSeconds = flows::SignInChallenges::kLifetimeMs / 1'000;
  response.header("Set-Cookie", cookie_name(secure()) + "-attempt=" + attempt +
                                    "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" +
                                    std::to_string(kSeconds) + (secure() ? "; Secure" : ""));
  return response;
}

http::Response AdminSite::with_cookie(http::Response response, const std::string& id) const {
  std::string text = cookie_name(secure()) + "=" + id + "; Path=/; HttpOnly; SameSite=Strict";
  if (secure()) text += "; Secure";
  if (id.empty()) text += "; Max-Age=0";
  response.header("Set-Cookie", std::move(text));
  return response;
}

Result<AdminSite::Visitor> AdminSite::visitor(const http::Request& request) {
  const Problem signed_out(Slug::unauthorized, "Sign in first.");
  Visitor out;
  out.session_id = cookie(request, cookie_name(secure()));
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
  return {address, http::network_of(address)};
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
  return with_cookie(std::move(response), secret);
}

Result<http::Response> AdminSite::show_session(const http::Request&, const Visitor& visitor) {
  return json_response(to_json(
      {{"name", visitor.row.name},
       {"role", name(visitor.row.role)},
       {"csrfToken", visitor.session.csrf},
       {"authenticator", visitor.row.sealed_otp.has_value()},
       {"passkeys", visitor.row.passkeys},
       {"mustEnrol", flows::needs_second_factor(visitor.row) && !visitor.session.by_provider},
       {"idleSeconds", static_cast<int>(flows::OperatorSessions::kIdleMs / 1'000)}},
      false));
}

Result<http::Response> AdminSite::sign_out(const http::Request& request, const Visitor& visitor) {
  sessions_.end(visitor.session_id);
  COFFER_TRY_VOID(flows::record_action(
      app_.flows(), {visitor.row.name, "sign-out", flows::source_json(source_of(request))}));
  return with_cookie(no_content(), {});
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
