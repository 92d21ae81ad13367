// The store that the settings of an archive name.
#pragma once

#include <memory>

#include "base/random.h"
#include "base/result.h"
#include "outbound/archive/s3_bucket.h"
#include "store/archive/object_store.h"

namespace coffer::flows {

/// Neither asks nor changes the place. `validation-failed` for settings that name none. What `wire`
/// refers to must outlive the store.
Result<std::unique_ptr<store::ObjectStore>> open_object_store(
    const outbound::ArchiveSettings& settings, const outbound::ArchiveWire& wire);

/// Whether the store refuses to replace an object, which it must before anything is archived: it
/// would otherwise let two machines destroy each other's archive. Stores an object `probe`, which
/// stays. `conflict` if it does not refuse; other Problems if it cannot be written to.
Result<void> check_keeps_objects(store::ObjectStore& objects, Random& random);

}  // namespace coffer::flows
