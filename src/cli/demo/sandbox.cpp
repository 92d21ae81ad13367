// coffer sandbox: the clock of a demo.
#include <array>
#include <charconv>

#include "app/app.h"
#include "cli/command_groups.h"

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
    return unexpected(
        Slug::conflict,
        "The clock cannot be more than 3,660 days ahead. Start a new demo with coffer "
        "demo --db FILE.");
  }
  COFFER_TRY_VOID(queue.advance_clock(ms));
  return CommandResult{.records = {clock_record(session.app)}};
}

}  // namespace

std::vector<Command> sandbox_commands() {
  std::vector<Command> out = {
      for_viewers("sandbox clock", "Show the time of a demo", clock),
      {.path = "sandbox advance",
       .summary = "Move the time of a demo forward",
       .label = "Advance",
       .consequence = "Quotes and tokens expire, retries become due, and statement days pass. The "
                      "time cannot be set back.",
       .run = advance,
       .role = OperatorRole::operating,
       .arguments = {on_page(positional("DURATION", "Number followed by s, m, h or d, up to 366d"),
                             "Duration", "2h")},
       .details = "The file stores the offset, so it survives a restart. Times that other machines "
                  "compare,\nin signatures and one-time passwords, stay those of the machine."}};
  for (Command& command : out) command.demo_only = true;
  return out;
}

}  // namespace coffer::cli
