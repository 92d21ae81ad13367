// The asset registry.
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> assets_routes();

}  // namespace coffer::api
