// Files that are there whole or not at all: written beside their name, synchronised, then named.
//
// Problems name paths and are for the operator: `storage-full` the disk, `forbidden` permissions,
// `conflict` the name is taken, `overloaded` somebody else is writing it, `unexpected-error` the
// rest.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace coffer {

/// `PATH.partial` until it is published as PATH; removed with the object otherwise. What a killed
/// process left under that name is emptied and used again.
class PartialFile {
 public:
  /// Mode 0600. `conflict` when PATH is there already: nothing is ever overwritten.
  static Result<PartialFile> create(const std::string& path);
  PartialFile(PartialFile&& other) noexcept;
  PartialFile& operator=(PartialFile&&) = delete;
  ~PartialFile();

  /// Where to write, for who opens it by name.
  const std::string& path() const { return partial_; }
  Result<void> append(std::string_view bytes);
  /// What was written so far is on the disk, whoever wrote it. Called now and then it keeps a long
  /// write from piling up what the next commit of the database would have to wait for.
  Result<void> flush();
  /// Synchronises the content, gives it its name and synchronises the folder.
  Result<void> publish();

 private:
  PartialFile(std::string path, std::string partial, int fd);

  std::string path_;
  std::string partial_;
  int fd_;
};

/// Replaces or makes a small file of mode 0600, durably.
Result<void> write_durably(const std::string& path, std::string_view text);
/// Lower-case hex. `progress` gets the bytes that were read, now and then, and may throw to stop.
Result<std::string> sha256_of_file(const std::string& path,
                                   const std::function<void(std::int64_t)>& progress = {});
/// Copies the bytes of a file to the end of another, and gives their number. `progress` as above.
Result<std::int64_t> copy_into(PartialFile& to, const std::string& from,
                               const std::function<void(std::int64_t)>& progress);

}  // namespace coffer
