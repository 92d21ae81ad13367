#include "base/text/shell_word.h"

#include <algorithm>

#include "base/text/ascii.h"

namespace coffer {

std::string shell_word(std::string_view text) {
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
