// Lists in one text, such as `a, b` or `NAME=1,OTHER=2`.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/trimmed.h"

namespace coffer {

/// Removes the part of `rest` before the next `separator`, and the separator. The result refers to
/// the same text.
inline std::string_view next_whole_part(std::string_view& rest, char separator) {
  const std::string_view part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  return part;
}

/// The same without white space around the part.
inline std::string_view next_part(std::string_view& rest, char separator) {
  return trimmed(next_whole_part(rest, separator));
}

/// All parts of `list`, without the white space around them.
template <class Text = std::string>
std::vector<Text> parts_of(std::string_view list, char separator) {
  std::vector<Text> out;
  while (!list.empty()) out.emplace_back(next_part(list, separator));
  return out;
}

}  // namespace coffer
