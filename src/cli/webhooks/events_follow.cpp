// Sends events to a listener as they happen.
#include <atomic>

#include "app/app.h"
#include "cli/webhooks/choice.h"
#include "cli/webhooks/event_line.h"
#include "cli/webhooks/events.h"
#include "flows/webhooks/event_body.h"
#include "store/webhooks/events.h"

namespace coffer::cli {
namespace {

constexpr int kFollowersMax = 4;  // leaves threads of the control socket for other commands
constexpr int kEventsPerLook = 64;
// An index look-up takes microseconds, so the poll is cheap and events arrive without a visible
// delay.
constexpr std::int64_t kLookEveryMs = 50;
constexpr std::int64_t kSignOfLifeMs = 1'000;

/// One of a limited number of followers in the process.
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

/// A wait that a stop of the server ends.
class Pause {
 public:
  void end() {
    const Lock lock(mutex_);
    over_ = true;
    ended_.notify_all();
  }
  /// Returns false once it has ended permanently.
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

struct Following {
  Tenant tenant;
  EventTypeSet types;
  std::int64_t after = 0;
};

Result<Following> begin(Session& session, const Arguments& arguments) {
  Following out;
  COFFER_TRY(out.types, event_types_argument(arguments, "events"));
  return store::with_reader(
      session.app.database(), [&](store::Connection& db) -> Result<Following> {
        COFFER_TRY(const auto chosen,
                   chosen_tenant(db, arguments, environment_argument(arguments)));
        out.tenant = chosen.tenant;
        COFFER_TRY(const auto after, sequence_argument(arguments, "after"));
        out.after = after ? *after : store::last_sequence(db, out.tenant);
        return out;
      });
}

std::string text_of(const store::EventRow& event, const std::string& body, bool json) {
  if (json) {
    return to_json({{"sequence", event.sequence},
                    {"id", event.id.to_string()},
                    {"type", name(event.type)},
                    {"body", body}},
                   true);
  }
  const auto line = event_line(body);
  COFFER_CHECK(line.has_value());
  return time_of_day(line->at) + "  " + line->type + "  " + line->id +
         (line->amount.empty() ? "" : "  " + line->amount) + (line->test ? "  test" : "");
}

/// New events as lines; advances `following`. Empty if there are none.
Result<std::string> next_lines(Session& session, Following& following, bool json) {
  return store::with_reader(
      session.app.database(), [&](store::Connection& db) -> Result<std::string> {
        std::string out;
        flows::EventBodies bodies(session.app.flows(), db, following.tenant);
        for (const auto& event :
             store::events_after(db, following.tenant, following.after, kEventsPerLook)) {
          following.after = event.sequence;
          const bool wanted = following.types.contains(event.type);
          if (wanted) out += text_of(event, bodies.body_of(event), json) + "\n";
        }
        return out;
      });
}

Result<void> follow(Session& session, Following& following, bool json, Pause& pause) {
  std::int64_t silent_ms = 0;
  for (;;) {
    const std::int64_t before = following.after;
    COFFER_TRY(const std::string lines, next_lines(session, following, json));
    silent_ms = lines.empty() ? silent_ms + kLookEveryMs : 0;
    session.console.out << lines;
    if (!lines.empty() || silent_ms >= kSignOfLifeMs) {
      // Without lines, the flush only detects whether the listener still exists.
      session.console.out << std::flush;
      silent_ms = 0;
    }
    if (!session.console.out || session.interruption.requested()) return {};
    if (following.after == before && !pause.wait(kLookEveryMs)) return {};
  }
}

}  // namespace

Result<CommandResult> follow_events(Session& session, const Arguments& arguments) {
  if (session.app.port() == 0) {
    return unexpected(Slug::provider_unavailable,
                      "No server runs on this file, so there are no new events. Start coffer demo "
                      "or coffer serve.");
  }
  const Place place;
  if (!place.had()) {
    return unexpected(Slug::overloaded,
                      "Too many commands follow the events already. Stop one of them.");
  }
  COFFER_TRY(Following following, begin(session, arguments));
  Pause pause;
  Result<void> done;
  session.interruption.during([&] { pause.end(); },
                              [&] { done = follow(session, following, arguments.json, pause); });
  if (!done) return unexpected(std::move(done).error());
  return unexpected(Slug::provider_unavailable, "The server is stopping.");
}

}  // namespace coffer::cli
