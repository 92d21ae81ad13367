// The examples of RFC 7396, appendix A, and cases that they omit.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "api/json/fields.h"

using namespace coffer;

namespace {

using Json = nlohmann::ordered_json;

Json as_json(const http::JsonValue& value) {
  if (value.boolean() != nullptr) return *value.boolean();
  if (value.number() != nullptr) return Json::parse(value.number()->text);
  if (value.string() != nullptr) return *value.string();
  if (value.array() != nullptr) {
    Json out = Json::array();
    for (const auto& item : *value.array()) out.push_back(as_json(item));
    return out;
  }
  if (value.object() == nullptr) return nullptr;
  Json out = Json::object();
  for (const auto& [name, inner] : *value.object()) out[name] = as_json(inner);
  return out;
}

Json merged(const char* target, const char* patch) {
  auto first = http::parse_json(target);
  const auto second = http::parse_json(patch);
  REQUIRE(first);
  REQUIRE(second);
  return as_json(api::merge_patch(*std::move(first), *second));
}

}  // namespace

TEST_CASE("merge patch: the examples of RFC 7396") {
  struct Row {
    const char* original;
    const char* patch;
    const char* result;
  };
  const Row rows[] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", "null", "null"},
      {R"({"a":"foo"})", R"("bar")", R"("bar")"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {"[1,2]", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {"{}", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const Row& row : rows) {
    INFO(row.original << " with " << row.patch);
    CHECK(merged(row.original, row.patch) == Json::parse(row.result));
  }
}

TEST_CASE("merge patch: members keep their place, nulls inside arrays stay") {
  CHECK(merged(R"({"a":1,"b":2})", R"({"a":3})").dump() == R"({"a":3,"b":2})");
  CHECK(merged("{}", R"({"a":[null,{"b":null}]})").dump() == R"({"a":[null,{"b":null}]})");
}

TEST_CASE("merge patch: a repeated patch changes nothing") {
  const char* patch = R"({"a":{"x":null,"y":[1]},"b":null,"c":"d"})";
  const Json once = merged(R"({"a":{"x":1},"b":2})", patch);
  CHECK(merged(once.dump().c_str(), patch) == once);
}
