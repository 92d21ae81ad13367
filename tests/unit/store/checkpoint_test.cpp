// The write-ahead log stays small, and freeing its space never delays a payment.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/thread.h"
#include "store/file/checkpointer.h"
#include "store/ledger/catalog.h"
#include "unit/store/busy_writer.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

constexpr std::uint64_t kMiB = 1ULL << 20;
constexpr const char* kCountBulk = "SELECT count(*) FROM meta WHERE name LIKE 'bulk%'";

/// Writes about 1 MiB of WAL.
CommitQueue::Command mebibyte(int number) {
  return [number](WriteTx& tx) -> Result<void> {
    tx.db().execute("INSERT INTO meta VALUES ('bulk" + std::to_string(number % 4) +
                    "', randomblob(1048576)) ON CONFLICT DO UPDATE SET value = excluded.value");
    return {};
  };
}

/// About `mib` of WAL in as many commits.
void write_mebibytes(OpenedFile& file, int mib) {
  for (int i = 0; i < mib; ++i) REQUIRE(file.write(mebibyte(i)));
}

}  // namespace

TEST_CASE("checkpoint: without readers, the log is reused") {
  OpenedFile file;
  write_mebibytes(file, 60);
  CHECK(file.database->wal_bytes() < 24 * kMiB);
}

TEST_CASE("checkpoint: a long reader makes the log grow, and its end frees the space") {
  const SystemClock clock;
  OpenedFile file;
  std::int64_t waited = 0;
  {
    const Reader stuck = file.database->reader().value();
    CHECK(number(stuck.db(), kCountBulk) == 0);
    write_mebibytes(file, 70);
    CHECK(file.database->wal_bytes() > 64 * kMiB);
    // Beyond the size at which the log is truncated, but a reader prevents it.
    const std::int64_t start = clock.monotonic_ms();
    write_mebibytes(file, 1);
    waited = clock.monotonic_ms() - start;
    CHECK(number(stuck.db(), kCountBulk) == 0);
  }
  CHECK(waited < 4'500);  // not the busy timeout
  // A blocked checkpoint is retried after at most 4 MiB.
  write_mebibytes(file, 5);
  CHECK(file.database->wal_bytes() < 8 * kMiB);
  CHECK(file.verify().empty());
}

TEST_CASE(
    "checkpoint: readers that overlap without a gap neither keep the log growing nor waste tries") {
  OpenedFile file;
  std::atomic<bool> over{false};
  std::atomic<int> begun{0};
  std::vector<Thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back("reader", [&] {
      while (!over) {
        const Reader lease = file.database->reader().value();  // assertions are not thread-safe
        scalar(lease.db(), "SELECT count(*) FROM meta");
        ++begun;
        const std::uint64_t seen = file.queue->stats().commits;
        while (!over && file.queue->stats().commits < seen + 3) rest(1);
      }
    });
  }
  while (begun < 4) rest(1);
  std::uint64_t largest = 0;
  for (int i = 0; i < 300; ++i) {
    write_mebibytes(file, 1);
    largest = std::max(largest, file.database->wal_bytes());
  }
  over = true;
  for (Thread& reader : readers) reader.join();
  CHECK(largest < 128 * kMiB);
  const CheckpointStats stats = file.queue->checkpoints();
  INFO(stats.complete << " complete, " << stats.partial << " partial, " << stats.pauses);
  CHECK(stats.pauses > 0);
  // At most one per 2,000 frames and one per pause, not one for each of 300 commits.
  CHECK(stats.complete + stats.partial <= 300 * 512 / 2'000 + 2 * stats.pauses + 2);
  CHECK(file.verify().empty());
}

TEST_CASE(
    "checkpoint: one that a reader blocks is tried again after 2,000 frames, not after a commit") {
  OpenedFile file;
  const Reader stuck = file.database->reader().value();
  CHECK(number(stuck.db(), kCountBulk) == 0);
  write_mebibytes(file, 16);
  for (int i = 0; i < 400; ++i) {  // small commits
    REQUIRE(file.write([&](WriteTx& tx) -> Result<void> {
      write_meta(tx, "small", std::to_string(i));
      return {};
    }));
  }
  const CheckpointStats stats = file.queue->checkpoints();
  CHECK(stats.complete == 0);
  CHECK(stats.partial >= 1);
  CHECK(stats.partial <= 4);  // one per 2,000 of about 9,000 frames
}

TEST_CASE("checkpoint: while few commands share a commit, the log grows to 16 MiB before a copy") {
  OpenedFile file;
  write_mebibytes(file, 14);
  CHECK(file.queue->checkpoints().complete == 0);
  write_mebibytes(file, 3);
  CHECK(file.queue->checkpoints().complete == 1);
}

TEST_CASE("checkpoint: after a commit of many commands, the log is copied from 4 MiB on") {
  OpenedFile file;
  std::vector<CommitQueue::Command> commands;
  for (int i = 0; i < 5; ++i) commands.push_back(mebibyte(i));
  for (const auto& verdict : run_in_one_batch(*file.queue, commands)) CHECK(verdict);
  write_mebibytes(file, 1);  // a command completes before the checkpoint that follows it
  CHECK(file.queue->checkpoints().complete == 1);
}

TEST_CASE("checkpoint: a clean stop leaves no log") {
  OpenedFile file;
  write_mebibytes(file, 1);
  const std::string path = file.database->path();
  CHECK(std::filesystem::exists(path + "-wal"));
  file.close();
  CHECK_FALSE(std::filesystem::exists(path + "-wal"));
  CHECK_FALSE(std::filesystem::exists(path + "-shm"));
}
