#include "api/ledger/csv.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace coffer::api {
namespace {

struct ByteRange {
  std::string_view first;  // UTF-8
  std::string_view last;   // of the same length
};

/// Characters that a spreadsheet may ignore at the beginning of a cell: controls, blanks, and
/// characters without a visible form.
constexpr std::array kIgnored = {
    ByteRange{std::string_view("\0", 1), " "},          // C0 controls and the blank
    ByteRange{"\x7f", "\x7f"},                          // DEL
    ByteRange{"\xc2\x80", "\xc2\xa0"},                  // C1 controls and the no-break space
    ByteRange{"\xc2\xad", "\xc2\xad"},                  // soft hyphen
    ByteRange{"\xcd\x8f", "\xcd\x8f"},                  // combining grapheme joiner
    ByteRange{"\xd8\x9c", "\xd8\x9c"},                  // Arabic letter mark
    ByteRange{"\xe1\x85\x9f", "\xe1\x85\xa0"},          // Hangul fillers
    ByteRange{"\xe1\x9a\x80", "\xe1\x9a\x80"},          // Ogham space mark
    ByteRange{"\xe1\x9e\xb4", "\xe1\x9e\xb5"},          // Khmer inherent vowels
    ByteRange{"\xe1\xa0\x8b", "\xe1\xa0\x8f"},          // Mongolian separators
    ByteRange{"\xe2\x80\x80", "\xe2\x80\x8f"},          // spaces, zero-width characters
    ByteRange{"\xe2\x80\xa8", "\xe2\x80\xaf"},          // line separators, directions
    ByteRange{"\xe2\x81\x9f", "\xe2\x81\xaf"},          // mathematical space, invisible operators
    ByteRange{"\xe3\x80\x80", "\xe3\x80\x80"},          // ideographic space
    ByteRange{"\xe3\x85\xa4", "\xe3\x85\xa4"},          // Hangul filler
    ByteRange{"\xef\xb8\x80", "\xef\xb8\x8f"},          // variation selectors
    ByteRange{"\xef\xbb\xbf", "\xef\xbb\xbf"},          // byte order mark
    ByteRange{"\xef\xbe\xa0", "\xef\xbe\xa0"},          // halfwidth Hangul filler
    ByteRange{"\xef\xbf\xb0", "\xef\xbf\xbb"},          // annotation marks
    ByteRange{"\xf3\xa0\x80\x80", "\xf3\xa0\xbf\xbf"},  // tags
};

/// The signs of ASCII, then their small, full-width and mathematical forms.
constexpr std::array<std::string_view, 13> kSigns = {"=",
                                                     "+",
                                                     "-",
                                                     "@",
                                                     "\xef\xb9\xa6",
                                                     "\xef\xb9\xa2",
                                                     "\xef\xb9\xa3",
                                                     "\xef\xb9\xab",
                                                     "\xef\xbc\x9d",
                                                     "\xef\xbc\x8b",
                                                     "\xef\xbc\x8d",
                                                     "\xef\xbc\xa0",
                                                     "\xe2\x88\x92"};

/// Size in bytes of the ignored character at the beginning of `text`; 0 if `text` does not start
/// with one.
std::size_t ignored_bytes(std::string_view text) {
  const auto found = std::ranges::find_if(kIgnored, [&](const ByteRange& range) {
    const std::string_view head = text.substr(0, range.first.size());
    return head.size() == range.first.size() && range.first <= head && head <= range.last;
  });
  return found == kIgnored.end() ? 0 : found->first.size();
}

bool may_be_formula(std::string_view text) {
  if (!text.empty() && std::string_view("\t\r\n").find(text.front()) != std::string_view::npos) {
    return true;
  }
  while (const std::size_t bytes = text.empty() ? 0 : ignored_bytes(text)) {
    text.remove_prefix(bytes);
  }
  return std::ranges::any_of(kSigns, [&](std::string_view sign) { return text.starts_with(sign); });
}

}  // namespace

std::string csv_cell(const std::string& text) {
  std::string cell = text;
  if (may_be_formula(cell)) cell.insert(0, 1, '\'');
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace coffer::api
