// The admin page: its files, sign-in, and the commands of the command line over HTTP. Everything
// that the page shows or does is a row in the table of commands, which the server runs for the
// signed-in operator. So the page and the command line behave identically.
//
//   GET  /admin/                      the page; its files below it
//   GET  /admin/api/session           the operator, the CSRF token, the next step of the sign-in
//   GET  /admin/api/sign-in/options   {provider}: host of the sign-in provider, or null
//   POST /admin/api/sign-in           {name, password, code}; for an operator with passkeys, a
//                                     right password without a code gives {passkey}: options
//   POST /admin/api/sign-in/passkey/begin   options for a passkey alone
//   POST /admin/api/sign-in/passkey   {id, clientDataJSON, authenticatorData, signature, ...}
//   POST /admin/api/sign-in/provider/begin  {url} of the provider, for the browser
//   POST /admin/api/sign-in/provider  {code, state, iss}, as the provider sent the browser back
//   POST /admin/api/sign-out
//   POST /admin/api/link              {link}: {name} of its operator, or null
//   POST /admin/api/claim             {link, name, password}: a one-time link
//   POST /admin/api/authenticator     {password, code} begins enrolment: {otpauthUri}
//   POST /admin/api/authenticator/confirm  {code}: {recoveryCodes}
//   POST /admin/api/recovery-codes    {password, code}: {recoveryCodes}
//   POST /admin/api/password          {present, code, next}
//   GET  /admin/api/passkeys          the operator's own
//   POST /admin/api/passkeys/begin    {password, code} begins adding one: options
//   POST /admin/api/passkeys          {name, clientDataJSON, attestationObject}: {recoveryCodes}
//   POST /admin/api/passkeys/remove   {id, password, code}
//   POST /admin/api/passkeys/challenge      options for a passkey in place of a code
//   GET  /admin/api/sessions          the operator's own
//   POST /admin/api/sessions/end      {id}
//   GET  /admin/api/commands          the commands that the operator may run, with arguments
//   GET  /admin/api/run/COMMAND       a command that a viewer may run; arguments in the query
//   POST /admin/api/run/COMMAND       any command; arguments in a JSON object
//   GET  /admin/api/downloads/NAME    the file that a command of this session produced; once
//   GET  /metrics                     for Prometheus (cli/admin/metrics_page.h)
//
// A POST must come from the page itself (Origin). After sign-in, it must also carry the CSRF token
// in X-CSRF-Token. `code` is an authenticator code or a recovery code, and empty if the operator
// has no second factor; `passkey`, an object as for sign-in/passkey, can replace it. A command that
// moves money or changes access requires a recent sign-in: otherwise it ends the session, and the
// page asks the operator to sign in again. Errors are problem+json.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/admin/downloads.h"
#include "cli/admin/form.h"
#include "cli/admin/metrics_page.h"
#include "cli/command.h"
#include "flows/identity/operator_sessions.h"
#include "flows/identity/operator_sign_in.h"
#include "flows/identity/passkeys.h"
#include "flows/identity/provider_sign_in.h"
#include "flows/identity/sign_in_guard.h"
#include "http/message.h"
#include "store/identity/operators.h"

namespace coffer::cli {

class AdminSite {
 public:
  /// `app` must outlive the site.
  explicit AdminSite(App& app);

  /// Whether a path on a shared listener belongs to the admin page.
  static bool owns(std::string_view path);
  /// Assigns calls that check a password to the lane `password`, calls that wait for other machines
  /// to `outbound`, downloads to `exports`, and other API calls to `admin`. In `admin`, each
  /// session is a separate caller; in the other lanes, each client network is.
  Result<http::Admission> admit(const http::Request& head, std::uint64_t body_bytes) const;
  /// Never throws. Called on worker threads.
  http::Response handle(http::Request& request);
  /// Ends long commands early.
  void stop() { interruption_.interrupt(); }

 private:
  /// The signed-in operator, with the current row.
  struct Visitor {
    std::string session_id;
    flows::OperatorSession session;
    store::OperatorRow row;
  };
  using Action = Result<http::Response> (AdminSite::*)(const http::Request&);
  using SignedAction = Result<http::Response> (AdminSite::*)(const http::Request&, const Visitor&);

  Result<http::Response> route(const http::Request& request);
  Result<http::Response> call(const http::Request& request, std::string_view path);
  Result<Visitor> visitor(const http::Request& request);

