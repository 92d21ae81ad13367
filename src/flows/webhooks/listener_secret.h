// What `coffer listen` signs with in place of a registration's secret.
#pragma once

#include "base/strong.h"
#include "flows/context.h"

namespace coffer::flows {

/// The tenant's, as `whsec_...`: made when it is first asked for, sealed in the file, and the same
/// ever after, so that a consumer on the developer's machine is told of it once.
Result<Secret> listener_secret(const Context& context, const Tenant& tenant);

}  // namespace coffer::flows
