// What the OpenAPI document takes from tables of the domain: vocabularies (domain/tables/terms.h)
// and text members of nouns (domain/tables/text_field.h).
#pragma once

#include "api/json.h"

namespace coffer::api {

/// Replaces every `{"terms": NAME}` in an `enum` by the codes of that vocabulary. As a `const` it
/// becomes the one code, or an `enum` once there are several.
void add_terms(Json& schemas);

/// Adds the properties of every noun with a table to its schemas, and the required ones to
/// `required`. A property that a schema has already, because it differs there, stays as it is.
void add_text_properties(Json& schemas);

}  // namespace coffer::api
