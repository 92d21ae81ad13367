// The text members of a noun (domain/tables/text_field.h), read from a request and written to JSON.
#pragma once

#include "api/json.h"
#include "api/pipeline/fields.h"
#include "domain/tables/text_field.h"

namespace coffer::api {

// As long as any text may be: how long each member is, is domain's to say.
inline constexpr std::size_t kAnyText = 4096;

/// Only the JSON type: which members are needed and what they must look like is domain's.
inline void read_text(Fields& fields, std::string_view name, TextMembers& out) {
  if (fields.errors().names(fields.path(name))) return;
  if (auto value = fields.text(name, optional, kAnyText)) out.emplace(name, *std::move(value));
}

template <class Noun>
void read_texts(Fields& fields, TextMembers& out) {
  for (const TextFact& fact : TextFields<Noun>::rows) read_text(fields, fact.name, out);
}

/// The members of an object inside the object; empty when it is not there.
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
