#include "api/pipeline/redaction.h"

#include <algorithm>

namespace coffer::api {
namespace {

constexpr std::string_view kRedacted = "\"[redacted]\"";
constexpr const char* kMark = "x-sensitive";
constexpr std::string_view kSchemaPrefix = "#/components/schemas/";

std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_marked(const std::vector<const Json*>& schemas) {
  return std::ranges::any_of(schemas, [](const Json* schema) { return schema->contains(kMark); });
}

bool is_scalar_type(const Json& type) {
  return type != "object" && type != "array" && type != "null";
}

/// Whether a schema declares a text, a number or a flag.
bool declares_scalar(const Json* schema) {
  if (schema->contains("const") || schema->contains("enum")) return true;
  const auto type = schema->find("type");
  if (type == schema->end()) return false;
  if (!type->is_array()) return is_scalar_type(*type);
  return std::any_of(type->begin(), type->end(), is_scalar_type);
}

bool may_show_scalar(const std::vector<const Json*>& schemas) {
  return !is_marked(schemas) && std::ranges::any_of(schemas, declares_scalar);
}

}  // namespace

Redactor::Candidates Redactor::named(std::string_view schema) const {
  Candidates out;
  const auto found = schemas_.find(std::string(schema));
  if (found != schemas_.end()) collect(*found, out);
  return out;
}

void Redactor::collect(const Json& schema, Candidates& out) const {
  if (!schema.is_object()) return;
  out.push_back(&schema);
  const auto reference = schema.find("$ref");
  if (reference != schema.end()) {
    const auto& path = reference->get_ref<const std::string&>();
    if (path.starts_with(kSchemaPrefix)) {
      const auto found = schemas_.find(path.substr(kSchemaPrefix.size()));
      if (found != schemas_.end()) collect(*found, out);
    }
  }
  for (const char* several : {"allOf", "anyOf", "oneOf"}) {
    const auto parts = schema.find(several);
    if (parts == schema.end()) continue;
    for (const Json& part : *parts) collect(part, out);
  }
}

Redactor::Candidates Redactor::member(const Candidates& object, const std::string& name) const {
  Candidates out;
  for (const Json* schema : object) {
    const auto properties = schema->find("properties");
    if (properties != schema->end() && properties->contains(name)) {
      collect(properties->at(name), out);
    } else if (const auto others = schema->find("additionalProperties"); others != schema->end()) {
      collect(*others, out);
    }
  }
  return out;
}

void Redactor::write_object(const http::JsonValue::Object& object, const Candidates& schemas,
                            std::string& out) const {
  char separator = '{';
  for (const auto& [name, value] : object) {
    const Candidates inner = member(schemas, name);
    out += std::exchange(separator, ',');
    // The client chose the name of an undeclared member, so the name may be a misplaced secret.
    out += inner.empty() ? "\"[undeclared]\"" : quoted(name);
    out += ':';
    write(value, inner, out);
  }
  out += object.empty() ? "{}" : "}";
}

void Redactor::write(const http::JsonValue& value, const Candidates& schemas,
                     std::string& out) const {
  if (value.is_null()) {
    out += "null";
  } else if (is_marked(schemas)) {
    out += kRedacted;
  } else if (const auto* object = value.object()) {
    write_object(*object, schemas, out);
  } else if (const auto* array = value.array()) {
    Candidates items;
    for (const Json* schema : schemas) {
      if (const auto found = schema->find("items"); found != schema->end()) collect(*found, items);
    }
    out += '[';
    for (std::size_t i = 0; i < array->size(); ++i) {
      if (i > 0) out += ',';
      write((*array)[i], items, out);
    }
    out += ']';
  } else if (!may_show_scalar(schemas)) {
    out += kRedacted;
  } else if (const std::string* text = value.string()) {
    out += quoted(*text);
  } else {
    out += value.scalar_text().value_or("null");
  }
}

std::optional<std::string> Redactor::body(std::string_view schema, std::string_view text) const {
  const auto parsed = http::parse_json(text, {.string_max = text.size()});
  if (!parsed) return std::nullopt;
  std::string out;
  out.reserve(text.size());
  write(*parsed, named(schema), out);
  return out;
}

std::string Redactor::value(std::string_view schema, const std::string& text) const {
  return may_show_scalar(named(schema)) ? text : "[redacted]";
}

}  // namespace coffer::api
