#include "app/app.h"
#include "auth/totp.h"
#include "cli/admin/calls.h"
#include "cli/identity/operators.h"
#include "flows/identity/audit_log.h"
#include "flows/identity/login.h"
#include "flows/identity/operators.h"
#include "outbound/wire/url.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kIssuer = "coffer";

Result<http::Response> sign_in(Call& call) {
  COFFER_TRY(const Form form, Form::read(call.request));
  const flows::OperatorProof proof{Secret(form.text("password")), form.text("code")};
  COFFER_TRY(const auto step, call.one_at_a_time([&] {
    return flows::sign_in_operator(call.flows(), form.text("name"), proof, call.browser.source());
  }));
  if (step.needs_passkey) return ask_for_passkey(call, step.row);
  return call.begin_session(step.row, no_content());
}

Result<http::Response> open_link(Call& call) {
  COFFER_TRY(const Form form, Form::read(call.request));
  const auto name = flows::name_of_link(call.flows(), form.text("link"), call.browser.source());
  if (!name) return unexpected(call.rejected(name.error()));
  return json_response(
      to_json({{"name", name->empty() ? std::nullopt : std::optional(*name)}}, false));
}

Result<http::Response> claim(Call& call) {
  COFFER_TRY(const Form form, Form::read(call.request));
  COFFER_TRY(const auto row, call.one_at_a_time([&] {
    return flows::claim_link(call.flows(), form.text("link"), form.text("name"),
                             Secret(form.text("password")), call.browser.source());
  }));
  return call.begin_session(row, no_content());
}

/// Tells the sign-in page which provider is configured.
Result<http::Response> sign_in_options(Call& call) {
  nlohmann::json provider;
  if (call.site.provider) provider = outbound::parse_url(call.site.provider->issuer()).value().host;
  return json_response(nlohmann::json{{"provider", provider}}.dump());
}

/// The provider sends the browser back to the admin page, and the page then makes the sign-in call.
/// So the call has the page's origin, and opening a URL with a code in it changes nothing.
Result<flows::ProviderVisit> visit_of(Call& call, const std::string& attempt) {
  if (!call.site.provider) return unexpected(Slug::not_found, "No sign-in provider is configured.");
  const std::string* origin = call.request.header("Origin");  // checked before the call
  return flows::ProviderVisit{call.site.challenges, attempt, *origin + "/admin/"};
}

Result<http::Response> begin_provider_sign_in(Call& call) {
  const std::string attempt = call.new_attempt();
  COFFER_TRY(const auto visit, visit_of(call, attempt));
  COFFER_TRY(const std::string url, call.site.provider->begin(visit));
  return call.with_attempt(json_response(nlohmann::json{{"url", url}}.dump()), attempt);
}

Result<http::Response> sign_in_with_provider(Call& call) {
  COFFER_TRY(const Form form, Form::read(call.request));
  COFFER_TRY(const auto visit, visit_of(call, call.browser.cookie(kAttemptCookie)));
  const auto row = flows::sign_in_with_provider(
      call.flows(), *call.site.provider, visit,
      {form.text("code"), form.text("state"), form.text("iss")}, call.browser.source());
  if (!row) return unexpected(call.rejected(row.error()));
  return call.begin_session(*row, no_content(), true);
}

