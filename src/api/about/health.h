// Liveness and readiness.
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> health_routes();

}  // namespace coffer::api
