#include "domain/parties/search_words.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "domain/parties/contact.h"

namespace coffer {
namespace {

bool is_word_byte(char c) {
  return ascii::is_lower(c) || ascii::is_digit(c) || static_cast<unsigned char>(c) > 0x7f;
}

/// Length in bytes of a non-ASCII separator at the start of `rest`, or 0.
std::size_t separator_length(std::string_view rest) {
  // U+00A0 to U+00BF, without the ordinal indicators and the micro sign.
  if (rest.size() >= 2 && rest[0] == '\xc2') {
    return rest[1] == '\xaa' || rest[1] == '\xb5' || rest[1] == '\xba' ? 0 : 2;
  }
  if (rest.size() < 3) return 0;
  // U+2000 to U+206F: general punctuation. U+3000 to U+3002: CJK space, comma and full stop.
  const bool general = rest.starts_with("\xe2\x80") || rest.starts_with("\xe2\x81");
  return general || (rest.starts_with("\xe3\x80") && rest[2] <= '\x82') ? 3 : 0;
}

}  // namespace

std::vector<std::string> search_words(std::string_view utf8) {
  const std::string folded = fold_case(utf8);
  std::vector<std::string> out;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) out.push_back(std::move(word));
    word.clear();
  };
  for (std::size_t i = 0; i < folded.size();) {
    const std::size_t separator = separator_length(std::string_view(folded).substr(i));
    if (separator == 0 && is_word_byte(folded[i])) {
      word += folded[i++];
    } else {
      end_word();
      i += std::max<std::size_t>(separator, 1);
    }
  }
  end_word();
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool has_words(std::span<const std::string> words, std::span<const std::string> wanted) {
  return std::ranges::all_of(wanted, [&](const std::string& prefix) {
    const auto first = std::ranges::lower_bound(words, prefix);
    return first != words.end() && first->starts_with(prefix);
  });
}

}  // namespace coffer
