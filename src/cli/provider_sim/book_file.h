// The append-only file of the simulated provider: one line of JSON per thing that happened.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace coffer::cli::provider_sim {

using Json = nlohmann::ordered_json;

/// Survives kill -9: a line is on disk before anybody is told, and a line that was cut short is
/// dropped when the file is opened again. One process at a time. Not thread safe.
class BookFile {
 public:
  BookFile() = default;
  ~BookFile();
  BookFile(const BookFile&) = delete;
  BookFile& operator=(const BookFile&) = delete;

  /// Opens or creates the file and returns its content, oldest first. `unexpected-error` if the
  /// file is not available or has another format.
  Result<std::vector<Json>> open(const std::string& path);
  /// Does nothing without an open file. Throws InternalError when the disk refuses: what is not
  /// written did not happen.
  void append(const Json& event);

 private:
  int fd_ = -1;
};

}  // namespace coffer::cli::provider_sim
