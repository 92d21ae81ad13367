// Bodies of HTML forms, for the login routes that stock clients call with one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace coffer::api {

/// The first value of `name` in application/x-www-form-urlencoded, which is the query's own syntax.
/// nullopt when it is missing or has a broken escape.
std::optional<std::string> form_value(std::string_view body, std::string_view name);

}  // namespace coffer::api
