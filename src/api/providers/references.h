// On-ramp references (docs/contract.md#references).
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> references_routes();

}  // namespace coffer::api
