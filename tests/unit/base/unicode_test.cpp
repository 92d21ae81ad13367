#include "base/text/unicode.h"

#include <catch2/catch.hpp>

#include "base/text/characters.h"

using namespace coffer;

namespace {

std::string utf8_of(char32_t c) {
  const auto tail = [](char32_t bits) { return static_cast<char>(0x80U | (bits & 0x3fU)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xc0U | c >> 6U), tail(c)};
  if (c < 0x10000) return {static_cast<char>(0xe0U | c >> 12U), tail(c >> 6U), tail(c)};
  return {static_cast<char>(0xf0U | c >> 18U), tail(c >> 12U), tail(c >> 6U), tail(c)};
}

}  // namespace

TEST_CASE("unicode: blank is what shows nothing") {
  for (const char* text :
       {"", " ", "\t\r\n", "\u00a0", "\u3000", "\u2003\u2009", "\u200b", "\ufeff", "\u00ad",
        "\u2060", "\u3164", "\u2800", "\u0085", "\u200e \u202e", "\u0301", " \u0301\u0302"}) {
    INFO(text);
    CHECK(is_blank(text));
  }
  for (const char* text : {"a", "\u00a0.", "東", "0", "e\u0301", "\u0301e", "\xff"}) {
    INFO(text);
    CHECK_FALSE(is_blank(text));
  }
  CHECK(without_outer_space("\u00a0\u3000 Amina\u00a0Otieno\t\u2003") == "Amina\u00a0Otieno");
  CHECK(without_outer_space("\u3000").empty());
  CHECK(without_outer_space("\u200bA") == "\u200bA");  // not white space, so not removed silently
}

TEST_CASE("unicode: characters that a line of text must not contain") {
  struct Case {
    const char* text;
    const char* fault;
  };
  for (const Case& each : {
           Case{"a\nb", "must not contain control characters (U+000A)"},
           Case{"\x07", "must not contain control characters (U+0007)"},
           Case{"a\x7f", "must not contain control characters (U+007F)"},
           Case{"a\u0085", "must not contain control characters (U+0085)"},
           Case{"a\ufffe", "must not contain control characters (U+FFFE)"},
           Case{"a\ufdd0b", "must not contain control characters (U+FDD0)"},
           Case{"\U0001ffffa", "must not contain control characters (U+1FFFF)"},
           Case{"a\u2028b", "must not contain control characters (U+2028)"},
           Case{"Kes\u200btrel", "must not contain invisible characters (U+200B)"},
           Case{"\ufeffKestrel", "must not contain invisible characters (U+FEFF)"},
           Case{"Kes\u00adtrel", "must not contain invisible characters (U+00AD)"},
           Case{"a\u034fb", "must not contain invisible characters (U+034F)"},
           Case{"a\u3164", "must not contain invisible characters (U+3164)"},
           Case{"a\U000e0041", "must not contain invisible characters (U+E0041)"},
           // The direction of writing:
           Case{"a\u202eb", "must not contain invisible characters (U+202E)"},
           Case{"a\u2066b", "must not contain invisible characters (U+2066)"},
           Case{"a\u200fb", "must not contain invisible characters (U+200F)"},
           Case{"a\u061cb", "must not contain invisible characters (U+061C)"},
           // Joiners and variation selectors where they change nothing that is visible:
           Case{"Kes\u200dtrel", "must not contain invisible characters (U+200D)"},
           Case{"Kes\u200ctrel", "must not contain invisible characters (U+200C)"},
           Case{"A\ufe0f", "must not contain invisible characters (U+FE0F)"},
           Case{"نام\u200c", "must not contain invisible characters (U+200C)"},
           Case{"می\u200c\u200cخواهم", "must not contain invisible characters (U+200C)"},
           Case{"\u2764\ufe0f\ufe0f", "must not contain invisible characters (U+FE0F)"},
       }) {
    INFO(each.text);
    CHECK(character_fault(each.text) == each.fault);
  }
}

TEST_CASE("unicode: every script and emoji are accepted as they are written") {
  for (const char* text :
       {"Straße 1", "Amina\u00a0Otieno", "N\u0303andu\u0301", "Ștefan Țurcanu", "Ґалаґан", "東京",
        "می\u200cخواهم",                               // Persian, with a joiner
        "ക്\u200dഷ", "അവന്\u200d",                       // Malayalam, after a virama, also at the end
        "葛\U000e0100城",                              // a variant of a Japanese name
        "\u2764\ufe0f", "\U0001f469\u200d\U0001f4bb",  // emoji in two parts
        "\U0001f44b\U0001f3fd", "١٢٣", "\u06dd"}) {
    INFO(text);
    CHECK(character_fault(text).empty());
    CHECK(cleaned(text) == text);
  }
  CHECK(cleaned("Ami\u200bna\nO\u202etieno\ufeff") == "Amina Otieno");
}

TEST_CASE("unicode: a line has a limited number of characters and is not blank") {
  CHECK(line_fault("\u3000", 3) == "must not be blank");
  CHECK(line_fault("東京都", 3).empty());
  CHECK(line_fault("東京都x", 3) == "must have at most 3 characters");
}

TEST_CASE("unicode: folded texts are equal in any case and composition") {
  struct Pair {
    const char* one;
    const char* other;
  };
  for (const Pair& pair : {Pair{"Amina OTIENO", "amina otieno"},
                           Pair{"MÜLLER", "mu\u0308ller"},
                           Pair{"Zoë", "ZOE\u0308"},
                           Pair{"ȘTEFAN ȚURCANU", "ștefan țurcanu"},
                           Pair{"ŞTEFAN ŢURCANU", "ștefan țurcanu"},  // with a cedilla
                           Pair{"S\u0326tefan", "ștefan"},
                           Pair{"ҐАЛАҐАН ЄВГЕНІЯ ЇЖАК", "ґалаґан євгенія їжак"},
                           Pair{"І\u0308", "ї"},
                           Pair{"ΣΊΣΥΦΟΣ", "σίσυφος"},
                           Pair{"STRASSE", "Straße"},
                           Pair{"İSMAİL", "ismail"},
                           Pair{"ISPARTA", "ısparta"},
                           Pair{"Ł", "ł"},
                           Pair{"Ⅷ", "viii"},
                           Pair{"ﬁ", "FI"},
                           Pair{"ＡＢ", "ab"},
                           Pair{"𐐀", "𐐨"},
                           Pair{"می\u200cخواهم", "میخواهم"},
                           Pair{"ᲓᲐ", "და"},
                           Pair{"ԱԲ", "աբ"},
                           Pair{"Ḍ\u0307", "D\u0323\u0307"}}) {
    INFO(pair.one << " " << pair.other);
    CHECK(fold_case(pair.one) == fold_case(pair.other));
  }
  CHECK(fold_case("\u00d7\u00f7") == "\u00d7\u00f7");
  CHECK(fold_case("e") != fold_case("é"));
  for (const char* broken : {"\xc3", "a\xff", "\xe6\x9d"}) CHECK(fold_case(broken) == broken);
}

TEST_CASE("unicode: a folded text stays the same when it is folded again") {
  std::string different;
  for (char32_t c = 1; c < 0x20000; ++c) {
    if (c >= 0xd800 && c < 0xe000) continue;
    const std::string once = fold_case("x" + utf8_of(c) + "\u0307");
    if (fold_case(once) != once) different += utf8_of(c) + " ";
  }
  CHECK(different.empty());
}
