// POST /v1/auth/token: the client-credentials token in all its accepted forms (decisions section 3).
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> auth_routes();

}  // namespace coffer::api
