#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/text/join.h"
#include "base/text/next_part.h"
#include "base/text/whole_number.h"

using namespace coffer;

TEST_CASE("parts: a text is taken apart at a separator") {
  std::string_view rest = " a , b,,c";
  CHECK(next_part(rest, ',') == "a");
  CHECK(next_whole_part(rest, ',') == " b");
  CHECK(next_whole_part(rest, ',').empty());
  CHECK(rest == "c");
  CHECK(next_whole_part(rest, ',') == "c");
  CHECK(rest.empty());
  CHECK(next_whole_part(rest, ',').empty());
}

TEST_CASE("parts: a list as one text") {
  CHECK(join(std::vector<std::string>{}, ", ").empty());
  CHECK(join(std::vector<std::string>{"a"}, ", ") == "a");
  CHECK(join(std::vector<std::string>{"a", "b", "c"}, ", ") == "a, b, c");
  CHECK(join(std::vector{1, 2}, "|", [](int one) { return std::to_string(one); }) == "1|2");
}

TEST_CASE("parts: a whole number is all of a text, and within its bounds") {
  CHECK(whole_number<int>("42") == 42);
  CHECK(whole_number<int>("-7") == -7);
  CHECK(whole_number<std::int64_t>("9223372036854775807") == INT64_MAX);
  CHECK_FALSE(whole_number<std::int64_t>("9223372036854775808"));
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1.0", "1e3", "0x10", "one"}) {
    INFO(text);
    CHECK_FALSE(whole_number<int>(text));
  }
  CHECK(whole_number("0", 0, 9) == 0);
  CHECK(whole_number("9", 0, 9) == 9);
  CHECK_FALSE(whole_number("-1", 0, 9));
  CHECK_FALSE(whole_number("10", 0, 9));
}
