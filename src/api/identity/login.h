// Routes: challenge login, sign-in, refresh and OTP login (docs/contract.md#authentication).
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> login_routes();

}  // namespace coffer::api
