// Transaction records: the source of truth for a payment's state.
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> transactions_routes();

}  // namespace coffer::api
