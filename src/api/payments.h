// Own-wallet payments: submissions that answer 202 once they are durable.
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> payments_routes();

}  // namespace coffer::api
