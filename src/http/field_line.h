// One line of a header or trailer section (RFC 9112 section 5), read strictly.
#pragma once

#include <array>
#include <string_view>

#include "base/result.h"

namespace coffer::http {

struct FieldLine {
  std::string_view name;   // a token
  std::string_view value;  // without the white space around it
};

/// `line` comes without its CRLF and has no control characters but tabs; the result refers to it.
/// `malformed-request` for a folded line, no colon, white space before the colon, or a name that is
/// no token.
Result<FieldLine> parse_field_line(std::string_view line);

/// RFC 9110 section 5.6.2.
bool is_token(std::string_view text);

/// Which of the 256 bytes are letters, digits or in `punctuation`.
using CharTable = std::array<bool, 256>;

constexpr CharTable char_table(std::string_view punctuation) {
  CharTable table{};
  for (const char c : punctuation) table[static_cast<unsigned char>(c)] = true;
  for (unsigned char c = '0'; c <= '9'; ++c) table[c] = true;
  for (unsigned char c = 'A'; c <= 'Z'; ++c) table[c] = table[c + ('a' - 'A')] = true;
  return table;
}

bool all_of(std::string_view text, const CharTable& allowed);

}  // namespace coffer::http
