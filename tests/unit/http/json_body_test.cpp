#include "http/json_body.h"

#include <catch2/catch.hpp>

using namespace coffer;
using namespace coffer::http;

namespace {

std::string number(std::string_view text) {
  const auto value = parse_json(text);
  REQUIRE(value);
  REQUIRE(value->number() != nullptr);
  return value->number()->text;
}

std::string rejection(std::string_view text, const JsonLimits& limits = {}) {
  const auto value = parse_json(text, limits);
  REQUIRE_FALSE(value);
  CHECK(value.error().slug == Slug::malformed_request);
  return value.error().detail;
}

/// The field of the error, or empty.
std::string rejected_field(std::string_view text) {
  const auto value = parse_json(text);
  REQUIRE_FALSE(value);
  REQUIRE(value.error().fields.size() <= 1);
  return value.error().fields.empty() ? "" : value.error().fields.front().field;
}

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + "1" + std::string(depth, ']');
}

}  // namespace

TEST_CASE("numbers keep their original text") {
  for (const char* text :
       {"0.10", "1e2", "100.00", "9007199254740993", "0.30000000000000004", "-1.50", "1E+2",
        "922337203685.4775808", "18446744073709551615", "18446744073709551616",
        "-9223372036854775808", "0.1234567890123456789"}) {
    CHECK(number(text) == text);
  }
}

TEST_CASE("values have their JSON types") {
  const auto body = parse_json(R"({"a":null,"b":true,"c":"x","d":[1,{}],"e":{"f":2}})");
  REQUIRE(body);
  CHECK(body->object()->size() == 5);
  CHECK(body->object()->front().first == "a");
  CHECK(body->find("a")->is_null());
  CHECK(*body->find("b")->boolean());
  CHECK(*body->find("c")->string() == "x");
  CHECK(body->find("d")->array()->size() == 2);
  CHECK(body->find("e")->find("f")->number()->text == "2");
  CHECK(body->find("z") == nullptr);
  CHECK(body->find("c")->find("a") == nullptr);
  CHECK(body->type_name() == "an object");
  CHECK(body->find("a")->type_name() == "null");
  CHECK(body->find("d")->type_name() == "an array");
}

TEST_CASE("escapes are decoded") {
  const auto body = parse_json(R"("\u00e4\n\ud83d\ude00")");
  REQUIRE(body);
  CHECK(*body->string() == "\xc3\xa4\n\xf0\x9f\x98\x80");
}

TEST_CASE("duplicate members are named") {
  CHECK(rejection(R"({"amount":1,"amount":1000})").find("`amount`") != std::string::npos);
  CHECK(rejection(R"({"t":[{"x":1},{"a":1,"\u0061":2}]})").find("`t[1].a`") != std::string::npos);
  std::string large = "{";
  for (int i = 0; i < 500; ++i) large += "\"k" + std::to_string(i) + "\":0,";
  CHECK(parse_json(large + "\"last\":0}"));
  CHECK(rejection(large + "\"k499\":0}").find("`k499`") != std::string::npos);
  CHECK(rejection(large + "\"k3\":0}").find("`k3`") != std::string::npos);
}

