// POST /v1/auth/token in all its accepted forms (docs/contract.md#client-credentials).
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> auth_routes();

}  // namespace coffer::api
