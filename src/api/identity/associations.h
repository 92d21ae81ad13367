// The business routes of associations; they answer with the response envelope.
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> associations_routes();

}  // namespace coffer::api
