// UTF-8 text: whether it is well-formed, and its length in characters (Unicode code points), as in
// `maxLength` of JSON Schema.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace coffer {

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;  // in bytes; 0: the text does not start with a well-formed character
};
/// The first code point of `text`, which must not be empty. Overlong forms, surrogates and values
/// beyond Unicode are not well-formed.
CodePoint first_code_point(std::string_view text);

/// The number of bytes before the first that is not well-formed, or of the whole text.
std::size_t utf8_bytes(std::string_view text);
/// Whether all of the text is well-formed.
inline bool is_utf8(std::string_view text) { return utf8_bytes(text) == text.size(); }

/// Characters of a valid UTF-8 text.
inline std::size_t character_count(std::string_view utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(
      utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

/// The first `count` characters of a valid UTF-8 text, or all of a shorter one.
inline std::string_view first_characters(std::string_view utf8, std::size_t count) {
  std::size_t end = 0;
  for (; end < utf8.size(); ++end) {
    const bool starts = (static_cast<unsigned char>(utf8[end]) & 0xc0U) != 0x80U;
    if (starts && count-- == 0) break;
  }
  return utf8.substr(0, end);
}

}  // namespace coffer
