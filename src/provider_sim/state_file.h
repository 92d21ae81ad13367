// The append-only file of the simulated provider, with one line of JSON per event.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace coffer::provider_sim {

using Json = nlohmann::ordered_json;

/// Survives kill -9: a line is on disk before any response, and an incomplete line is removed when
/// the file is opened again. For one process at a time. Not thread-safe.
class StateFile {
 public:
  StateFile() = default;
  ~StateFile();
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;

  /// Opens or creates the file and returns its content, oldest first. `unexpected-error` if the
  /// file is not available or has another format.
  Result<std::vector<Json>> open(const std::string& path);
  /// Does nothing without an open file. Throws InternalError if writing fails; the event then
  /// counts as not having happened.
  void append(const Json& event);

 private:
  int fd_ = -1;
};

}  // namespace coffer::provider_sim
