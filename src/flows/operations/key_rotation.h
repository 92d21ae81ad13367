// Rotation of the master key: seals all sealed values again in one commit.
#pragma once

#include <cstdint>

#include "auth/master_key.h"
#include "flows/context.h"

namespace coffer::flows {

/// Returns the number of values sealed again. The fingerprint of the key changes in the same
/// commit, so the file opens with exactly one of the two keys at any time. Afterwards, the context
/// still has the old key, so the process must end. `conflict` if `next` is the current key.
Result<std::int64_t> rotate_master_key(const Context& context, const auth::MasterKey& next);

}  // namespace coffer::flows
