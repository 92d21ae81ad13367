// Files that commands have produced for the admin page, until the browser fetches them. A browser
// saves a file of any size only from an address, and a command that changes or reveals something
// takes a POST, so the page runs the command first and then follows the address.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/random.h"
#include "cli/command_result.h"

namespace coffer::cli {

/// Thread-safe. Times are monotonic milliseconds.
class Downloads {
 public:
  static constexpr std::int64_t kLifetimeMs = 60'000;
  /// If more are waiting, the oldest is dropped.
  static constexpr std::size_t kMax = 16;

  /// Returns the name under which only this session can fetch the file, and once.
  std::string add(Random& random, const std::string& session, ProducedFile file,
                  std::int64_t now_ms);
  /// nullopt if it does not exist, has expired, or belongs to another session.
  std::optional<ProducedFile> take(const std::string& name, const std::string& session,
                                   std::int64_t now_ms);

 private:
  struct Waiting {
    std::string name;
    std::string session;
    std::int64_t since_ms = 0;
    ProducedFile file;
  };

  Mutex mutex_;
  std::list<Waiting> waiting_ COFFER_GUARDED_BY(mutex_);  // oldest first
};

}  // namespace coffer::cli
