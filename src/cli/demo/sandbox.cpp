// coffer sandbox: advances the clock of a demo, takes snapshots and returns to them.
#include <array>
#include <charconv>

#include "app/app.h"
#include "cli/command_groups.h"
#include "cli/demo/demo_snapshots.h"
#include "cli/progress.h"

namespace coffer::cli {
namespace {

constexpr std::int64_t kAheadMaxMs = 3'660 * kDayMs;

struct Unit {
  char letter;
  std::int64_t ms;
};
constexpr std::array<Unit, 4> kUnits = {
    {{'s', 1'000}, {'m', kMinuteMs}, {'h', kHourMs}, {'d', kDayMs}}};

/// `90s`, `15m`, `2h` or `3d`, up to 366 days.
Result<std::int64_t> duration_of(const std::string& text) {
  constexpr std::int64_t kMaxMs = 366 * kDayMs;
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  for (const Unit& unit : kUnits) {
    const bool fits = error == std::errc() && std::string_view(end) == std::string(1, unit.letter);
    if (fits && count >= 1 && count <= kMaxMs / unit.ms) return count * unit.ms;
  }
  return unexpected(Slug::malformed_request,
                    "Invalid DURATION \"" + text +
                        "\": expected a number followed by s, m, h or d, such as 2h, up to 366d.");
}

Record clock_record(App& app) {
  return {{"now", app.queue().now()}, {"advancedMs", app.queue().stats().clock_advanced_ms}};
}

Result<CommandResult> clock(Session& session, const Arguments&) {
  return CommandResult{.records = {clock_record(session.app)}};
}

Result<CommandResult> advance(Session& session, const Arguments& arguments) {
  COFFER_TRY(const std::int64_t ms, duration_of(arguments.text("DURATION")));
  store::CommitQueue& queue = session.app.queue();
  if (queue.stats().clock_advanced_ms > kAheadMaxMs - ms) {
    return unexpected(Slug::conflict,
                      "The clock cannot be more than 3,660 days ahead. Return to an earlier state "
                      "with coffer sandbox reset or coffer sandbox rewind.");
  }
  COFFER_TRY_VOID(queue.advance_clock(ms));
  return CommandResult{.records = {clock_record(session.app)}};
}

Result<CommandResult> snapshot(Session& session, const Arguments& arguments) {
  ProgressLine line(session.console, session.interruption);
  const std::string& name = arguments.text("NAME");
  COFFER_TRY(const auto made, take_demo_snapshot(session.app, name, line.shower()));
  return CommandResult{.records = {{{"name", name}, {"file", made.path}, {"bytes", made.bytes}}}};
}

Result<CommandResult> snapshots(Session& session, const Arguments&) {
  return list_of({}, demo_snapshots(session.app.database().path()), [](const DemoSnapshot& one) {
    return Record{{"name", one.name}, {"takenAt", one.taken_at}, {"bytes", one.bytes}};
  });
}

Result<CommandResult> rewind_to(Session& session, const std::string& name) {
  ProgressLine line(session.console, session.interruption);
  COFFER_TRY_VOID(prepare_rewind(session.app, name, line.shower()));
  const bool restarts = restart_demo(session.app);
  return CommandResult{.records = {{{"snapshot", name}, {"restarts", restarts}}},
                       .note = restarts ? "\nThe demo restarts with this state."
                                        : "\nThe next start of coffer demo returns to this state."};
}

Result<CommandResult> rewind(Session& session, const Arguments& arguments) {
  return rewind_to(session, arguments.text("NAME"));
}

Result<CommandResult> reset(Session& session, const Arguments&) {
  return rewind_to(session, std::string(kStartSnapshot));
}

constexpr Argument kName = on_page(positional("NAME", "Name of the snapshot"), "Snapshot");
constexpr std::string_view kLoses =
    "The demo restarts. All changes since the snapshot are lost, and sessions of the page end.";

}  // namespace

std::vector<Command> sandbox_commands() {
  std::vector<Command> out = {
      for_viewers("sandbox clock", "Show the time of a demo", clock),
      {.path = "sandbox advance",
       .summary = "Move the time of a demo forward",
       .label = "Advance",
       .consequence = "Quotes and tokens expire, retries become due, and statement days pass. Only "
                      "a return to a snapshot sets the time back.",
       .run = advance,
       .role = OperatorRole::operating,
       .arguments = {on_page(positional("DURATION", "Number followed by s, m, h or d, up to 366d"),
                             "Duration", "2h")},
       .details = "The file stores the offset, so it survives a restart. Times that other machines "
                  "compare,\nin signatures and one-time passwords, stay those of the machine."},
      {.path = "sandbox snapshot",
       .summary = "Take a snapshot of a demo",
       .label = "Take a snapshot",
       .run = snapshot,
       .role = OperatorRole::operating,
       .arguments = {on_page(positional("NAME", "Name of a-z, 0-9 and hyphens"), "Name",
                             "before-test")},
       .details = "A snapshot is a backup in FILE.snapshots. A demo takes the first one, start, at "
                  "its first start with\nenough free space."},
      for_viewers("sandbox snapshots", "List the snapshots of a demo, oldest first", snapshots),
      {.path = "sandbox rewind",
       .summary = "Return a demo to a snapshot",
       .label = "Rewind",
       .consequence = kLoses,
       .run = rewind,
       .arguments = {kName},
       .hint = "List snapshots with coffer sandbox snapshots",
       .details = "The snapshot is verified first. The request log and the snapshots are kept."},
      {.path = "sandbox reset",
       .summary = "Return a demo to its initial state",
       .label = "Reset",
       .consequence = kLoses,
       .run = reset,
       .hint =
           "The disk had too little free space for the snapshot start. Free disk space, and start "
           "the demo again: the snapshot then has its current state",
       .details = "The same as coffer sandbox rewind start."}};
  for (Command& command : out) command.demo_only = true;
  return out;
}

}  // namespace coffer::cli
