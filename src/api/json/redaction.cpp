#include "api/json/redaction.h"

#include <algorithm>
#include <functional>

#include "base/text/ascii.h"
#include "base/text/characters.h"
#include "base/uuid.h"

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

bool declares(const Json& schema, std::string_view type) {
  const auto found = schema.find("type");
  if (found == schema.end()) return false;
  if (!found->is_array()) return *found == Json(type);
  return std::ranges::find(*found, Json(type)) != found->end();
}

bool is_number(std::string_view text) {
  constexpr std::size_t kCharactersMax = 40;
  return text.size() <= kCharactersMax && std::ranges::all_of(text, [](char c) {
           return ascii::is_digit(c) || std::string_view("+-.eE").find(c) != std::string_view::npos;
         });
}

/// Whether a pattern permits texts of only one length, such as a digest.
bool is_fixed(std::string_view pattern) {
  return pattern.find_first_of("*+?,") == std::string_view::npos;
}

/// The StrKey form of a public key.
bool is_public_key(std::string_view text) {
  constexpr std::size_t kCharacters = 56;
  return text.size() == kCharacters && text.front() == 'G';
}

/// Whether the text contains a word as long as a key, a token or a seed.
bool may_hold_secret(std::string_view text) {
  constexpr std::size_t kWordMax = 32;
  constexpr std::string_view kPrefix = "whsec_";  // base64, which has other characters too
  if (text.find(kPrefix) != std::string_view::npos) return true;
  const auto is_part = [](char c) {
    return ascii::is_letter_or_digit(c) || c == '_' || c == '-' || c == '=';
  };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_part(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    if (word.size() > kWordMax && !Uuid::parse(word) && !is_public_key(word)) return true;
    at = end + 1;
  }
  return false;
}

/// Adds all names and values in a removed value.
void note_texts(const http::JsonValue& value, Redactor::Texts& out) {
  if (const auto* object = value.object()) {
    for (const auto& [name, inner] : *object) {
      out.push_back(name);
      note_texts(inner, out);
    }
  } else if (const auto* array = value.array()) {
    for (const auto& inner : *array) note_texts(inner, out);
  } else {
    out.push_back(value.scalar_text().value_or(""));
  }
}

/// The text with `[redacted]` in place of each removed text that stands there as whole words.
std::string without(std::string text, const Redactor::Texts& removed) {
  constexpr std::string_view kRemoved = "[redacted]";
  const auto is_end = [&text](std::size_t at) {
    return at >= text.size() || !ascii::is_letter_or_digit(text[at]);
  };
  for (const std::string& one : removed) {
    for (std::size_t at = 0; !one.empty() && (at = text.find(one, at)) != text.npos;) {
      const bool whole = is_end(at - 1) && is_end(at + one.size());
      if (whole) text.replace(at, one.size(), kRemoved);
      at += whole ? kRemoved.size() : 1;
    }
  }
  return text;
}

}  // namespace

Redactor::Redactor(Json schemas) : schemas_(std::move(schemas)) { compile(schemas_); }

void Redactor::compile(const Json& schema) {
  const auto found = schema.is_object() ? schema.find("pattern") : schema.end();
  if (schema.is_object() && found != schema.end() && found->is_string()) {
    const auto& text = found->get_ref<const std::string&>();
    patterns_.try_emplace(text, text);
  }
  if (!schema.is_structured()) return;
  for (const Json& inner : schema) compile(inner);
}

bool Redactor::may_show(const std::string& text, const Json& schema) const {
  if (const auto constant = schema.find("const"); constant != schema.end()) {
    return *constant == Json(text);
  }
  if (const auto words = schema.find("enum"); words != schema.end()) {
    return std::ranges::find(*words, Json(text)) != words->end();
  }
  if (!declares(schema, "string")) return false;
  const auto max = schema.find("maxLength");
  if (max != schema.end() && character_count(text) > max->get<std::size_t>()) return false;
  if (const auto pattern = schema.find("pattern"); pattern != schema.end()) {
    const auto& form = pattern->get_ref<const std::string&>();
    if (!patterns_.at(form).is_in(text)) return false;
    if (is_fixed(form)) return true;
  }
  const auto format = schema.find("format");
  if (format != schema.end() && *format == Json("uuid")) return Uuid::parse(text).has_value();
  return !may_hold_secret(text);
}

