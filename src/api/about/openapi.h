// The OpenAPI 3.1 document, assembled from the route table and web/openapi.
#pragma once

#include <string>
#include <string_view>

#include "api/json/json.h"
#include "api/json/redaction.h"

namespace coffer::api {

/// The document, as served at GET /v1/openapi.json and printed by `coffer openapi`.
std::string openapi_document();
/// Its components/schemas.
Json openapi_schemas();
/// Removes what the document's schemas mark as sensitive. The first call reads the document, which
/// takes milliseconds.
const Redactor& document_redactor();

}  // namespace coffer::api
