#include "flows/operations/archive_store.h"

#include <utility>

#include "store/archive/folder_store.h"

namespace coffer::flows {
namespace {

class BucketStore final : public store::ObjectStore {
 public:
  explicit BucketStore(outbound::S3Bucket bucket) : bucket_(std::move(bucket)) {}

  Result<store::PutResult> put(const std::string& name, std::string_view bytes) override {
    COFFER_TRY(const bool is_stored, bucket_.put(name, bytes));
    return is_stored ? store::PutResult::stored : store::PutResult::exists;
  }
  Result<std::string> get(const std::string& name, std::size_t bytes_max) override {
    return bucket_.get(name, bytes_max);
  }
  Result<std::vector<store::StoredObject>> list(const std::string& prefix,
                                                const std::string& after) override {
    COFFER_TRY(auto found, bucket_.list(prefix, after));
    std::vector<store::StoredObject> out;
    for (auto& [key, bytes] : found) out.push_back({std::move(key), bytes});
    return out;
  }
  Result<void> remove(const std::string& name) override { return bucket_.remove(name); }

 private:
  outbound::S3Bucket bucket_;
};

}  // namespace

Result<std::unique_ptr<store::ObjectStore>> open_object_store(
    const outbound::ArchiveSettings& settings, const outbound::ArchiveWire& wire) {
  COFFER_TRY(const auto place, outbound::parse_archive_url(settings.url));
  std::unique_ptr<store::ObjectStore> out;
  if (place.bucket.empty()) {
    out = std::make_unique<store::FolderStore>(place.folder);
  } else if (settings.keys.access_key.empty() || settings.keys.secret_key.empty()) {
    return unexpected(Slug::validation_failed,
                      "The archive " + settings.url +
                          " needs a key. Set archive_access_key and archive_secret_key");
  } else {
    out = std::make_unique<BucketStore>(outbound::S3Bucket(settings, place, wire));
  }
  return out;
}

}  // namespace coffer::flows
