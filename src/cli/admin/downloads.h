// Files that commands produced for the admin page, kept until the browser fetches them. A browser
// can stream a file to disk only from a URL, but a command that changes or reveals data requires a
// POST. So the page first runs the command and then opens the URL of the download.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <utility>

#include "base/digest.h"
#include "base/mutex.h"
#include "base/random.h"
#include "cli/command_result.h"

namespace coffer::cli {

/// Thread-safe. Times are monotonic milliseconds.
class Downloads {
 public:
  static constexpr std::int64_t kLifetimeMs = 60'000;
  /// Beyond this number, add() drops the oldest file.
  static constexpr std::size_t kMax = 16;

  /// Returns the name under which this session, and no other, can fetch the file once.
  std::string add(Random& random, const std::string& session, ProducedFile file,
                  std::int64_t now_ms) {
    constexpr std::size_t kNameBytes = 16;
    const Lock lock(mutex_);
    std::erase_if(waiting_,
                  [&](const Waiting& each) { return now_ms - each.since_ms > kLifetimeMs; });
    if (waiting_.size() == kMax) waiting_.pop_front();
    waiting_.push_back({to_base64url(random.bytes(kNameBytes)), session, now_ms, std::move(file)});
    return waiting_.back().name;
  }
  /// nullopt if it does not exist, has expired, or belongs to another session.
  std::optional<ProducedFile> take(const std::string& name, const std::string& session,
                                   std::int64_t now_ms) {
    const Lock lock(mutex_);
    const auto found = std::ranges::find_if(waiting_, [&](const Waiting& each) {
      return each.name == name && each.session == session;
    });
    if (found == waiting_.end()) return std::nullopt;
    ProducedFile file = std::move(found->file);
    const bool expired = now_ms - found->since_ms > kLifetimeMs;
    waiting_.erase(found);
    if (expired) return std::nullopt;
    return file;
  }

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
