// The OpenAPI 3.1 document, assembled from the route table and web/openapi.
#pragma once

#include <string>
#include <string_view>

#include "api/json.h"

namespace coffer::api {

/// The document, as served at GET /v1/openapi.json and printed by `coffer openapi`.
std::string openapi_document();
/// Its components/schemas.
Json openapi_schemas();
/// The name of the schema of a `{name}` segment.
std::string_view path_schema(std::string_view name);

}  // namespace coffer::api
