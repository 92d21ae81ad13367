// The admin page: its files, sign-in, and the commands of the command line over HTTP. Everything
// that the page shows or does is a row of the table of commands, which the server runs for the
// signed-in operator, so page and command line never differ.
//
//   GET  /admin/                      the page; its files below it
//   GET  /admin/api/session           the operator, the CSRF token, the next step of the sign-in
//   POST /admin/api/sign-in           {name, password, code}
//   POST /admin/api/sign-out
//   POST /admin/api/claim             {link, name, password}: a one-time link
//   POST /admin/api/authenticator     {password, code} begins enrolment: {otpauthUri}
//   POST /admin/api/authenticator/confirm  {code}: {recoveryCodes}
//   POST /admin/api/recovery-codes    {password, code}: {recoveryCodes}
//   POST /admin/api/password          {present, code, next}
//   GET  /admin/api/sessions          the operator's own
//   POST /admin/api/sessions/end      {id}
//   GET  /admin/api/commands          what the operator may run, with its arguments
//   GET  /admin/api/run/COMMAND       a command that a viewer may run; arguments in the query
//   POST /admin/api/run/COMMAND       any command; arguments in a JSON object
//   GET  /metrics                     for Prometheus (cli/admin/metrics_page.h)
//
// A POST comes from the page itself (Origin) and, once signed in, brings the CSRF token in
// X-CSRF-Token. `code` is one of the authenticator or a recovery code, and empty while no
// authenticator is enrolled. A command that moves money or changes access needs a recent sign-in:
// otherwise it ends the session, and the page asks to sign in again. Errors are problem+json.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"
#include "cli/admin/metrics_page.h"
#include "cli/command.h"
#include "flows/identity/operator_sessions.h"
#include "flows/identity/sign_in_guard.h"
#include "http/message.h"
#include "store/identity/operators.h"

namespace coffer::cli {

class AdminSite {
 public:
  /// `app` outlives the site.
  explicit AdminSite(App& app);

  /// Whether a path of a shared listener belongs here.
  static bool owns(std::string_view path);
  /// Signing in is in the lane of passwords, commands are in one of their own, and all else waits
  /// for nothing. Callers are told apart by their session.
  Result<http::Admission> admit(const http::Request& head, std::uint64_t body_bytes) const;
  /// Never throws. Called on worker threads.
  http::Response handle(http::Request& request);
  /// Ends long commands early.
  void stop() { interruption_.interrupt(); }

 private:
  /// Who asks, as its row is now.
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
  Result<http::Response> claim(const http::Request& request);
  Result<http::Response> begin_session(const http::Request& request, const store::OperatorRow& row,
                                       http::Response response);
  flows::SignInSource source_of(const http::Request& request) const;
  template <class Look>
  auto one_at_a_time(const http::Request& request, Look look) -> decltype(look());
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
  Result<void> check_host(const http::Request& request) const;
  Result<void> require_recent_sign_in(const Command& command, const Visitor& visitor);
  bool secure() const;
  http::Response with_cookie(http::Response response, const std::string& id) const;

  App& app_;
  flows::OperatorSessions& sessions_;
  Mutex hashing_;  // one password at a time: each takes a core and 16 MiB
  Interruption interruption_;
  MetricsPage metrics_{app_};
};

}  // namespace coffer::cli
