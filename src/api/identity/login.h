// Routes: the challenge login, sign-in, refresh and the OTP login (contract "Auth").
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> login_routes();

}  // namespace coffer::api
