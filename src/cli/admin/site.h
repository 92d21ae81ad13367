// The admin page: its files, sign-in, and the commands of the command line over HTTP. Everything
// that the page shows or does is a row of the table of commands, which the server runs for the
// signed-in operator, so page and command line never differ.
//
//   GET  /admin/                      the page; its files below it
//   GET  /admin/api/session           the operator, the CSRF token, the next step of the sign-in
//   POST /admin/api/sign-in           {name, password, code}
//   POST /admin/api/sign-out
//   POST /admin/api/claim             {link, name, password}: a one-time link
//   POST /admin/api/authenticator     begins enrolment: {otpauthUri}
//   POST /admin/api/authenticator/confirm  {code}
//   POST /admin/api/password          {present, next}
//   GET  /admin/api/commands          the commands that the operator may run, with arguments
//   GET  /admin/api/run/COMMAND       a command that a viewer may run; arguments in the query
//   POST /admin/api/run/COMMAND       any command; arguments in a JSON object
//   GET  /metrics                     for Prometheus (cli/admin/metrics_page.h)
//
// A POST must come from the page itself (Origin) and, after sign-in, contain the CSRF token in
// X-CSRF-Token. Errors are problem+json, as everywhere.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"
#include "cli/admin/metrics_page.h"
#include "cli/admin/sessions.h"
#include "cli/admin/throttle.h"
#include "cli/command.h"
#include "http/message.h"
#include "store/identity/operators.h"

namespace coffer::cli {

class AdminSite {
 public:
  /// `app` outlives the site.
  explicit AdminSite(App& app) : app_(app) {}

  /// Whether a path of a shared listener belongs here.
  static bool owns(std::string_view path);
  /// Signing in is in the lane of passwords, commands are in one of their own, and all else waits
  /// for nothing. Callers are told apart by their session.
  static Result<http::Admission> admit(const http::Request& head, std::uint64_t body_bytes);
  /// Never throws. Called on worker threads.
  http::Response handle(http::Request& request);
  /// Ends long commands early.
  void stop() { interruption_.interrupt(); }

 private:
  /// Who asks, as its row is now.
  struct Visitor {
    std::string session_id;
    AdminSession session;
    store::OperatorRow row;
  };
  using Action = Result<http::Response> (AdminSite::*)(const http::Request&);
  using SignedAction = Result<http::Response> (AdminSite::*)(const http::Request&, const Visitor&);

  Result<http::Response> route(const http::Request& request);
  Result<http::Response> call(const http::Request& request, std::string_view path);
  Result<Visitor> visitor(const http::Request& request);

  Result<http::Response> sign_in(const http::Request& request);
  Result<http::Response> claim(const http::Request& request);
  Result<http::Response> begin_session(const store::OperatorRow& row);
  Result<store::OperatorRow> guess(const http::Request& request, const std::string& name,
                                   const std::function<Result<store::OperatorRow>()>& look);
  Result<http::Response> show_session(const http::Request& request, const Visitor& visitor);
  Result<http::Response> sign_out(const http::Request& request, const Visitor& visitor);
  Result<http::Response> begin_otp(const http::Request& request, const Visitor& visitor);
  Result<http::Response> confirm_otp(const http::Request& request, const Visitor& visitor);
  Result<http::Response> change_password(const http::Request& request, const Visitor& visitor);
  Result<http::Response> list_commands(const http::Request& request, const Visitor& visitor);
  Result<http::Response> run(const http::Request& request, const Visitor& visitor,
                             std::string_view words);
  bool secure() const;
  http::Response with_cookie(http::Response response, const std::string& id) const;

  App& app_;
  AdminSessions sessions_;
  Throttle by_name_{5};  // and address
  Throttle by_address_{20};
  Mutex hashing_;  // one password at a time: each takes a core and 16 MiB
  Interruption interruption_;
  MetricsPage metrics_{app_};
};

}  // namespace coffer::cli
