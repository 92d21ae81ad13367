// Streams events to a listener on the control socket.
#include "app/app.h"
#include "cli/choice.h"
#include "cli/output/follow.h"
#include "cli/webhooks/event_line.h"
#include "cli/webhooks/events.h"
#include "flows/webhooks/event_body.h"
#include "store/webhooks/events.h"

namespace coffer::cli {
namespace {

constexpr int kEventsPerLook = 64;
// An index look-up takes microseconds, so the poll is cheap and events arrive without a visible
// delay.
constexpr std::int64_t kLookEveryMs = 50;

struct Following {
  Tenant tenant;
  EventTypeSet types;
  std::int64_t after = 0;
};

Result<Following> begin(Session& session, const Arguments& arguments) {
  Following out;
  COFFER_TRY(out.types, event_types_argument(arguments, "events"));
  return session.app.flows().read([&](store::Connection& db) -> Result<Following> {
    COFFER_TRY(const auto chosen, chosen_tenant(db, arguments, environment_argument(arguments)));
    out.tenant = chosen.tenant;
    COFFER_TRY(const auto after, optional_number<std::int64_t>(arguments, "after", 0));
    out.after = after ? *after : store::last_sequence(db, out.tenant);
    return out;
  });
}

std::string text_of(const store::EventRow& event, const std::string& body, bool json) {
  if (json) {
    return to_json({{"sequence", event.sequence},
                    {"id", event.id},
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
  return session.app.flows().read([&](store::Connection& db) {
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

}  // namespace

Result<CommandResult> follow_events(Session& session, const Arguments& arguments) {
  std::optional<Following> following;
  return follow(session, "events", kLookEveryMs, [&]() -> Result<NewLines> {
    if (!following) {
      COFFER_TRY(following, begin(session, arguments));
    }
    const std::int64_t before = following->after;
    COFFER_TRY(std::string lines, next_lines(session, *following, arguments.json));
    return NewLines{std::move(lines), following->after != before};
  });
}

}  // namespace coffer::cli
