#include "flows/operations/archive_store.h"

#include "store/archive/folder_store.h"

namespace coffer::flows {

Result<std::unique_ptr<ObjectStore>> open_object_store(const outbound::ArchiveSettings& settings,
                                                       const outbound::ArchiveWire& wire) {
  COFFER_TRY(const auto place, outbound::parse_archive_url(settings.url));
  std::unique_ptr<ObjectStore> out;
  if (place.bucket.empty()) {
    out = std::make_unique<store::FolderStore>(place.folder);
  } else if (settings.keys.access_key.empty() || settings.keys.secret_key.empty()) {
    return unexpected(Slug::validation_failed,
                      "The archive " + settings.url +
                          " needs a key. Set archive_access_key and archive_secret_key");
  } else {
    out = std::make_unique<outbound::S3Bucket>(settings, place, wire);
  }
  return out;
}

}  // namespace coffer::flows
