// The text members of a noun (domain/tables/text_field.h), read from requests and written to JSON.
#pragma once

#include "api/json/fields.h"
#include "api/json/json.h"
#include "domain/tables/text_field.h"

namespace coffer::api {

// The maximum length of any text. The domain determines the maximum of each member.
inline constexpr std::size_t kAnyText = 4096;

/// Checks only the JSON type. The domain determines required members and their format.
inline void read_text(Fields& fields, std::string_view name, TextMembers& out) {
  if (fields.errors().names(fields.path(name))) return;
  if (auto value = fields.text(name, optional, kAnyText)) out.emplace(name, *std::move(value));
}

template <class Noun>
void read_texts(Fields& fields, TextMembers& out) {
  for (const TextFact& fact : TextFields<Noun>::rows) read_text(fields, fact.name, out);
}

/// The members of a nested object; empty if it is absent.
template <class... Nouns>
std::optional<TextMembers> read_inner_texts(Fields& fields, const char* name) {
  if (fields.object(name, optional) == nullptr) return std::nullopt;
  Fields inner(*fields.find(name), fields.errors(), fields.path(name) + ".");
  TextMembers out;
  (read_texts<Nouns>(inner, out), ...);
  return out;
}

template <class Noun>
void put_texts(Json& object, const Noun& noun) {
  each_text(noun, [&](const TextFact& fact, const std::string& value) {
    object[std::string(fact.name)] = value;
  });
}

template <class Noun>
Json texts_json(const Noun& noun) {
  Json out = Json::object();
  put_texts(out, noun);
  return out;
}

}  // namespace coffer::api
