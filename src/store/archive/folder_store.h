// Objects as files of a folder: on another disk, or on a mounted file server.
#pragma once

#include "base/files/object_store.h"

namespace coffer::store {

/// The parts of a name but the last are folders, of mode 0700; files have 0600. A file gets its
/// name when its content is durable, and only if the name is free. Until then it has one of 16
/// names beside the objects, so that killed processes leave no more files than these.
class FolderStore final : public ObjectStore {
 public:
  /// `folder` is never created, so that nothing is written to the place of a disk that is not
  /// mounted.
  explicit FolderStore(std::string folder) : folder_(std::move(folder)) {}

  /// `overloaded` if other processes write 16 objects at this moment.
  Result<PutResult> put(const std::string& name, std::string_view bytes) override;
  Result<std::string> get(const std::string& name, std::size_t bytes_max) override;
  /// Reads the folders that can have names of the answer: what is listed often has a folder with
  /// few files, such as those of a day. `provider-unavailable` if the folder of the store does not
  /// exist, as for put().
  Result<std::vector<StoredObject>> list(const std::string& prefix,
                                         const std::string& after) override;
  Result<void> remove(const std::string& name) override;

 private:
  struct Listing;
  Unexpected no_folder() const;
  Result<std::string> path_of(const std::string& name) const;
  Result<void> walk(const std::string& at, Listing& out) const;

  const std::string folder_;
};

}  // namespace coffer::store
