// Routes of beneficiaries (docs/contract.md#beneficiaries).
#pragma once

#include <vector>

#include "api/pipeline/route.h"

namespace coffer::api {
std::vector<Route> beneficiaries_routes();
}  // namespace coffer::api
