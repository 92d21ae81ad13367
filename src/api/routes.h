// The route table of the whole API.
#pragma once

#include <vector>

#include "api/pipeline/route.h"

namespace coffer::api {

/// All routes, in the order of the document. Router, pipeline, OpenAPI document and generated tests
/// read this table; there is no second list.
const std::vector<Route>& routes();

/// The row of an operation. Throws InternalError for an unknown operation.
const Route& find_operation(std::string_view operation);

}  // namespace coffer::api
