// The store that the settings of an archive name.
#pragma once

#include <memory>

#include "base/files/object_store.h"
#include "base/result.h"
#include "outbound/archive/s3_bucket.h"

namespace coffer::flows {

/// Neither asks nor changes the place. `validation-failed` for settings that name none. What `wire`
/// refers to must outlive the store.
Result<std::unique_ptr<ObjectStore>> open_object_store(const outbound::ArchiveSettings& settings,
                                                       const outbound::ArchiveWire& wire);

}  // namespace coffer::flows
