#include "cli/output/follow.h"

#include <atomic>

#include "app/app.h"

namespace coffer::cli {
namespace {

constexpr int kFollowersMax = 4;  // so that other commands have threads of the control socket
constexpr std::int64_t kSignOfLifeMs = 1'000;

/// Counts one follower in the process, up to kFollowersMax.
class Place {
 public:
  Place() : had_(taken_.fetch_add(1) < kFollowersMax) {}
  ~Place() { taken_.fetch_sub(1); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  bool had() const { return had_; }

 private:
  static inline std::atomic<int> taken_{0};
  const bool had_;
};

/// A wait that ends early if the server stops.
class Pause {
 public:
  void end() {
    const Lock lock(mutex_);
    over_ = true;
    ended_.notify_all();
  }
  /// Returns false after end().
  bool wait(std::int64_t ms) {
    const Lock lock(mutex_);
    if (!over_) ended_.wait_for_ms(mutex_, ms);
    return !over_;
  }

 private:
  Mutex mutex_;
  Condition ended_;
  bool over_ COFFER_GUARDED_BY(mutex_) = false;
};

Result<void> print_until_stopped(Session& session, std::int64_t every_ms, Pause& pause,
                                 const std::function<Result<NewLines>()>& look) {
  std::int64_t silent_ms = 0;
  for (;;) {
    COFFER_TRY(const NewLines found, look());
    silent_ms = found.text.empty() ? silent_ms + every_ms : 0;
    session.console.out << found.text;
    if (!found.text.empty() || silent_ms >= kSignOfLifeMs) {
      // Without lines, the flush only detects whether the client still exists.
      session.console.out << std::flush;
      silent_ms = 0;
    }
    if (!session.console.out || session.interruption.requested()) return {};
    if (!found.again && !pause.wait(every_ms)) return {};
  }
}

}  // namespace

Result<CommandResult> follow(Session& session, const std::string& what, std::int64_t every_ms,
                             const std::function<Result<NewLines>()>& look) {
  if (session.app.listeners().port() == 0) {
    return unexpected(Slug::provider_unavailable,
                      "No server runs on this file, so there are no "
                      "new " +
                          what + ". Start coffer demo or coffer serve.");
  }
  const Place place;
  if (!place.had()) {
    return unexpected(Slug::overloaded,
                      "Too many commands are already following this server. Stop one of them.");
  }
  Pause pause;
  Result<void> done;
  session.interruption.during([&] { pause.end(); },
                              [&] { done = print_until_stopped(session, every_ms, pause, look); });
  if (!done) return unexpected(std::move(done).error());
  return unexpected(Slug::provider_unavailable, "The server is stopping.");
}

}  // namespace coffer::cli
