// Quotes: prices for cash-out and collection.
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> quotes_routes();

}  // namespace coffer::api
