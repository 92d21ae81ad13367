// The time of the records: where it continues after a restart, and how a sandbox advances it.
#include "base/check.h"
#include "base/telemetry/log.h"
#include "store/commit_queue.h"

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

/// Called before the writer's thread starts.
void CommitQueue::continue_time(const Clock& machine) {
  clock_.begin_at(newest_time(*database_.writer_));
  const Lock lock(mutex_);
  advanced_ms_ = stored_advance_ms(*database_.writer_);
  if (advanced_ms_ > 0) clock_.begin_at(machine.now().plus_ms(advanced_ms_));
}

void CommitQueue::write_time(WriteTx& tx) { tx.db().run(kStoreTime, tx.now()); }

Result<void> CommitQueue::probe() {
  return run([](WriteTx& tx) -> Result<void> {
    write_time(tx);
    return {};
  });
}

void CommitQueue::watch_clock() {
  const std::int64_t behind_ms = clock_behind_ms();
  const bool behind = behind_ms > 0;
  if (behind == clock_behind_) return;
  clock_behind_ = behind;
  if (behind) {
    log_warning("store",
                "the system clock is behind the records; new ones continue from the last timestamp",
                {{"behind_ms", behind_ms}});
  } else {
    log_warning("store", "the system clock is no longer behind the records");
  }
}

/// An advanced clock is ahead intentionally. Differences under one second count as 0, as in
/// Clock::ahead_ms.
std::int64_t CommitQueue::clock_behind_ms() const {
  constexpr std::int64_t kAsGoodAsRightMs = 1'000;
  const std::int64_t ahead_ms = clock_.ahead_ms();
  const Lock lock(mutex_);
  const std::int64_t behind_ms = ahead_ms - advanced_ms_;
  return behind_ms < kAsGoodAsRightMs ? 0 : behind_ms;
}

/// Writes the sum to the file before the first record with a later time.
Result<void> CommitQueue::advance_clock(std::int64_t ms) {
  COFFER_CHECK(ms > 0);
  COFFER_TRY_VOID(run([ms](WriteTx& tx) -> Result<void> {
    tx.db().run(kAdvance, ms);
    return {};
  }));
  {
    const Lock lock(mutex_);
    advanced_ms_ += ms;
    clock_.begin_at(now().plus_ms(ms));
  }
  // Workers wait for times that may have passed now.
  return run([](WriteTx& tx) -> Result<void> {
    for (const Signal signal :
         {Signal::settlement, Signal::webhooks, Signal::providers, Signal::notifications}) {
      tx.signal(signal);
    }
    return {};
  });
}

}  // namespace coffer::store
