// What payment providers call (docs/provider-protocol.md).
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> callbacks_routes();

}  // namespace coffer::api
