#include "base/text/columns.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/text/characters.h"

namespace coffer {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};
// Unicode blocks whose characters take no column, and blocks whose characters take two. The lists
// are short, because only names and references are displayed.
constexpr auto kNone = std::to_array<Range>(
    {{0x0300, 0x036f}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}});
constexpr auto kTwo = std::to_array<Range>({{0x1100, 0x115f},
                                            {0x2e80, 0x303e},
                                            {0x3041, 0xa4cf},
                                            {0xac00, 0xd7a3},
                                            {0xf900, 0xfaff},
                                            {0xfe30, 0xfe6f},
                                            {0xff00, 0xff60},
                                            {0xffe0, 0xffe6},
                                            {0x1f300, 0x1f64f},
                                            {0x1f680, 0x1f6ff},
                                            {0x1f900, 0x1f9ff},
                                            {0x20000, 0x3fffd}});

bool is_in(std::span<const Range> ranges, char32_t c) {
  return std::ranges::any_of(
      ranges, [&](const Range& range) { return c >= range.first && c <= range.last; });
}

struct Character {
  std::size_t bytes;
  std::size_t columns;
};

/// The first character of `text`, which must not be empty.
Character first_of(std::string_view text) {
  const auto [code, length] = first_code_point(text);
  if (length <= 1) return {1, 1};
  return {length, is_in(kNone, code) ? 0U : is_in(kTwo, code) ? 2U : 1U};
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
