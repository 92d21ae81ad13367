// Lists as one text; base/text/next_part.h takes them apart.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace coffer {

/// The texts of `list` with `separator` between them. `text_of` makes the text of an element.
template <class List, class TextOf = std::identity>
std::string join(const List& list, std::string_view separator, const TextOf& text_of = {}) {
  std::string out;
  for (const auto& one : list) {
    if (!out.empty()) out += separator;
    out += text_of(one);
  }
  return out;
}

}  // namespace coffer
