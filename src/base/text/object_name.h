// Names of objects in an archive, which are also paths of files and of URLs without any escaping.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/text/ascii.h"
#include "base/text/next_part.h"

namespace coffer {

/// Whether the name has 1 to 512 characters, in parts of [A-Za-z0-9._-]+ divided by "/", none of
/// which begins with ".".
inline bool is_object_name(std::string_view name) {
  constexpr std::size_t kNameMax = 512;
  const auto fits = [](char c) {
    return ascii::is_letter_or_digit(c) || c == '.' || c == '_' || c == '-';
  };
  if (name.empty() || name.size() > kNameMax || name.ends_with('/')) return false;
  while (!name.empty()) {
    const std::string_view part = next_whole_part(name, '/');
    if (part.empty() || part.starts_with('.') || !std::ranges::all_of(part, fits)) return false;
  }
  return true;
}

}  // namespace coffer
