// What only a sandbox can do: decide a review, make money.
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> sandbox_routes();

}  // namespace coffer::api
