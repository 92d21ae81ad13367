// The signing secret of `coffer listen`, used instead of a webhook's secret.
#pragma once

#include "base/strong.h"
#include "flows/context.h"

namespace coffer::flows {

/// The tenant's secret as `whsec_...`. It is created on first use, sealed in the file and never
/// changes, so that a developer configures it in a consumer once.
Result<Secret> listener_secret(const Context& context, const Tenant& tenant);

}  // namespace coffer::flows
