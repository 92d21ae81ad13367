// The figures of the commit queue, and the log fields of a command.
#include <catch2/catch.hpp>
#include <string>

#include "base/fault.h"
#include "base/telemetry/log_scope.h"
#include "base/telemetry/metrics.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

/// Declared before the file, which it outlives.
struct Counted {
  Metrics metrics;
  Counter& counter = metrics.counter("test_total", "Counted by commands.");
  OpenedFile file{CommitQueueOptions{.metrics = &metrics}};

  std::string text() const {
    Exposition out;
    metrics.write(out);
    return out.text();
  }
  bool has(const std::string& line) const { return text().find(line + "\n") != std::string::npos; }
};

Result<void> write_something(WriteTx& tx) {
  write_meta(tx, "something", "x");
  return {};
}

}  // namespace

TEST_CASE("commit figures: a command counts only once it is committed") {
  Counted world;
  std::uint64_t inside = 0;  // the count while the last command ran
  const auto counting = [&](Result<void> verdict) {
    return [&world, &inside, verdict](WriteTx& tx) -> Result<void> {
      tx.count(world.counter);
      inside = world.counter.value();
      COFFER_TRY_VOID(write_something(tx));
      return verdict;
    };
  };
  CHECK(world.file.write(counting({})));
  CHECK(world.counter.value() == 1);
  CHECK_FALSE(world.file.write(counting(unexpected(Slug::not_found, "rejected"))));
  CHECK(world.counter.value() == 1);
  CHECK(world.file.write(counting({}), CommitQueue::Mode::dry_run));
  CHECK(world.counter.value() == 1);
  CHECK_FALSE(world.file.write([&](WriteTx& tx) -> Result<void> {
    tx.count(world.counter);
    throw InternalError("a bug");
  }));
  CHECK(world.counter.value() == 1);
  CHECK(world.file.write(counting({})));
  CHECK(inside == 1);  // not before the commit
  CHECK(world.counter.value() == 2);
}

TEST_CASE("commit figures: batches, their times, and batches rolled back as a whole") {
  Counted world;
  CHECK(world.file.write(write_something));
  CHECK(world.file.write(write_something));
  INFO(world.text());
  // The first batch gives the writer the keys of the file.
  CHECK(world.has("coffer_commit_batch_commands_bucket{le=\"1\"} 3"));
  CHECK(world.has("coffer_commit_batch_commands_sum 3"));
  CHECK(world.has("coffer_commit_duration_seconds_count 3"));
  CHECK(world.has("coffer_commit_failures_total 0"));
#ifdef COFFER_FAULTS
  fault::arm("disk.full:0=fail");
  world.file.clock.advance_ms(1'000);
  CHECK_FALSE(world.file.write([&](WriteTx& tx) -> Result<void> {
    tx.count(world.counter);
    return write_something(tx);
  }));
  fault::arm("");
  CHECK(world.has("coffer_commit_failures_total 1"));
  CHECK(world.counter.value() == 0);
#endif
}

TEST_CASE("commit figures: log lines of a command have the fields of the waiting request") {
  OpenedFile file;
  const CapturedLog log;
  const LogScope scope("request_id", "r-77");
  CHECK_FALSE(file.write([](WriteTx&) -> Result<void> { throw InternalError("a bug"); }));
  INFO(log.text());
  CHECK(log.has("command failed"));
  CHECK(log.has("r-77"));
}

TEST_CASE("commit figures: readers in use are counted") {
  OpenedFile file;
  const auto stats_of = [&](Readers pool) {
    return file.database->reader_stats().at(static_cast<std::size_t>(pool));
  };
  CHECK(stats_of(Readers::read).leased == 0);
  {
    const Reader lease = file.database->reader().value();
    CHECK(stats_of(Readers::read).leased == 1);
    CHECK(stats_of(Readers::money).leased == 0);
  }
  CHECK(stats_of(Readers::read).leased == 0);
  CHECK(stats_of(Readers::read).size == DatabaseOptions().readers);
  for (const ReadersKind& kind : kReaders) CHECK(stats_of(kind.pool).pool == kind.name);
  CHECK(file.database->file_bytes() > 0);
}
