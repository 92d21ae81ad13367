#include "api/pipeline/request_checks.h"

#include <algorithm>

#include "api/json/fields.h"
#include "base/text/ascii.h"
#include "base/text/nearest.h"

namespace coffer::api {
namespace {

/// `a`, `b` and `c`.
std::string listed(const std::vector<std::string_view>& words, std::string_view last_joint,
                   std::string_view quote = {}) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? last_joint : ", ";
    out.append(quote).append(words[i]).append(quote);
  }
  return out;
}

std::string unknown_parameter(std::string_view name, const std::vector<std::string_view>& known) {
  const std::string message = "is not a query parameter of this route; ";
  if (known.empty()) return message + "it accepts none";
  if (const auto near = nearest(name, known)) {
    return message + "the nearest is `" + std::string(*near) + "`";
  }
  return message + "it accepts " + listed(known, " and ", "`");
}

}  // namespace

Result<void> check_query(const Route& route, const http::Request& request) {
  if (request.query.empty() || route.access == Access::open) return {};
  std::vector<std::string_view> known;
  for (const QueryParam& param : route.query) known.push_back(param.name);
  ValidationErrors errors;
  for (auto at = request.query.begin(); at != request.query.end(); ++at) {
    const std::string& name = at->first;
    if (errors.names(name)) continue;
    const bool again = std::any_of(request.query.begin(), at,
                                   [&](const auto& earlier) { return earlier.first == name; });
    const auto is_given = [&](const QueryParam& param) { return param.is(name); };
    if (std::ranges::any_of(route.query, is_given)) {
      if (again) errors.add(Slug::malformed_request, name, "must not be repeated");
    } else if (name.empty()) {
      errors.add(Slug::malformed_request, "query", "has a parameter without a name");
    } else {
      errors.add(Slug::malformed_request, name, unknown_parameter(name, known));
    }
  }
  return errors.check();
}

std::vector<std::string_view> media_types(const Route& route) {
  if (route.body == Body::form) return {kFormType};
  std::vector<std::string_view> out{"application/json"};
  if (route.method == "PATCH") out.emplace_back("application/merge-patch+json");  // RFC 7396
  if (route.body == Body::json_or_form) out.push_back(kFormType);
  return out;
}

std::string media_type(const http::Request& request) {
  const std::string* header = request.header("content-type");
  if (header == nullptr) return {};
  std::string type = ascii::to_lower(header->substr(0, header->find(';')));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  return type;
}

Result<void> check_media_type(const Route& route, const http::Request& request) {
  const std::string type = media_type(request);
  const auto known = media_types(route);
  if (std::ranges::find(known, type) != known.end()) return {};
  std::string remedy = "Send " + listed(known, " or ") + ".";
  if (!route.type_remedy.empty()) remedy.append(" ").append(route.type_remedy);
  return unexpected(Slug::unsupported_media_type,
                    type.empty() ? "Content-Type is missing. " + remedy
                                 : "Content-Type " + type + " is not supported. " + remedy);
}

}  // namespace coffer::api
