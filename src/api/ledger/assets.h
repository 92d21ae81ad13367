// The asset registry.
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

/// GET /v1/assets, which the Connect group serves under a name of its own.
Result<http::Response> list_assets(const Services& services, const Call& call);

}  // namespace coffer::api
