// One call to the API of the admin page, with the browser and the operator that made it; and the
// groups of calls (cli/admin/site.h lists them).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/strong.h"
#include "cli/admin/downloads.h"
#include "cli/command.h"
#include "flows/identity/operator_sessions.h"
#include "flows/identity/operator_sign_in.h"
#include "flows/identity/passkeys.h"
#include "flows/identity/provider_sign_in.h"
#include "flows/identity/sign_in_guard.h"
#include "http/json_body.h"
#include "http/message.h"
#include "store/identity/operators.h"

namespace coffer::cli {

/// Text members of a JSON object, by name; a missing member is empty.
class Form {
 public:
  static Result<Form> read(const http::Request& request) {
    COFFER_TRY(auto value, http::parse_json(request.body));
    if (value.object() == nullptr) {
      return unexpected(Slug::malformed_request, "The body must be a JSON object.");
    }
    return Form(std::move(value));
  }
  std::string text(std::string_view name) const { return text_of(value_, name); }
  /// A member that is an object; nullptr otherwise.
  const http::JsonValue* part(std::string_view name) const {
    const http::JsonValue* member = value_.find(name);
    return member != nullptr && member->object() != nullptr ? member : nullptr;
  }
  const http::JsonValue& whole() const { return value_; }
  static std::string text_of(const http::JsonValue& object, std::string_view name) {
    const http::JsonValue* member = object.find(name);
    return member != nullptr && member->string() != nullptr ? *member->string() : std::string();
  }

 private:
  explicit Form(http::JsonValue value) : value_(std::move(value)) {}
  http::JsonValue value_;
};

inline http::Response json_response(std::string body) {
  http::Response response;
  response.body = std::move(body);
  return response;
}

inline http::Response no_content() {
  http::Response response;
  response.status = 204;
  response.content_type.clear();
  return response;
}

/// Recovery codes, which are shown once.
inline http::Response recovery_codes_response(const std::vector<Secret>& codes) {
  nlohmann::json list = nlohmann::json::array();
  for (const Secret& code : codes) list.push_back(code.reveal());
  return json_response(nlohmann::json{{"recoveryCodes", list}}.dump());
}

/// What all calls share. Thread-safe. `app` must outlive it.
struct AdminState {
  explicit AdminState(App& of);

  App& app;
  flows::OperatorSessions& sessions;
  flows::SignInChallenges challenges;
  std::unique_ptr<flows::ProviderSignIn> provider;  // null if none is configured
  Mutex hashing;  // one password at a time: each takes a core and 16 MiB
  Interruption interruption;
  Downloads downloads;
};

/// What a request tells about its browser.
class PageBrowser {
 public:
  /// Both must outlive it.
  PageBrowser(const App& app, const http::Request& request) : app_(app), request_(request) {}

  Result<void> check_host() const;
  bool is_own() const;
  flows::SignInSource source() const;
  Result<auth::RelyingParty> party() const;
  /// `kind` is empty for the session, otherwise the end of the cookie's name. Empty if the cookie
  /// was not sent.
  std::string cookie(std::string_view kind) const;
  /// Without `seconds`, the browser forgets the cookie when it closes.
  void set_cookie(http::Response& response, std::string_view kind, const std::string& value,
                  std::optional<std::int64_t> seconds) const;

 private:
  bool is_configured(const std::string& name) const;
  bool has_own_tls() const;
  bool is_over_tls() const;
  /// The host name that the browser uses, in lower case and without the port; an IPv6 address
  /// without its brackets. Empty without a Host header.
  std::string host_name() const;
  std::string port_suffix() const;

  const App& app_;
  const http::Request& request_;
};

/// The signed-in operator, with the current row; or a program with its token.
struct Visitor {
  std::string session_id;
  flows::OperatorSession session;
  store::OperatorRow row;
  std::optional<std::string> commands;  // of a token
};

/// The cookie with a secret that identifies a browser during sign-in.
inline constexpr std::string_view kAttemptCookie = "-attempt";

struct Call {
  AdminState& site;
  const http::Request& request;
  std::string_view rest;  // of the path, after that of the row
  PageBrowser browser;
  Visitor visitor = {};  // empty before identify()

  const flows::Context& flows() const;
  /// Finds the visitor. `unauthorized` if no operator is signed in.
  Result<void> identify();
  /// Finds the program of the bearer token. Problems as for flows::use_operator_token().
  Result<void> identify_program(std::string_view token);
  /// The problem of a sign-in, which it counts and logs.
  Problem rejected(const Problem& problem) const;
  http::Response begin_session(const store::OperatorRow& row, http::Response response,
                               bool by_provider = false) const;
  /// Begins a session of the visitor, whose credentials have changed, and ends the present one.
  http::Response replace_session(const store::OperatorRow& row, http::Response response) const;
  std::string new_attempt() const;
  http::Response with_attempt(http::Response response, const std::string& attempt) const;
  /// `secret`: of the session or of the attempt.
  Result<flows::PasskeyPlace> place(const std::string& secret) const;
  /// Checks a secret and counts the attempt under the hashing lock, so that of several simultaneous
  /// guesses each sees the results of those before it.
  template <class Look>
  auto one_at_a_time(Look look) const -> decltype(look()) {
    const Lock one(site.hashing);
    auto result = look();
    if (!result) return {unexpected(rejected(result.error()))};
    return result;
  }
};

/// Who may make a call.
enum class Access {
  programs,   // as `enrolled`, or a program with a token
  enrolled,   // an operator who has a second factor, or needs none
  enrolling,  // any operator
  open,       // without a session
};

struct CallRow {
  std::string_view method;
  std::string_view path;  // below /admin/api/; with a slash at its end: all paths below
  Result<http::Response> (*action)(Call& call);
  Access access = Access::enrolled;
  Lane lane = Lane::admin;
};

std::span<const CallRow> sign_in_calls();
std::span<const CallRow> passkey_calls();
std::span<const CallRow> command_calls();

/// The start of the calls that run commands.
inline constexpr std::string_view kRunCalls = "run/";
/// nullptr if there is no command with this path, whose words are separated by slashes.
const Command* command_of(std::string_view rest);

/// What the operator sent to confirm an action: a password and a code or a passkey.
Result<flows::OperatorProof> proof_of(Call& call, const Form& form,
                                      std::string_view password = "password");
/// The response to a correct password of an operator with passkeys.
Result<http::Response> ask_for_passkey(Call& call, const store::OperatorRow& row);

}  // namespace coffer::cli
