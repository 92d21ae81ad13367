// The route table of the whole API.
#pragma once

#include <vector>

#include "api/pipeline/route.h"

namespace coffer::api {

/// Every route, in the order of the document. Router, pipeline, OpenAPI document and the generated
/// tests read it; there is no second list.
const std::vector<Route>& routes();

}  // namespace coffer::api
