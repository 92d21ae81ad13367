#include "api/pipeline/problem_format.h"

#include <algorithm>
#include <array>

#include "api/json/json.h"
#include "api/pipeline/base_url.h"
#include "base/text/ascii.h"
#include "http/document.h"
#include "http/problem_json.h"

namespace coffer::api {
namespace {

constexpr std::string_view kSecondMount = "/gw";
constexpr std::string_view kFirstVersion = "/v1/";
constexpr std::string_view kBusiness = "/v1/business/";
constexpr std::string_view kOAuthToken = "/v1/oauth/token";
constexpr std::string_view kChallenge = "/v1/public/auth-connect";
constexpr std::string_view kStellarToml = "/.well-known/stellar.toml";

/// Whether `Accept` names application/json and not application/problem+json.
bool wants_plain_json(const http::Request& request) {
  std::string accept;
  for (const auto& [name, value] : request.headers) {
    if (http::same_name(name, "accept")) accept += value + ',';
  }
  return http::permits(accept, "application/json").value_or(false) &&
         !http::permits(accept, "application/problem+json").value_or(false);
}

/// The OAuth error code of a problem (RFC 6749 section 5.2).
std::string_view oauth_code(const Problem& problem) {
  if (problem.slug == Slug::unauthorized) return "invalid_client";
  for (const FieldError& error : problem.fields) {
    if (error.message == "is required" || error.message == "must not be repeated") continue;
    if (error.field == "scope") return "invalid_scope";
    if (error.field == "grant_type") return "unsupported_grant_type";
  }
  const bool is_wrong = problem.status() < 500 && problem.slug != Slug::rate_limited;
  return is_wrong ? "invalid_request" : "temporarily_unavailable";
}

/// RFC 6749 section 5.2 permits printable ASCII without quotes and backslashes.
std::string oauth_text(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c > 0x7e || c == '"' || c == '\\'; }, '\'');
  return text;
}

/// The challenge of the scheme that the client used. A client that sent its secret in the form used
/// none, and widely used libraries read `error` only from a response without a challenge.
void challenge_oauth_client(const http::Request* request, http::Response& response) {
  std::erase_if(response.headers, [](const auto& header) {
    return http::same_name(header.first, "WWW-Authenticate");
  });
  const std::string* sent = request == nullptr ? nullptr : request->header("authorization");
  if (response.status == 401 && sent != nullptr && ascii::same_word(sent->substr(0, 5), "basic")) {
    response.header("WWW-Authenticate", R"(Basic realm="coffer", error="invalid_client")");
  }
}

}  // namespace

std::string_view canonical_path(std::string_view path) {
  if (path.starts_with(kSecondMount) &&
      path.substr(kSecondMount.size()).starts_with(kFirstVersion)) {
    return path.substr(kSecondMount.size());
  }
  return path;
}

ProblemFormat problem_format(std::string_view canonical_path) {
  if (canonical_path.starts_with(kBusiness)) return ProblemFormat::envelope;
  if (canonical_path == kOAuthToken) return ProblemFormat::oauth;
  return canonical_path == kChallenge ? ProblemFormat::sep10 : ProblemFormat::problem;
}

http::Response format_problem(const Services& services, const Problem& problem,
                              std::string_view path, std::string_view request_id,
                              const http::Request* request) {
  const ProblemFormat format = problem_format(canonical_path(path));
  if (format == ProblemFormat::envelope) {
    return http::envelope_problem_response(problem, request_id);
  }
  http::Response response =
      http::problem_response(problem, path, request_id, base_url(services, request));
  if (format == ProblemFormat::problem) return response;
  Json body = Json::parse(response.body);
  if (format == ProblemFormat::oauth) {
    body["error"] = oauth_code(problem);
    body["error_description"] = oauth_text(problem.detail);
    challenge_oauth_client(request, response);
    response.header("Cache-Control", "no-store");
  } else {
    body["error"] = problem.detail.empty() ? info(problem.slug).title : problem.detail;
  }
  response.body = body.dump();
  if (request != nullptr && wants_plain_json(*request)) response.content_type = "application/json";
  return response;
}

void permit_any_origin(std::string_view path, std::string_view allow, http::Response& response) {
  const std::string_view canonical = canonical_path(path);
  if (canonical != kChallenge && canonical != kStellarToml) return;
  response.header("Access-Control-Allow-Origin", "*");
  if (allow.empty()) return;
  response.header("Access-Control-Allow-Methods", std::string(allow))
      .header("Access-Control-Allow-Headers", "Content-Type, X-Request-Id");
}

}  // namespace coffer::api
