#include "domain/parties/search_words.h"

#include <catch2/catch.hpp>

namespace coffer {
namespace {

using Words = std::vector<std::string>;

TEST_CASE("search words: folded, sorted, each once") {
  CHECK(search_words("Amina OTIENO\namina.otieno@example.com\nREF-17") ==
        Words{"17", "amina", "com", "example", "otieno", "ref"});
  CHECK(search_words("M\xc3\x9cLLER") == Words{"m\xc3\xbcller"});
  CHECK(search_words("O'Brien") == Words{"brien", "o"});
  CHECK(search_words("").empty());
  CHECK(search_words(" -%_'\"@ ").empty());
}

TEST_CASE("search words: punctuation outside ASCII separates words, letters do not") {
  CHECK(search_words("O\xe2\x80\x99"
                     "Brien") == Words{"brien", "o"});  // U+2019
  CHECK(search_words("a\xc2\xa0"
                     "b") == Words{"a", "b"});                              // no-break space
  CHECK(search_words("\xe6\x9d\xb1\xe3\x80\x80\xe4\xba\xac").size() == 2);  // U+3000
  CHECK(search_words("\xe6\x9d\xb1\xe4\xba\xac") == Words{"\xe6\x9d\xb1\xe4\xba\xac"});
  CHECK(search_words("1\xc2\xaa") == Words{"1a"});  // ordinal
  CHECK(search_words("Ren\u00e9 \u2014 Zoe\u0308") == Words{"ren\u00e9", "zo\u00eb"});
  CHECK(search_words("\U0001f3e6 Bank") == Words{"bank", "\U0001f3e6"});
  CHECK(search_words("\xe2\x80").empty());  // cut off
}

TEST_CASE("search words: each search word matches the beginning of a word") {
  const Words words = search_words("Amina Otieno amina@example.com");
  const auto found = [&](const char* text) { return has_words(words, search_words(text)); };
  CHECK(found("ami"));
  CHECK(found("oti ami"));
  CHECK(found("amina@exam"));
  CHECK_FALSE(found("mina"));
  CHECK_FALSE(found("oti x"));
  CHECK_FALSE(found("zz"));
  CHECK(found(""));
}

}  // namespace
}  // namespace coffer
