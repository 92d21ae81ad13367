// Another master key for a file: everything sealed is sealed anew in one commit.
#pragma once

#include <cstdint>

#include "auth/master_key.h"
#include "flows/context.h"

namespace coffer::flows {

/// Returns the number of values that were sealed anew. The fingerprint of the key changes in the
/// same commit, so that at any moment the file opens with exactly one of the two. Afterwards the
/// context still has the old key: the process ends. `conflict` when it is the key that is in use.
Result<std::int64_t> rotate_master_key(const Context& context, const auth::MasterKey& next);

}  // namespace coffer::flows
