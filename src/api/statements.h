// Statements with running balance, as JSON page or as a streamed export.
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> statements_routes();

}  // namespace coffer::api