  Result<http::Response> sign_in(const http::Request& request);
  Result<http::Response> open_link(const http::Request& request);
  Result<http::Response> claim(const http::Request& request);
  Result<http::Response> begin_session(const http::Request& request, const store::OperatorRow& row,
                                       http::Response response, bool by_provider = false);
  Result<http::Response> sign_in_options(const http::Request& request);
  Result<http::Response> begin_provider_sign_in(const http::Request& request);
  Result<http::Response> provider_sign_in(const http::Request& request);
  Result<flows::ProviderVisit> visit_of(const http::Request& request, const std::string& attempt);
  Result<http::Response> begin_passkey_sign_in(const http::Request& request);
  Result<http::Response> passkey_sign_in(const http::Request& request);
  Result<http::Response> ask_for_passkey(const http::Request& request,
                                         const store::OperatorRow& row);
  Result<http::Response> passkey_challenge(const http::Request& request, const Visitor& visitor);
  Result<http::Response> begin_passkey(const http::Request& request, const Visitor& visitor);
  Result<http::Response> add_passkey(const http::Request& request, const Visitor& visitor);
  Result<http::Response> list_passkeys(const http::Request& request, const Visitor& visitor);
  Result<http::Response> remove_passkey(const http::Request& request, const Visitor& visitor);
  Result<auth::RelyingParty> party_of(const http::Request& request) const;
  Result<flows::PasskeyPlace> place_of(const http::Request& request, const std::string& browser);
  Result<flows::OperatorProof> proof_of(const http::Request& request, const Form& form,
                                        const Visitor& visitor,
                                        std::string_view password = "password");
  Problem rejected_sign_in(const http::Request& request, const Problem& problem);
  flows::SignInSource source_of(const http::Request& request) const;
  /// Checks a secret and counts the attempt under the hashing lock, so that of several simultaneous
  /// guesses each sees the results of those before it.
  template <class Look>
  auto one_at_a_time(const http::Request& request, Look look) -> decltype(look()) {
    const Lock one(hashing_);
    auto result = look();
    if (!result) return {unexpected(rejected_sign_in(request, result.error()))};
    return result;
  }
  Result<http::Response> show_session(const http::Request& request, const Visitor& visitor);
  Result<http::Response> sign_out(const http::Request& request, const Visitor& visitor);
  Result<http::Response> begin_otp(const http::Request& request, const Visitor& visitor);
  Result<http::Response> confirm_otp(const http::Request& request, const Visitor& visitor);
  Result<http::Response> renew_recovery_codes(const http::Request& request, const Visitor& visitor);
  Result<http::Response> list_sessions(const http::Request& request, const Visitor& visitor);
  Result<http::Response> end_session(const http::Request& request, const Visitor& visitor);
  Result<http::Response> change_password(const http::Request& request, const Visitor& visitor);
  Result<http::Response> list_commands(const http::Request& request, const Visitor& visitor);
  Result<http::Response> run(const http::Request& request, const Visitor& visitor,
                             std::string_view words);
  Result<http::Response> send_file(const Visitor& visitor, std::string_view name);
  bool is_configured(const std::string& name) const;
  bool is_own(const http::Request& request) const;
  Result<void> check_host(const http::Request& request) const;
  Result<void> require_recent_sign_in(const Command& command, const Visitor& visitor);
  bool has_own_tls() const;
  bool is_over_tls(const http::Request& request) const;
  /// The host name that the browser uses, in lower case and without the port; an IPv6 address
  /// without its brackets. Empty without a Host header.
  std::string host_name(const http::Request& request) const;
  /// A secret that identifies a browser during sign-in. The browser returns it in a cookie.
  std::string new_attempt();
  std::string attempt_of(const http::Request& request) const;
  http::Response with_attempt(const http::Request& request, http::Response response,
                              const std::string& attempt) const;
  /// `kind` is empty for the session, otherwise the end of the cookie's name. Without `seconds`,
  /// the browser forgets the cookie when it closes.
  void set_cookie(const http::Request& request, http::Response& response, std::string_view kind,
                  const std::string& value, std::optional<std::int64_t> seconds) const;
  /// Empty if it was not sent.
  std::string cookie_of(const http::Request& request, std::string_view kind) const;
  std::string port_suffix(const http::Request& request) const;

  App& app_;
  flows::OperatorSessions& sessions_;
  flows::SignInChallenges challenges_;
  std::unique_ptr<flows::ProviderSignIn> provider_;  // null if none is configured
  Mutex hashing_;  // one password at a time: each takes a core and 16 MiB
  Interruption interruption_;
  Downloads downloads_;
  MetricsPage metrics_{app_};
};

}  // namespace coffer::cli
