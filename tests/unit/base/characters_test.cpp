#include "base/text/characters.h"

#include <catch2/catch.hpp>
#include <string>

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
