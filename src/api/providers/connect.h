// The Connect group's reads: health of the platform, countries, assets.
#pragma once

#include "api/pipeline/route.h"

namespace coffer::api {

std::vector<Route> connect_routes();
/// The group's ways to collect.
std::vector<Route> connect_onramp_routes();

}  // namespace coffer::api
