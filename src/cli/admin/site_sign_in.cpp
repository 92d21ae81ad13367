#include <algorithm>

#include "api/pipeline/traffic.h"
#include "app/app.h"
#include "auth/totp.h"
#include "base/log.h"
#include "cli/admin/site.h"
#include "flows/identity/audit_log.h"
#include "flows/identity/operator_sign_in.h"
#include "flows/identity/operators.h"
#include "http/client_address.h"
#include "http/json_body.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kIssuer = "coffer";

std::string cookie_name(bool secure) { return secure ? "__Host-coffer-admin" : "coffer-admin"; }

/// The value of a cookie; empty when it was not sent.
std::string cookie(const http::Request& request, const std::string& name) {
  const std::string* header = request.header("Cookie");
  std::string_view rest = header == nullptr ? std::string_view() : *header;
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const std::string_view trimmed =
        pair.substr(std::min(pair.find_first_not_of(' '), pair.size()));
    if (trimmed.starts_with(name + "=")) return std::string(trimmed.substr(name.size() + 1));
  }
  return {};
}

/// Text members of a JSON object, by name; what is missing is empty.
class Form {
 public:
  static Result<Form> read(const http::Request& request) {
    COFFER_TRY(auto value, http::parse_json(request.body));
    if (value.object() == nullptr) {
      return unexpected(Slug::malformed_request, "The body must be a JSON object.");
    }
    return Form(std::move(value));
  }
  std::string text(std::string_view name) const {
    const http::JsonValue* member = value_.find(name);
    return member != nullptr && member->string() != nullptr ? *member->string() : std::string();
  }

 private:
  explicit Form(http::JsonValue value) : value_(std::move(value)) {}
  http::JsonValue value_;
};

Problem too_many(std::int64_t wait_ms) {
  return Problem(Slug::rate_limited, "Too many failed attempts. Wait before the next attempt.")
      .retry_after(static_cast<int>(wait_ms / 1'000 + 1));
}

http::Response json(std::string body) {
  http::Response response;
  response.body = std::move(body);
  return response;
}

http::Response nothing() {
  http::Response response;
  response.status = 204;
  response.content_type.clear();
  return response;
}

}  // namespace

/// The cookie is Secure wherever the page is reached by TLS.
bool AdminSite::secure() const { return app_.admin_origin().starts_with("https://"); }

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
  COFFER_TRY(
      const auto row,
      store::with_reader(app_.database(),
                         [&](store::Connection& db) -> Result<std::optional<store::OperatorRow>> {
                           return store::find_operator(db, session->operator_id);
                         }));
  if (!row || row->suspended || row->version != session->version) {
    sessions_.end(out.session_id);
    return unexpected(signed_out);
  }
  out.row = *row;
  return out;
}

/// Checks a password or link, unless this name or address had too many failures. Checks and counts
/// under the lock of the hashing, so that each of several concurrent attempts sees the results of
/// the earlier ones.
Result<store::OperatorRow> AdminSite::guess(
    const http::Request& request, const std::string& name,
    const std::function<Result<store::OperatorRow>()>& look) {
  const std::string address = http::client_address(request);
  const std::string who = name + '\n' + address;
  const Lock one_at_a_time(hashing_);
  const std::int64_t now = app_.flows().clock.monotonic_ms();
  const std::int64_t wait = std::max(by_name_.wait_ms(who, now), by_address_.wait_ms(address, now));
  if (wait > 0) return unexpected(too_many(wait));
  auto row = look();
  if (row) {
    by_name_.succeeded(who);
  } else if (row.error().slug == Slug::unauthorized) {
    by_name_.failed(who, now);
    by_address_.failed(address, now);
    api::count_sign_in_failure(app_.metrics(), "admin");
    log_warning("admin", "sign-in refused",
                {{"peer", address}, {"request_id", request.request_id}});
  }
  return row;
}

Result<http::Response> AdminSite::sign_in(const http::Request& request) {
  COFFER_TRY(const Form form, Form::read(request));
  COFFER_TRY(const auto row, guess(request, form.text("name"), [&] {
               return flows::sign_in_operator(app_.flows(), form.text("name"),
                                              Secret(form.text("password")), form.text("code"));
             }));
  return begin_session(row);
}

Result<http::Response> AdminSite::claim(const http::Request& request) {
  COFFER_TRY(const Form form, Form::read(request));
  COFFER_TRY(const auto row, guess(request, {}, [&] {
               return flows::claim_link(app_.flows(), form.text("link"), form.text("name"),
                                        Secret(form.text("password")));
             }));
  return begin_session(row);
}

Result<http::Response> AdminSite::begin_session(const store::OperatorRow& row) {
  const flows::Context& flows = app_.flows();
  COFFER_TRY(const auto entry,
             flows::record_audit_entry(flows, {row.name, row.role}, "sign-in", "{}"));
  COFFER_TRY_VOID(flows::record_outcome(flows, entry, {row.name, row.role}, "sign-in", "done", {}));
  const std::string id =
      sessions_.begin(flows.random, row.id, row.version, flows.clock.monotonic_ms());
  return with_cookie(nothing(), id);
}

Result<http::Response> AdminSite::show_session(const http::Request&, const Visitor& visitor) {
  return json(to_json({{"name", visitor.row.name},
                       {"role", name(visitor.row.role)},
                       {"csrfToken", visitor.session.csrf},
                       {"authenticator", visitor.row.sealed_otp.has_value()},
                       {"mustEnrol", flows::needs_otp(visitor.row)},
                       {"idleSeconds", static_cast<int>(AdminSessions::kIdleMs / 1'000)}},
                      false));
}

Result<http::Response> AdminSite::sign_out(const http::Request&, const Visitor& visitor) {
  sessions_.end(visitor.session_id);
  return with_cookie(nothing(), {});
}

Result<http::Response> AdminSite::begin_otp(const http::Request&, const Visitor& visitor) {
  const Secret key = auth::generate_totp_key(app_.flows().random);
  sessions_.set_otp_key(visitor.session_id, key);
  return json(to_json({{"otpauthUri", auth::otpauth_uri(key, kIssuer, visitor.row.name)}}, false));
}

Result<http::Response> AdminSite::confirm_otp(const http::Request& request,
                                              const Visitor& visitor) {
  COFFER_TRY(const Form form, Form::read(request));
  if (visitor.session.otp_key.empty()) {
    return unexpected(Slug::conflict, "No enrolment is in progress. Start again.");
  }
  const std::string attempt = visitor.row.name + "\notp";
  const std::int64_t now = app_.flows().clock.monotonic_ms();
  if (const auto wait = by_name_.wait_ms(attempt, now); wait > 0) return unexpected(too_many(wait));
  auto row =
      flows::enrol_otp(app_.flows(), visitor.row.id, visitor.session.otp_key, form.text("code"));
  if (!row) {
    by_name_.failed(attempt, now);
    return unexpected(std::move(row).error());
  }
  sessions_.set_otp_key(visitor.session_id, {});
  return nothing();
}

Result<http::Response> AdminSite::change_password(const http::Request& request,
                                                  const Visitor& visitor) {
  COFFER_TRY(const Form form, Form::read(request));
  COFFER_TRY(const auto row, guess(request, visitor.row.name, [&] {
               return flows::change_operator_password(app_.flows(), visitor.row.id,
                                                      Secret(form.text("present")),
                                                      Secret(form.text("next")));
             }));
  sessions_.end(visitor.session_id);
  return begin_session(row);
}

}  // namespace coffer::cli
