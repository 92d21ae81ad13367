#include "http/problem_json.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace coffer::http {
namespace {

using Json = nlohmann::ordered_json;

/// Replaces invalid UTF-8 instead of throwing, because the path of a request may contain any byte.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// A clause gets its field as the subject: `amount is required.`
std::string sentence_of(const FieldError& error) {
  const bool is_sentence = std::isupper(static_cast<unsigned char>(error.message.front())) != 0;
  std::string out = is_sentence ? error.message : error.field + " " + error.message;
  if (!out.ends_with('.') && !out.ends_with('?')) out += '.';
  return out;
}

void add_headers(Response& response, const Problem& problem) {
  if (problem.retry_after_s) {
    response.header("Retry-After", std::to_string(*problem.retry_after_s));
  }
  if (response.status == 401) {
    const bool expired = problem.slug == Slug::token_expired;
    response.header("WWW-Authenticate", expired ? R"(Bearer realm="coffer", error="invalid_token")"
                                                : R"(Bearer realm="coffer")");
  }
}

}  // namespace

std::string problem_code(const SlugInfo& slug) {
  std::string code(slug.name);
  std::replace(code.begin(), code.end(), '-', '_');
  return code;
}

Response problem_response(const Problem& problem, std::string_view instance,
                          std::string_view request_id, std::string_view base_url) {
  const SlugInfo& slug = info(problem.slug);
  Json body;
  body["type"] = "urn:coffer:problem:" + std::string(slug.name);
  body["title"] = slug.title;
  body["status"] = slug.status;
  if (!problem.detail.empty()) body["detail"] = problem.detail;
  if (!instance.empty()) body["instance"] = instance;
  body["requestId"] = request_id;
  body["code"] = problem_code(slug);
  body["docUrl"] = std::string(base_url) + "/problems/" + std::string(slug.name);
  if (!problem.leader.empty()) body["leader"] = problem.leader;
  for (const FieldError& error : problem.fields) {
    body["errors"].push_back(Json{{"field", error.field}, {"message", sentence_of(error)}});
  }
  Response response;
  response.status = slug.status;
  response.content_type = "application/problem+json";
  response.body = dump(body);
  add_headers(response, problem);
  return response;
}

// The contract fixes the members of the envelope, so the request ID is only in its header.
Response envelope_problem_response(const Problem& problem, std::string_view /*request_id*/) {
  const SlugInfo& slug = info(problem.slug);
  std::string message = problem_code(slug);
  std::transform(message.begin(), message.end(), message.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  message += ":";
  // The envelope has no member for field errors, so they are part of the message. The detail of a
  // problem with field errors usually repeats the first one.
  const std::string detail = problem.detail.empty() ? std::string(slug.title) : problem.detail;
  const auto repeats = [&](const FieldError& error) {
    return detail.starts_with(error.field + " " + error.message);
  };
  if (std::ranges::none_of(problem.fields, repeats)) message += " " + detail;
  for (const FieldError& error : problem.fields) message += " " + sentence_of(error);
  Json body;
  body["success"] = false;
  body["message"] = message;
  body["data"] = nullptr;
  Response response;
  response.status = slug.status;
  response.body = dump(body);
  add_headers(response, problem);
  return response;
}

}  // namespace coffer::http
