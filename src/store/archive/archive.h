// The archive of a ledger: sealed objects from which its file can be restored at any moment
// (docs/operating.md#archive).
//
// Names, below the name of the ledger (EntryKeys::ledger): `log/N`, the segments of the log, whose
// numbers have no gaps; `snapshots/N-MS`, a copy of the file, with the number of the first segment
// after it and its time; `parts/N-MS/PART`, its bytes; `heads/MS`, signed checkpoints.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/files/object_store.h"
#include "base/platform/exit_code.h"
#include "base/random.h"
#include "base/strong.h"
#include "store/replication/entry.h"

namespace coffer::store {

/// An object of the archive is missing or damaged: commands exit with 3.
inline Problem not_intact(Slug slug, std::string detail) {
  return Problem(slug, std::move(detail)).exits_with(exit_code::kFault);
}

/// Every object is sealed for its name. For one thread at a time. Problems are for the operator and
/// name the object: `not-found` if it is missing, `validation-failed` if it is damaged or sealed
/// with another master key.
class Archive {
 public:
  /// `log_root` of EntryKeys, and another root, are derived from the master key. `random` must
  /// outlive the archive.
  Archive(std::unique_ptr<ObjectStore> objects, const Secret& log_root, const Secret& root,
          Random& random);
  const EntryKeys& keys() const { return keys_; }

  Result<PutResult> put(const std::string& name, std::string_view content);
  Result<std::string> get(const std::string& name);
  Result<void> remove(const std::string& name) { return objects_->remove(prefix_ + name); }
  using Take = std::function<Result<bool>(const std::string& name)>;
  /// Calls `take` with the names that begin with `prefix`, in order, after the name `after`, until
  /// it returns false. What has a name that no archive gives is left out.
  Result<void> list(const std::string& prefix, const std::string& after, const Take& take);
  /// `not-found` if it is empty; `validation-failed` if there are only objects of other ledgers or
  /// of another master key.
  Result<void> check_key();
  /// Of all objects that were put.
  std::int64_t bytes_put() const { return bytes_put_; }

  /// A short value that only this archive's key can have made for this purpose.
  std::string sealed(const std::string& purpose, std::string_view content) const;
  std::optional<std::string> opened(const std::string& purpose, std::string_view sealed) const;

 private:
  Result<void> walk(const std::string& prefix, std::string after, const Take& take);

  const std::unique_ptr<ObjectStore> objects_;
  const EntryKeys keys_;
  const KeyedDigest seal_;
  const std::string prefix_;
  Random& random_;
  std::int64_t bytes_put_ = 0;
};

}  // namespace coffer::store