TEST_CASE("nesting is limited while parsing") {
  CHECK(parse_json(nested(32)));
  CHECK(rejection(nested(33)).find("32 levels") != std::string::npos);
  CHECK(rejection(std::string(500'000, '[')).find("32 levels") != std::string::npos);
  std::string objects;
  for (int i = 0; i < 10'000; ++i) objects += "{\"a\":";
  CHECK(rejection(objects).find("32 levels") != std::string::npos);
}

TEST_CASE("invalid text is rejected") {
  CHECK(rejection(R"({"a":"x\u0000y"})").find("`a`") != std::string::npos);
  CHECK(rejection(R"({"a\u0000":1})").find("NUL") != std::string::npos);
  CHECK(rejection(std::string("{\"a\":\"\0\"}", 9)).find("NUL") != std::string::npos);
  CHECK(rejection(std::string("{}\0{", 4)).find("NUL") != std::string::npos);
  rejection("\"\xff\"");
  rejection("\"\xc0\xaf\"");
  rejection("\"\xed\xa0\x80\"");
  rejection(R"("\ud800")");
  rejection(R"("\udc00")");
  rejection(R"("\ud800\u0041")");
  CHECK(rejection("\xef\xbb\xbf{}").find("byte order mark") != std::string::npos);
}

TEST_CASE("errors about the whole text have its subject") {
  const JsonLimits limits{.subject = "The file", .depth_max = 1, .values_max = 2};
  CHECK(rejection("", limits) == "The file is empty; send JSON.");
  CHECK(rejection(std::string("1\0", 2), limits) == "The file contains a NUL character at byte 2.");
  CHECK(rejection("\xef\xbb\xbf{}", limits) == "The file starts with a byte order mark.");
  CHECK(rejection("[1,", limits).starts_with("The file is not valid JSON at byte "));
  CHECK(rejection("[[1]]", limits) == "The file is nested more than 1 levels deep.");
  CHECK(rejection("[1,2]", limits).starts_with("The file contains more than 2 values"));
  CHECK(rejection("").starts_with("The body "));
}

TEST_CASE("long strings and numbers are rejected by name") {
  const std::string text(4'097, 'x');
  CHECK(rejection("{\"a\":{\"b\":\"" + text + "\"}}").find("`a.b`") != std::string::npos);
  CHECK(parse_json("\"" + text + "\"", {.depth_max = 32, .string_max = 5'000}));
  rejection("{\"" + text + "\":1}");
  std::string wide;
  for (int i = 0; i < 4'096; ++i) wide += "\xf0\x9f\x92\xb6";
  CHECK(parse_json("\"" + wide + "\""));  // characters count, not bytes
  CHECK(rejection("{\"a\":\"" + wide + "x\"}").find("4096 characters") != std::string::npos);
  CHECK(rejection("{\"n\":1." + std::string(200, '0') + "}").find("`n`") != std::string::npos);
}

TEST_CASE("a number keeps its text, also beyond the range of a double") {
  for (const char* number : {"1e400", "-1e999999", "1E+400", "1.50e309", "1e00000400"}) {
    const std::string text = number;
    INFO(text);
    const auto value =
        parse_json("{\"a\\\"1e400\":\"\\\\\",\"t\":[1e5,-0.5,{\"n\":" + text + "},2e99]}");
    REQUIRE(value);
    const auto& list = *value->find("t")->array();
    CHECK(list[0].number()->text == "1e5");
    CHECK(list[1].number()->text == "-0.5");
    CHECK(list[2].find("n")->number()->text == text);
    CHECK(list[3].number()->text == "2e99");
    CHECK(*value->find("a\"1e400")->string() == "\\");
    CHECK(parse_json(text)->number()->text == text);
  }
  for (const char* wrong : {"[1e400,1e]", "[1e400,01]", "[1e400,--1]", "[1e400", "1e400e400"}) {
    INFO(wrong);
    rejection(wrong);
  }
}

TEST_CASE("a number with too many digits is rejected by name") {
  const std::string text(400, '9');
  CHECK(rejection("{\"t\":[0,{\"n\":" + text + "}]}").find("`t[1].n`") != std::string::npos);
  CHECK(rejection(text).find("too long") != std::string::npos);
  const std::string exponent = "1e" + std::string(200, '9');
  CHECK(rejection("{\"n\":" + exponent + "}").find("`n`") != std::string::npos);
}

TEST_CASE("an error in one field is an error of that field") {
  CHECK(rejected_field(R"({"t":[{"a":1,"a":2}]})") == "t[0].a");
  CHECK(rejected_field("{\"t\":{\"n\":" + std::string(400, '9') + "}}") == "t.n");
  CHECK(rejected_field(R"({"a":"\u0000"})") == "a");
  CHECK(rejected_field("{\"t\":[\"" + std::string(4'097, 'x') + "\"]}") == "t[0]");
  CHECK(rejected_field("{\"t\":{\"" + std::string(4'097, 'x') + "\":1}}") == "t");
  CHECK(rejected_field(std::string(400, '9')).empty());
  CHECK(rejected_field(nested(33)).empty());
  CHECK(rejected_field("{").empty());
}

TEST_CASE("a body has a maximum number of values of any type") {
  const JsonLimits limits{.values_max = 10};
  CHECK(parse_json("[1,2,3,4,5,6,7,8,9]", limits));
  CHECK(rejection("[1,2,3,4,5,6,7,8,9,0]", limits).find("10 values") != std::string::npos);
  CHECK(rejection("[[],[],[],[],[],[],[],[],[],[]]", limits).find("`[9]`") != std::string::npos);
  CHECK(rejection("{\"a\":[{},{},{},{},{},{},{},{},{}]}", limits).find("`a[8]`") !=
        std::string::npos);
  std::string mebibyte = "[0";
  while (mebibyte.size() < 1024 * 1024) mebibyte += ",0";
  CHECK(rejection(mebibyte + "]").find("values") != std::string::npos);
}

TEST_CASE("an array and an object have a maximum number of values") {
  const JsonLimits limits{.children_max = 3};
  CHECK(parse_json(R"({"a":1,"b":{"a":1,"b":2,"c":[1,2,3]},"c":3})", limits));
  CHECK(rejection(R"({"t":[{"a":1,"b":2,"c":3,"d":4}]})", limits) ==
        "An object contains more than 3 values; the limit is exceeded at `t[0].d`.");
  CHECK(rejection(R"({"t":[[],[],[],[]]})", limits) ==
        "An array contains more than 3 values; the limit is exceeded at `t[3]`.");
  std::string list = "[0";
  for (int i = 1; i < 1'000; ++i) list += ",0";
  CHECK(parse_json(list + "]"));
  CHECK(rejection(list + ",0]").find("more than 1000 values") != std::string::npos);
}

TEST_CASE("invalid JSON is rejected with its position") {
  for (const char* text :
       {"", " ", "{", "{}x", "{} {}", "{'a':1}", "{\"a\":1,}", "[1,]", "01", "+1", ".5", "1.",
        "NaN", "nul", "\"a", "// c\n1", "{\"a\" 1}", "\"\t\"", "1e"}) {
    INFO(text);
    CHECK_FALSE(rejection(text).empty());
  }
  CHECK(rejection("{\"a\": tru}").find("byte 10") != std::string::npos);
}
