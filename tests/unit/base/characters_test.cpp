#include "base/text/characters.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>

using namespace coffer;

TEST_CASE("characters: code points are counted, not bytes") {
  CHECK(character_count("") == 0);
  CHECK(character_count("abc") == 3);
  CHECK(character_count("\xc3\xa9") == 1);                  // U+00E9
  CHECK(character_count("\xe6\x9d\xb1\xe4\xba\xac") == 2);  // two of three bytes
  CHECK(character_count("\xf0\x9f\x92\xb6") == 1);          // U+1F4B6
  CHECK(character_count("e\xcc\x81") == 2);                 // a combining mark is a code point
}

TEST_CASE("characters: a text is truncated between characters") {
  const std::string text = "a\xc3\xa9\xf0\x9f\x92\xb6z";
  CHECK(first_characters(text, 0) == "");
  CHECK(first_characters(text, 2) == "a\xc3\xa9");
  CHECK(first_characters(text, 3) == "a\xc3\xa9\xf0\x9f\x92\xb6");
  CHECK(first_characters(text, 4) == text);
  CHECK(first_characters(text, 99) == text);
}

TEST_CASE("characters: the first code point, if it is well-formed") {
  const auto first = [](std::string_view text) {
    const CodePoint found = first_code_point(text);
    return std::pair(found.value, found.length);
  };
  CHECK(first("abc") == std::pair(U'a', std::size_t{1}));
  CHECK(first("\xc3\xa9z") == std::pair(char32_t{0xe9}, std::size_t{2}));
  CHECK(first("\xe6\x9d\xb1") == std::pair(char32_t{0x6771}, std::size_t{3}));
  CHECK(first("\xf4\x8f\xbf\xbf") == std::pair(char32_t{0x10ffff}, std::size_t{4}));
  for (const char* text : {"\x80", "\xc3", "\xc3z", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                           "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    CHECK(first(text).second == 0);
    CHECK_FALSE(is_utf8(text));
  }
}
