// Lists in one text, such as `a, b` or `NAME=1,OTHER=2`.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/text/trimmed.h"

namespace coffer {

/// Removes the part of `rest` before the next `separator`, and the separator. Returns the part
/// without surrounding white space; it refers to the same text.
inline std::string_view next_part(std::string_view& rest, char separator) {
  const auto end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return trimmed(part);
}

}  // namespace coffer
