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
// Programs of operators use commands, run and downloads with a token (Authorization: Bearer),
// without a session (docs/contract.md#operator-tokens).
//
// A POST must come from the page itself (Origin). After sign-in, it must also carry the CSRF token
// in X-CSRF-Token. `code` is an authenticator code or a recovery code, and empty if the operator
// has no second factor; `passkey`, an object as for sign-in/passkey, can replace it. A command that
// moves money or changes access requires a recent sign-in: otherwise it ends the session, and the
// page asks the operator to sign in again. Errors are problem+json.
#pragma once

#include <string_view>

#include "base/result.h"
#include "cli/admin/calls.h"
#include "cli/admin/metrics_page.h"
#include "http/message.h"

namespace coffer::cli {

class AdminSite {
 public:
  /// `app` must outlive the site.
  explicit AdminSite(App& app) : state_(app) {}

  /// Whether a path on a shared listener belongs to the admin page.
  static bool owns(std::string_view path);
  /// Assigns calls that check a password to the lane `password`, calls that wait for other machines
  /// to `outbound`, downloads to `exports`, and other API calls to `admin`. In `admin`, each
  /// session is a separate caller; in the other lanes, each client network is.
  Result<http::Admission> admit(const http::Request& head, std::uint64_t body_bytes) const;
  /// Never throws. Called on worker threads.
  http::Response handle(http::Request& request);
  /// Ends long commands early.
  void stop() { state_.interruption.interrupt(); }

 private:
  Result<http::Response> route(const http::Request& request);
  Result<http::Response> call(const http::Request& request, std::string_view path);

  AdminState state_;
  MetricsPage metrics_{state_.app};
};

}  // namespace coffer::cli
