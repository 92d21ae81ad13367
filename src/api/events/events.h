// Events for pollers, and sample events for whoever tries a receiver in the sandbox.
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> events_routes();

}  // namespace coffer::api
