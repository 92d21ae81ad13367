// Connectors: which providers there are, by corridor.
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> connectors_routes();

}  // namespace coffer::api
