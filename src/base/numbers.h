// Numbers as text and as bytes.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/digest.h"

namespace coffer {

/// Appends the shortest decimal form of an integer or a double, independent of the locale.
template <class Number>
void append_number(std::string& out, Number value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

/// With leading zeros, so that texts have the order of their numbers; longer if the number is.
template <class Integer>
std::string zero_padded(Integer number, std::size_t digits) {
  const std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

/// A number as eight bytes in network byte order, in two's complement, and the one at `at`.
inline std::string eight_bytes(std::int64_t number) {
  return to_big_endian(static_cast<std::uint64_t>(number), 8);
}
inline std::int64_t number_at(std::string_view bytes, std::size_t at = 0) {
  return static_cast<std::int64_t>(from_big_endian(bytes.substr(at, 8)));
}

}  // namespace coffer
