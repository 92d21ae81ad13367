// Environment variables. No other code reads them. Do not call this while another thread sets
// variables.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace coffer {

/// The value of `name`; nullopt if it is not set. An empty variable is an empty string.
inline std::optional<std::string> environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace coffer
