// Files that exist completely or not at all: they are written under a temporary name, synchronised,
// and then renamed.
//
// Problems contain paths and are for the operator. `storage-full`: the disk is full; `forbidden`:
// missing permission; `conflict`: the name exists already; `overloaded`: another process is writing
// the file; `unexpected-error`: any other error.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace coffer {

/// The ending of temporary names. Only coffer uses it, so that it may replace a file with such a
/// name. Settings and arguments with this ending are rejected.
inline constexpr std::string_view kPartialEnding = ".coffer.partial";

/// The file is named `PATH.coffer.partial` until publish() renames it to PATH. The destructor
/// removes an unpublished file. A partial file left by a killed process is truncated and reused.
class PartialFile {
 public:
  /// Mode 0600. `conflict` if PATH exists: no file is ever overwritten. Calls `left` with the path
  /// of the partial file that a killed process left, before it is truncated.
  static Result<PartialFile> create(const std::string& path,
                                    const std::function<void(const std::string&)>& left = {});
  PartialFile(PartialFile&& other) noexcept;
  PartialFile& operator=(PartialFile&&) = delete;
  ~PartialFile();

  /// The path to write to, for callers that open the file by name.
  const std::string& path() const { return partial_; }
  Result<void> append(std::string_view bytes);
  /// Synchronises the content written so far, by any writer. Called regularly during a long write,
  /// it limits how much data the next commit of the database has to wait for.
  Result<void> flush();
  /// Synchronises the content, renames the file and synchronises the folder. `conflict` if PATH, or
  /// the other path on the same file system, exists by now.
  Result<void> publish() { return publish(path_); }
  Result<void> publish(const std::string& path);

 private:
  PartialFile(std::string path, std::string partial, int fd);
  Result<bool> lock();

  std::string path_;
  std::string partial_;
  int fd_;
};

/// The paths whose partial files are in the folder: of files that are being written, or of killed
/// processes. PartialFile::create() takes over the latter, and its destructor removes them.
std::vector<std::string> partials_in(const std::string& folder);
/// `conflict` if a file, or a link to any place, has this name.
Result<void> check_unused(const std::string& path);
/// Durably creates or replaces a small file with mode 0600.
Result<void> write_durably(const std::string& path, std::string_view text);
/// The digest in lower-case hex. Calls `progress` at intervals with the number of bytes read;
/// `progress` may throw to stop.
Result<std::string> sha256_of_file(const std::string& path,
                                   const std::function<void(std::int64_t)>& progress = {});
/// Appends the bytes of a file to another file and returns their number. `progress` as above.
Result<std::int64_t> copy_into(PartialFile& to, const std::string& from,
                               const std::function<void(std::int64_t)>& progress);

}  // namespace coffer
