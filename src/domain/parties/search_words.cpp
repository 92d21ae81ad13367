#include "domain/parties/search_words.h"

#include <algorithm>

#include "base/text/characters.h"
#include "base/text/unicode.h"

namespace coffer {

std::vector<std::string> search_words(std::string_view utf8) {
  const std::string folded = fold_case(utf8);
  std::vector<std::string> out;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) out.push_back(std::move(word));
    word.clear();
  };
  for (std::string_view rest = folded; !rest.empty();) {
    const auto [character, length] = first_code_point(rest);
    if (length > 0 && is_word_character(character)) {
      word += rest.substr(0, length);
    } else {
      end_word();
    }
    rest.remove_prefix(std::max<std::size_t>(length, 1));
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
