// The route table of the whole API.
#pragma once

#include <vector>

#include "api/pipeline/route.h"

namespace coffer::api {

/// Every route, in the order of the document. Router, pipeline, OpenAPI document and the generated
/// tests read it; there is no second list.
const std::vector<Route>& routes();

/// The row of an operation. Throws InternalError when the table has no such row.
const Route& find_operation(std::string_view operation);

}  // namespace coffer::api
