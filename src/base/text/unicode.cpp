#include "base/text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/text/characters.h"

namespace coffer {
namespace {

const utf8proc_property_t& property_of(char32_t c) {
  return *utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
}

bool is_between(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

bool is_space(char32_t c) {
  if (is_between(c, 0x09, 0x0d) || c == 0x85) return true;
  const auto category = property_of(c).category;
  return category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP;
}

/// Unicode never assigns a character to these, and some formats cannot contain them.
bool is_noncharacter(char32_t c) {
  return is_between(c, 0xfdd0, 0xfdef) || (c & 0xfffeU) == 0xfffe;
}

bool is_control(char32_t c) {
  const auto category = property_of(c).category;
  return is_noncharacter(c) || category == UTF8PROC_CATEGORY_CC ||
         category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

/// Zero-width characters, fillers, tags, and everything that changes the direction of writing. Not
/// the visible format characters, such as the Arabic number sign.
bool is_invisible(char32_t c) {
  const utf8proc_property_t& property = property_of(c);
  return property.ignorable != 0 || (property.category == UTF8PROC_CATEGORY_CF &&
                                     property.bidi_class == UTF8PROC_BIDI_CLASS_ON);
}

bool is_mark(char32_t c) {
  const auto category = property_of(c).category;
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool is_joiner(char32_t c) { return c == 0x200c || c == 0x200d; }

bool is_variation_selector(char32_t c) {
  return is_between(c, 0x180b, 0x180d) || c == 0x180f || is_between(c, 0xfe00, 0xfe0f) ||
         is_between(c, 0xe0100, 0xe01ef);
}

/// Letters of scripts without case, and symbols: what joiners and variation selectors change. After
/// others, they would only make two texts that look the same differ.
bool has_forms(char32_t c) {
  const auto category = property_of(c).category;
  return c > 0x7f &&
         (category == UTF8PROC_CATEGORY_LO || category == UTF8PROC_CATEGORY_LM ||
          (category >= UTF8PROC_CATEGORY_SM && category <= UTF8PROC_CATEGORY_SO)) &&
         !is_invisible(c);
}

enum class Fault { none, control, invisible };

/// The faults of the characters of a text, in order.
class FaultReader {
 public:
  /// `rest` begins after `c`.
  Fault next(char32_t c, std::string_view rest) {
    const bool accepted = !is_invisible(c) || (is_joiner(c) && may_join(rest)) ||
                          (is_variation_selector(c) && may_vary());
    if (!is_mark(c) && !is_joiner(c)) base_ = c;
    before_ = c;
    if (is_control(c)) return Fault::control;
    return accepted ? Fault::none : Fault::invisible;
  }

 private:
  /// After a virama, which joins consonants, or between two characters with forms.
  bool may_join(std::string_view rest) const {
    constexpr int kVirama = 9;
    if (!has_forms(base_) || is_joiner(before_)) return false;
    if (property_of(before_).combining_class == kVirama) return true;
    return !rest.empty() && has_forms(first_code_point(rest).value);
  }
  bool may_vary() const { return has_forms(base_) && !is_variation_selector(before_); }

  char32_t base_ = 0;    // the last character that is neither a mark nor a joiner
  char32_t before_ = 0;  // the previous character
};

/// Calls `visit(character, fault)` with each character of the text, until it returns false.
template <class Visit>
void each_character(std::string_view rest, Visit visit) {
  FaultReader reader;
  while (!rest.empty()) {
    const CodePoint first = first_code_point(rest);
    const std::string_view character = rest.substr(0, first.length == 0 ? 1 : first.length);
    rest.remove_prefix(character.size());
    if (!visit(character, reader.next(first.value, rest))) return;
  }
}

bool is_plain_ascii(std::string_view text) {
  return text.find_first_of('\x7f') == std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' '; });
}

std::string number_of(char32_t c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (; c != 0 || out.size() < 4; c >>= 4U) out.insert(out.begin(), kDigits[c & 0xfU]);
  return "U+" + out;
}

std::string mapped(const std::string& utf8, int options) {
  utf8proc_uint8_t* out = nullptr;
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(utf8.data()),
                                   static_cast<utf8proc_ssize_t>(utf8.size()), &out,
                                   static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(out, &std::free);
  if (length < 0) return utf8;
  return {reinterpret_cast<const char*>(out), static_cast<std::size_t>(length)};
}

// In decomposed form. Turkish has i with and without a dot, and its capitals fold to either;
// Romanian texts contain a comma or, in older encodings, a cedilla.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kSame{{
    {"\u0131", "i"},
    {"i\u0307", "i"},
    {"s\u0327", "s\u0326"},
    {"t\u0327", "t\u0326"},
}};

}  // namespace

bool is_blank(std::string_view utf8) {
  constexpr char32_t kBlankBraille = 0x2800;
  while (!utf8.empty()) {
    const auto [c, length] = first_code_point(utf8);
    if (length == 0) return false;
    const bool shows = !is_space(c) && !is_control(c) && !is_invisible(c) && c != kBlankBraille;
    if (shows && !is_mark(c)) return false;  // a mark shows only with another character
    utf8.remove_prefix(length);
  }
  return true;
}

std::string_view without_outer_space(std::string_view utf8) {
  while (!utf8.empty()) {
    const auto [c, length] = first_code_point(utf8);
    if (length == 0 || !is_space(c)) break;
    utf8.remove_prefix(length);
  }
  while (!utf8.empty()) {
    std::size_t at = utf8.size() - 1;
    while (at > 0 && (static_cast<unsigned char>(utf8[at]) & 0xc0U) == 0x80U) --at;
    const auto [c, length] = first_code_point(utf8.substr(at));
    if (length == 0 || !is_space(c)) break;
    utf8.remove_suffix(utf8.size() - at);
  }
  return utf8;
}

std::string character_fault(std::string_view utf8) {
  std::string out;
  if (is_plain_ascii(utf8)) return out;
  each_character(utf8, [&](std::string_view character, Fault fault) {
    if (fault == Fault::none) return true;
    out = "must not contain " + std::string(fault == Fault::control ? "control" : "invisible") +
          " characters (" + number_of(first_code_point(character).value) + ")";
    return false;
  });
  return out;
}

std::string line_fault(std::string_view utf8, std::size_t length_max) {
  if (is_blank(utf8)) return "must not be blank";
  if (character_count(utf8) > length_max) {
    return "must have at most " + std::to_string(length_max) + " characters";
  }
  return character_fault(utf8);
}

std::string cleaned(std::string_view utf8) {
  std::string out;
  each_character(utf8, [&](std::string_view character, Fault fault) {
    if (fault == Fault::none) out += character;
    if (fault == Fault::control) out += ' ';
    return true;
  });
  return out;
}

std::string fold_case(std::string_view utf8) {
  if (!is_utf8(utf8)) return std::string(utf8);
  std::string out =
      mapped(std::string(utf8), UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT |
                                    UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
  for (const auto& [from, to] : kSame) {
    for (auto at = out.find(from); at != std::string::npos; at = out.find(from, at)) {
      out.replace(at, from.size(), to);
    }
  }
  return mapped(out, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
}

std::string folding_version() {
  return std::string("1 with Unicode ") + utf8proc_unicode_version();
}

bool is_word_character(char32_t character) {
  const auto category = property_of(character).category;
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO) ||
         category == UTF8PROC_CATEGORY_SO;
}

std::size_t columns_of(char32_t character) {
  return static_cast<std::size_t>(utf8proc_charwidth(static_cast<utf8proc_int32_t>(character)));
}

}  // namespace coffer
