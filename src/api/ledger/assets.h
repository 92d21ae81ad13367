// Routes of assets.
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

/// GET /v1/assets, which the Connect group also serves at another path.
Result<http::Response> list_assets(const Services& services, const Call& call);

}  // namespace coffer::api
