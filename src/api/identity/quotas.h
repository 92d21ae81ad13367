// What an association uses of its quotas (docs/contract.md#quotas).
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> quotas_routes();

}  // namespace coffer::api
