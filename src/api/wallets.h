// Wallets: list, filters, create, read, update, trustlines.
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> wallets_routes();

}  // namespace coffer::api
