#include "api/identity/form.h"

#include "http/router.h"

namespace coffer::api {

std::optional<std::string> form_value(std::string_view body, std::string_view name) {
  while (!body.empty()) {
    const auto end = body.find('&');
    const std::string_view pair = body.substr(0, end);
    body = end == std::string_view::npos ? std::string_view() : body.substr(end + 1);
    const auto equals = pair.find('=');
    std::string key, value;
    if (!http::percent_decode(pair.substr(0, equals), true, key) || key != name) continue;
    const auto raw =
        equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1);
    if (http::percent_decode(raw, true, value)) return value;
  }
  return std::nullopt;
}

}  // namespace coffer::api
