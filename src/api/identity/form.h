// HTML form bodies, for login routes that standard OAuth clients call.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace coffer::api {

/// The first value of `name` in an application/x-www-form-urlencoded body, which has the same
/// syntax as a query. nullopt if it is missing or has an invalid escape.
std::optional<std::string> form_value(std::string_view body, std::string_view name);

}  // namespace coffer::api