Result<http::Response> show_session(Call& call) {
  return json_response(
      to_json({{"name", call.visitor.row.name},
               {"role", name(call.visitor.row.role)},
               {"csrfToken", call.visitor.session.csrf},
               {"authenticator", call.visitor.row.sealed_otp.has_value()},
               {"passkeys", call.visitor.row.passkeys},
               {"mustEnrol",
                flows::needs_second_factor(call.visitor.row) && !call.visitor.session.by_provider},
               {"apiUrl", flows::public_base_url(call.flows())},
               {"idleSeconds", static_cast<int>(flows::OperatorSessions::kIdleMs / 1'000)}},
              false));
}

Result<http::Response> sign_out(Call& call) {
  call.site.sessions.end(call.visitor.session_id);
  COFFER_TRY_VOID(flows::record_action(call.flows(), {call.visitor.row.name, "sign-out",
                                                      flows::source_json(call.browser.source())}));
  http::Response response = no_content();
  call.browser.set_cookie(response, {}, {}, 0);
  return response;
}

/// A new authenticator grants full access to the account, so a session alone is not enough to enrol
/// one.
Result<http::Response> begin_otp(Call& call) {
  COFFER_TRY(const Form form, Form::read(call.request));
  COFFER_TRY(const auto proof, proof_of(call, form));
  COFFER_TRY_VOID(call.one_at_a_time([&] {
    return flows::prove_operator(call.flows(), call.visitor.row.id, "begin authenticator enrolment",
                                 proof, call.browser.source());
  }));
  const Secret key = auth::generate_totp_key(call.flows().random);
  call.site.sessions.set_otp_key(call.visitor.session_id, key);
  return json_response(
      to_json({{"otpauthUri", auth::otpauth_uri(key, kIssuer, call.visitor.row.name)}}, false));
}

/// begin_otp() verified the operator before it stored the key in this session.
Result<http::Response> confirm_otp(Call& call) {
  COFFER_TRY(const Form form, Form::read(call.request));
  if (call.visitor.session.otp_key.empty()) {
    return unexpected(Slug::conflict, "No enrolment is in progress. Start again.");
  }
  COFFER_TRY(const auto enrolled,
             flows::enrol_otp(call.flows(), call.visitor.row.id, call.visitor.session.otp_key,
                              form.text("code"), call.browser.source()));
  return call.replace_session(enrolled.row, recovery_codes_response(enrolled.recovery_codes));
}

Result<http::Response> renew_recovery_codes(Call& call) {
  COFFER_TRY(const Form form, Form::read(call.request));
  COFFER_TRY(const auto proof, proof_of(call, form));
  COFFER_TRY(const auto codes, call.one_at_a_time([&] {
    return flows::renew_recovery_codes(call.flows(), call.visitor.row.id, proof,
                                       call.browser.source());
  }));
  return recovery_codes_response(codes);
}

Result<http::Response> change_password(Call& call) {
  COFFER_TRY(const Form form, Form::read(call.request));
  COFFER_TRY(const auto proof, proof_of(call, form, "present"));
  COFFER_TRY(const auto row, call.one_at_a_time([&] {
    return flows::change_operator_password(call.flows(), call.visitor.row.id, proof,
                                           Secret(form.text("next")), call.browser.source());
  }));
  return call.replace_session(row, no_content());
}

Result<http::Response> list_sessions(Call& call) {
  const flows::Context& flows = call.flows();
  const std::string own = flows::OperatorSessions::listed_id(call.visitor.session_id);
  const auto sessions = call.site.sessions.list(call.visitor.row.id, flows.clock.monotonic_ms());
  return json_response(to_json(list_of({}, sessions, [&](const auto& listed) {
    Record record = session_record(listed, flows.clock);
    record.emplace_back("present", listed.id == own);
    return record;
  })));
}

Result<http::Response> end_session(Call& call) {
  COFFER_TRY(const Form form, Form::read(call.request));
  if (!call.site.sessions.end_listed(form.text("id"), call.visitor.row.id)) {
    return unexpected(Slug::not_found, "This session has already ended.");
  }
  COFFER_TRY_VOID(flows::record_action(call.flows(), {call.visitor.row.name, "end session",
                                                      flows::source_json(call.browser.source())}));
  return no_content();
}

}  // namespace

std::span<const CallRow> sign_in_calls() {
  static constexpr CallRow kCalls[]{
      {"POST", "sign-in", sign_in, Access::open, Lane::password},
      {"GET", "sign-in/options", sign_in_options, Access::open},
      {"POST", "sign-in/provider", sign_in_with_provider, Access::open, Lane::outbound},
      {"POST", "sign-in/provider/begin", begin_provider_sign_in, Access::open, Lane::outbound},
      {"POST", "link", open_link, Access::open},
      {"POST", "claim", claim, Access::open, Lane::password},
      {"GET", "session", show_session, Access::enrolling},
      {"POST", "sign-out", sign_out, Access::enrolling},
      {"POST", "authenticator", begin_otp, Access::enrolling, Lane::password},
      {"POST", "authenticator/confirm", confirm_otp, Access::enrolling},
      {"POST", "recovery-codes", renew_recovery_codes, Access::enrolled, Lane::password},
      {"POST", "password", change_password, Access::enrolled, Lane::password},
      {"GET", "sessions", list_sessions},
      {"POST", "sessions/end", end_session},
  };
  return kCalls;
}

}  // namespace coffer::cli
