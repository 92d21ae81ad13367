// Where an archive keeps its objects: a folder or a store with S3's interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace coffer {

struct StoredObject {
  std::string name;
  std::int64_t bytes = 0;
};

enum class PutResult { stored, exists };

/// Names as in base/text/object_name.h, and none is the folder of another. Objects never change:
/// they are stored once and removed. For one thread at a time; several stores may be open at one
/// place. Calls block, for a remote store up to its timeout. Problems are for the operator.
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  /// Stores durably, unless there is an object of this name: of two writers, one gets `exists`. An
  /// object that already has these very bytes is `stored`, so that a call whose result is unknown
  /// can be repeated.
  virtual Result<PutResult> put(const std::string& name, std::string_view bytes) = 0;
  /// `not-found`; `validation-failed` for an object of more than `bytes_max`.
  virtual Result<std::string> get(const std::string& name, std::size_t bytes_max) = 0;
  /// The objects whose names begin with `prefix`, in byte order, after the name `after` (empty:
  /// from the first); at most 1,000, and an empty list at the end.
  virtual Result<std::vector<StoredObject>> list(const std::string& prefix,
                                                 const std::string& after) = 0;
  /// Without effect if it does not exist.
  virtual Result<void> remove(const std::string& name) = 0;
};

}  // namespace coffer
