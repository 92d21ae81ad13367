// Reading a whole file in pieces.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace coffer {

/// A file that stays readable while it is open, even if its name is removed. A copy has its own
/// descriptor.
class ReadableFile {
 public:
  /// Problems contain the path and are for the operator. `not-found` if the file does not exist;
  /// `forbidden` for a folder, a device or a pipe, which has no end.
  static Result<ReadableFile> open(const std::string& path);
  ReadableFile(const ReadableFile& other);  // without a free descriptor, reading the copy fails
  ReadableFile(ReadableFile&& other) noexcept;
  ReadableFile& operator=(ReadableFile&&) = delete;
  ~ReadableFile();

  /// Calls `take` with the content in pieces, in order. Stops at the first Problem of `take` and
  /// returns it. Returns the number of bytes.
  Result<std::int64_t> read(const std::function<Result<void>(std::string_view)>& take) const;

 private:
  ReadableFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_;
};

/// Calls `take` with each line of a regular file, without its end and without what exceeds 64 KiB.
/// Stops as ReadableFile::read(). `validation-failed` if the file is longer than `bytes_max`.
Result<void> read_lines(const std::string& path, std::size_t bytes_max,
                        const std::function<Result<void>(std::string_view)>& take);
/// The content of a regular file. `validation-failed` if it is longer than `bytes_max`.
Result<std::string> read_small_file(const std::string& path, std::size_t bytes_max);

}  // namespace coffer
