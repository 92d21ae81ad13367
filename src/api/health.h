// Liveness, readiness, and the pages the appliance serves about itself.
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> health_routes();

}  // namespace coffer::api
