// The parts of the OpenAPI document that come from domain tables: vocabularies
// (domain/tables/terms.h) and text members of nouns (domain/tables/text_field.h).
#pragma once

#include "api/json/json.h"

namespace coffer::api {

/// Replaces each `{"terms": NAME}` in an `enum` with the codes of that vocabulary. In a `const`,
/// replaces it with the single code, or changes the `const` to an `enum` if there are several.
void add_terms(Json& schemas);

/// Adds the properties of every noun with a table to its schemas, and the required ones to
/// `required`. Properties that a schema already defines are not changed.
void add_text_properties(Json& schemas);

}  // namespace coffer::api
