// Routes of beneficiaries (contract "Beneficiaries").
#pragma once

#include <vector>

#include "api/pipeline/route.h"

namespace coffer::api {
std::vector<Route> beneficiaries_routes();
}  // namespace coffer::api
