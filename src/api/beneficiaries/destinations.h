// Routes of payment destinations.
#pragma once

#include <vector>

#include "api/pipeline/route.h"

namespace coffer::api {
std::vector<Route> destinations_routes();
}  // namespace coffer::api