bool Redactor::may_show(const http::JsonValue& value, const Candidates& schemas) const {
  if (is_marked(schemas)) return false;
  return std::ranges::any_of(schemas, [&](const Json* schema) {
    if (const std::string* text = value.string()) return may_show(*text, *schema);
    if (value.boolean() != nullptr) {
      const auto constant = schema->find("const");
      return declares(*schema, "boolean") ||
             (constant != schema->end() && *constant == Json(*value.boolean()));
    }
    const bool numeric = declares(*schema, "number") || declares(*schema, "integer");
    return numeric && is_number(value.scalar_text().value_or(""));
  });
}

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
                            Output& out) const {
  char separator = '{';
  for (const auto& [name, value] : object) {
    const Candidates inner = member(schemas, name);
    out.text += std::exchange(separator, ',');
    // The client chose the name of an undeclared member, so the name may be a misplaced secret.
    if (inner.empty()) out.removed.push_back(name);
    out.text += inner.empty() ? "\"[undeclared]\"" : quoted(name);
    out.text += ':';
    write(value, inner, out);
  }
  out.text += object.empty() ? "{}" : "}";
}

void Redactor::write(const http::JsonValue& value, const Candidates& schemas, Output& out) const {
  const bool marked = is_marked(schemas);
  const std::string* text = value.string();
  if (value.is_null()) {
    out.text += "null";
  } else if (const auto* object = value.object(); object != nullptr && !marked) {
    write_object(*object, schemas, out);
  } else if (const auto* array = value.array(); array != nullptr && !marked) {
    Candidates items;
    for (const Json* schema : schemas) {
      if (const auto found = schema->find("items"); found != schema->end()) collect(*found, items);
    }
    out.text += '[';
    for (std::size_t i = 0; i < array->size(); ++i) {
      if (i > 0) out.text += ',';
      write((*array)[i], items, out);
    }
    out.text += ']';
  } else if (marked || !may_show(value, schemas)) {
    out.text += kRedacted;
    note_texts(value, out.removed);
  } else if (text != nullptr) {
    out.text += quoted(out.may_quote ? without(*text, out.removed) : *text);
  } else {
    out.text += value.scalar_text().value_or("null");
  }
}

std::optional<std::string> Redactor::redacted(std::string_view schema, std::string_view text,
                                              Output out) const {
  const auto parsed = http::parse_json(text, {.string_max = text.size()});
  if (!parsed) return std::nullopt;
  out.text.reserve(text.size());
  write(*parsed, named(schema), out);
  return std::move(out.text);
}

std::optional<std::string> Redactor::body(std::string_view schema, std::string_view text,
                                          Texts& removed) const {
  return redacted(schema, text, {{}, removed});
}

std::optional<std::string> Redactor::response_body(std::string_view schema, std::string_view text,
                                                   Texts removed) const {
  std::ranges::sort(removed, std::greater<>{}, &std::string::size);
  return redacted(schema, text, {{}, removed, true});
}

std::string Redactor::value(std::string_view schema, const std::string& text) const {
  const Candidates schemas = named(schema);
  const bool shows = !is_marked(schemas) && std::ranges::any_of(schemas, [&](const Json* one) {
    const bool numeric = declares(*one, "number") || declares(*one, "integer");
    const bool flag = declares(*one, "boolean") && (text == "true" || text == "false");
    return flag || (numeric && is_number(text)) || may_show(text, *one);
  });
  return shows ? text : "[redacted]";
}

}  // namespace coffer::api
