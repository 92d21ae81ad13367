// Text without surrounding white space.
#pragma once

#include <string_view>

namespace coffer {

inline std::string_view trimmed(std::string_view text, std::string_view space = " \t\r\n\v\f") {
  const auto first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

}  // namespace coffer
