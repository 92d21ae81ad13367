#include "api/identity/form.h"

#include "api/json/fields.h"
#include "base/text/characters.h"
#include "base/text/next_part.h"
#include "http/router.h"

namespace coffer::api {

Result<FormBody> FormBody::parse(std::string_view body) {
  FormBody out;
  ValidationErrors errors;
  while (!body.empty()) {
    std::string_view pair = next_whole_part(body, '&');
    if (pair.empty()) continue;
    std::string name, value;
    const bool is_valid = http::percent_decode(next_whole_part(pair, '='), true, name) &&
                          http::percent_decode(pair, true, value) && is_utf8(name) &&
                          is_utf8(value);
    if (!is_valid) {
      return unexpected(Slug::malformed_request,
                        "The form has an invalid percent escape, a NUL or invalid UTF-8.");
    }
    if (!out.values_.emplace(name, std::move(value)).second && !errors.names(name)) {
      errors.add(Slug::malformed_request, name, "must not be repeated");
    }
  }
  COFFER_TRY_VOID(errors.check());
  return out;
}

std::optional<std::string> FormBody::value(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

}  // namespace coffer::api
