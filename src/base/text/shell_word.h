// A text as one word of a shell command that a person copies.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text/ascii.h"

namespace coffer {

/// Unchanged if no POSIX shell gives one of its characters a meaning, otherwise in single quotes.
inline std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain = "/._-+:@%,";
  const bool plain = !text.empty() && std::ranges::all_of(text, [&](char c) {
    return ascii::is_letter_or_digit(c) || kPlain.find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace coffer
