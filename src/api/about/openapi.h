// The OpenAPI 3.1 document, assembled from the route table and web/openapi.
#pragma once

#include <string>

#include "api/json.h"

namespace coffer::api {

/// The document, as served at GET /v1/openapi.json and printed by `coffer openapi`.
std::string openapi_document();
/// Its components/schemas.
Json openapi_schemas();

}  // namespace coffer::api
