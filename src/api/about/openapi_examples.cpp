#include "api/about/openapi_examples.h"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "api/about/web_documents.h"
#include "http/problem_json.h"

namespace coffer::api {
namespace {

constexpr std::string_view kSchemaPath = "#/components/schemas/";
constexpr std::string_view kRequestId = "0198f3a1-7c44-7d20-9d3b-2f6f0a1c5e77";
constexpr std::string_view kBaseUrl = "https://pay.example.com";

const Json& resolved(const Json& schema, const Json& schemas) {
  const auto reference = schema.find("$ref");
  if (reference == schema.end()) return schema;
  return schemas.at(reference->get<std::string>().substr(kSchemaPath.size()));
}

bool has_type(const Json& schema, std::string_view wanted) {
  const auto type = schema.find("type");
  if (type == schema.end()) return false;
  if (type->is_string()) return *type == wanted;
  return std::find(type->begin(), type->end(), wanted) != type->end();
}

Json object_example(const Json& schema, const Json& schemas) {
  Json out = Json::object();
  const Json required = schema.value("required", Json::array());
  const Json properties = schema.value("properties", Json::object());
  for (const auto& [name, member] : properties.items()) {
    const bool wanted = std::find(required.begin(), required.end(), name) != required.end();
    if (wanted || member.contains("examples")) out[name] = example_of(member, schemas);
  }
  return out;
}

Json text_example(const Json& schema) {
  struct Format {
    std::string_view name;
    std::string_view example;
  };
  constexpr std::array<Format, 5> kFormats{{
      {"uuid", "0198f3a1-5b10-7c3e-8a54-6d1f2b7c9e01"},
      {"date-time", "2026-01-31T09:00:00.000Z"},
      {"date", "1990-04-12"},
      {"email", "amina.otieno@example.com"},
      {"uri", "https://example.com/coffer/events"},
  }};
  const std::string format = schema.value("format", "");
  for (const Format& each : kFormats) {
    if (each.name == format) return each.example;
  }
  return "text";
}

std::map<std::string, Json, std::less<>> read_recorded() {
  std::map<std::string, Json, std::less<>> out;
  std::istringstream lines{std::string(web_text("openapi/examples.ndjson"))};
  for (std::string line; std::getline(lines, line);) {
    Json example = Json::parse(line);
    out.emplace(example.at("operation"), std::move(example));
  }
  return out;
}

}  // namespace

Json example_of(const Json& schema, const Json& schemas) {
  if (const auto own = schema.find("examples"); own != schema.end()) return own->front();
  const Json& target = resolved(schema, schemas);
  if (&target != &schema) return example_of(target, schemas);
  if (const auto value = schema.find("const"); value != schema.end()) return *value;
  if (const auto values = schema.find("enum"); values != schema.end()) return values->front();
  if (const auto value = schema.find("default"); value != schema.end()) return *value;
  for (const char* key : {"oneOf", "anyOf"}) {
    if (const auto list = schema.find(key); list != schema.end()) {
      return example_of(list->front(), schemas);
    }
  }
  if (has_type(schema, "null")) return nullptr;
  if (has_type(schema, "object")) return object_example(schema, schemas);
  if (has_type(schema, "array")) {
    return Json::array({example_of(schema.value("items", Json::object()), schemas)});
  }
  if (has_type(schema, "integer")) return schema.value("minimum", 1);
  if (has_type(schema, "boolean")) return false;
  return text_example(schema);
}

const Json& recorded_example(std::string_view operation) {
  static const std::map<std::string, Json, std::less<>> examples = read_recorded();
  static const Json none = Json::object();
  const auto found = examples.find(operation);
  return found == examples.end() ? none : found->second;
}

Json problem_example(Slug slug, bool envelope) {
  const Problem problem(slug);
  const http::Response response = envelope
                                      ? http::envelope_problem_response(problem, kRequestId)
                                      : http::problem_response(problem, "", kRequestId, kBaseUrl);
  return Json::parse(response.body);
}

}  // namespace coffer::api
