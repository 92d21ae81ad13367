// Environment variables: the one place that reads them. Not for use while another thread sets them.
#pragma once

#include <optional>
#include <string>

namespace coffer {

/// The value of `name`; nullopt when it is not set. An empty value is an empty string.
std::optional<std::string> environment_variable(const std::string& name);

}  // namespace coffer
