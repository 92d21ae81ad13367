#include "base/text/columns.h"

#include <algorithm>
#include <vector>

#include "base/text/characters.h"
#include "base/text/unicode.h"

namespace coffer {
namespace {

struct Character {
  std::size_t bytes;
  std::size_t columns;
};

/// The first character of `text`, which must not be empty.
Character first_of(std::string_view text) {
  const auto [code, length] = first_code_point(text);
  if (length <= 1) return {1, 1};
  return {length, columns_of(code)};
}

std::vector<Character> characters_of(std::string_view text) {
  std::vector<Character> out;
  while (!text.empty()) {
    out.push_back(first_of(text));
    text.remove_prefix(out.back().bytes);
  }
  return out;
}

/// The number of bytes of as many characters as fit.
template <class Iterator>
std::size_t bytes_that_fit(Iterator from, Iterator to, std::size_t columns) {
  std::size_t bytes = 0;
  for (; from != to && from->columns <= columns; ++from) {
    columns -= from->columns;
    bytes += from->bytes;
  }
  return bytes;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (const Character& character : characters_of(text)) columns += character.columns;
  return columns;
}

std::string cut_to(std::string_view text, std::size_t columns, Kept kept) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  constexpr std::string_view kEllipsis = "\u2026";
  const auto characters = characters_of(text);
  if (kept == Kept::start) {
    const auto bytes = bytes_that_fit(characters.begin(), characters.end(), columns - 1);
    return std::string(text.substr(0, bytes)).append(kEllipsis);
  }
  const auto bytes = bytes_that_fit(characters.rbegin(), characters.rend(), columns - 1);
  return std::string(kEllipsis).append(text.substr(text.size() - bytes));
}

}  // namespace coffer
