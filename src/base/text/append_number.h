// Numbers appended to a text.
#pragma once

#include <array>
#include <charconv>
#include <string>

namespace coffer {

/// Appends the shortest decimal form of an integer or a double, independent of the locale.
template <class Number>
void append_number(std::string& out, Number value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

}  // namespace coffer
