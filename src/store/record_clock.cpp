#include "store/record_clock.h"

#include "base/telemetry/log.h"

namespace coffer::store {
namespace {

// Through an index: the newest event of each tenant instead of all events.
constexpr const char* kNewestTime =
    "SELECT max(coalesce((SELECT at FROM journal ORDER BY journal DESC LIMIT 1), 0),"
    " coalesce((SELECT max(at) FROM (SELECT (SELECT e.at FROM events e WHERE e.tenant = t.tenant"
    " ORDER BY e.sequence DESC LIMIT 1) AS at FROM tenants t)), 0),"
    " coalesce((SELECT CAST(CAST(value AS TEXT) AS INTEGER) FROM meta WHERE name = 'time'), 0))";
constexpr const char* kStoreTime =
    "INSERT INTO meta (name, value) VALUES ('time', CAST(?1 AS BLOB))"
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value";
constexpr const char* kAdvanced =
    "SELECT CAST(CAST(value AS TEXT) AS INTEGER) FROM meta WHERE name = 'clock_advanced_ms'";
constexpr const char* kAdvance =
    "INSERT INTO meta (name, value) VALUES ('clock_advanced_ms', CAST(?1 AS BLOB))"
    " ON CONFLICT (name) DO UPDATE SET value ="
    " CAST(CAST(CAST(value AS TEXT) AS INTEGER) + ?1 AS BLOB)";

/// Statements search the journal by its times with a binary search, so times must never decrease,
/// not even across a restart. A due time of 5 s must also not become an hour.
Timestamp newest_time(Connection& writer) {
  Query query(writer, kNewestTime);
  return query.step() ? query.time(0) : Timestamp();
}

std::int64_t stored_advance_ms(Connection& writer) {
  Query query(writer, kAdvanced);
  return query.step() ? query.integer(0) : 0;
}

}  // namespace

RecordClock::RecordClock(const Clock& machine, Connection& writer)
    : clock_(machine), advanced_ms_(stored_advance_ms(writer)) {
  clock_.begin_at(newest_time(writer));
  if (advanced_ms_ > 0) clock_.begin_at(machine.now().plus_ms(advanced_ms_));
  watch();
}

/// An advanced clock is ahead intentionally. Rounds as Clock::ahead_ms does.
std::int64_t RecordClock::behind_ms() const {
  constexpr std::int64_t kAsGoodAsRightMs = 1'000;
  const std::int64_t ahead_ms = clock_.ahead_ms();  // read first: advance() sets it last
  const std::int64_t behind_ms = ahead_ms - advanced_ms_;
  return behind_ms < kAsGoodAsRightMs ? 0 : behind_ms;
}

void RecordClock::watch() {
  const std::int64_t behind_ms = this->behind_ms();
  const bool behind = behind_ms > 0;
  if (behind == was_behind_) return;
  was_behind_ = behind;
  if (behind) {
    log_warning("store",
                "the system clock is behind the records; new ones continue from the last timestamp",
                {{"behind_ms", behind_ms}});
  } else {
    log_warning("store", "the system clock is no longer behind the records");
  }
}

void RecordClock::advance(std::int64_t ms) {
  advanced_ms_ += ms;
  clock_.begin_at(now().plus_ms(ms));
}

void RecordClock::store(Connection& writer, Timestamp now) { writer.run(kStoreTime, now); }

void RecordClock::store_advance(Connection& writer, std::int64_t ms) { writer.run(kAdvance, ms); }

}  // namespace coffer::store
