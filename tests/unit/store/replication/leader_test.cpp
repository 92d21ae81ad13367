// From the writer of a leader, over the log, to the file of a follower.
#include "store/replication/leader.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/platform/lease.h"
#include "base/thread.h"
#include "store/file/checkpointer.h"
#include "store/replication/file_position.h"
#include "store/replication/follower_file.h"
#include "store/replication/spool_log.h"
#include "unit/store/replication/log_conformance.h"
#include "unit/store/replication/replicated_files.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace leader_test {
namespace {

/// A leader whose tables are not those of a ledger, and a follower that reads its log.
struct Pair {
  explicit Pair(std::size_t base_bytes = std::size_t{1} << 20) {
    leader = std::make_unique<Leader>(
        log, shared_keys(), random, take_over(log, random), 0,
        LeaderOptions{.end = [this](const Appended& why) { ends.push_back(why.why); },
                      .base_bytes = base_bytes,
                      .lease_ms = kNoEnd,
                      .heartbeat_ms = 0});
    writer = std::make_unique<Connection>(folder.file("leader.db"), OpenMode::writer);
    leader->follow(*writer);
    writer->execute(
        "PRAGMA page_size=2048; PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL;"
        "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; PRAGMA secure_delete=FAST");
    commit(
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;"
        "CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB);"
        "CREATE INDEX by_size ON t (length(b))");
  }
  ~Pair() {
    leader.reset();
    writer.reset();
  }

  void commit(const std::string& sql) {
    Transaction transaction(*writer, true);
    writer->execute(sql);
    transaction.commit();
  }
  /// The follower applies what is new, and then has the same pages.
  void follow() {
    const auto entries = log.read_from(chain.tail().at.seq + 1, std::size_t{64} << 20);
    REQUIRE(entries);
    for (const LogEntry& entry : *entries) {
      const auto applied = follower.apply(entry, chain.read(entry).value());
      INFO((applied ? "" : applied.error().detail));
      REQUIRE(applied);
    }
    CHECK(pages_of(folder.file("leader.db")) == pages_of(folder.file("follower.db")));
    CHECK(leader->position() == chain.tail().at);
  }

  TemporaryFolder folder;
  UncertainLog log{folder.path() + "/log"};
  OsRandom random;
  std::vector<std::string> ends;
  std::unique_ptr<Leader> leader;
  std::unique_ptr<Connection> writer;
  EntryChain chain{shared_keys(), {}};
  FollowerFile follower{folder.file("follower.db")};
};

/// SQL of a random transaction.
std::string random_sql(Random& random) {
  const auto below = [&](std::uint64_t bound) { return random.next_u64() % bound; };
  const auto insert = [&](std::uint64_t rows, std::uint64_t bytes) {
    return "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
           std::to_string(rows) + ") INSERT INTO t (b) SELECT randomblob(abs(random()) % " +
           std::to_string(bytes) + ") FROM n;";
  };
  const std::string some = " WHERE id % 7 = " + std::to_string(below(7)) + ";";
  switch (below(9)) {
    case 0:
      return insert(1 + below(5), 100);
    case 1:
      return insert(1 + below(40), 9'000);  // with overflow pages
    case 2:
      return insert(200, 2'000);  // more than the writer's VFS gathers, and than fits the cache
    case 3:
      return "DELETE FROM t" + some;
    case 4:
      return "UPDATE t SET b = randomblob(length(b) + 10)" + some;
    case 5:
      return "PRAGMA incremental_vacuum;";  // the file shrinks
    case 6:
      return "SAVEPOINT s; " + insert(150, 2'000) + " ROLLBACK TO s; " + insert(3, 500) +
             " RELEASE s;";
    case 7:
      return "CREATE TABLE IF NOT EXISTS other (x); INSERT INTO other SELECT b FROM t LIMIT 20;";
    default:
      return "DROP TABLE IF EXISTS other; DELETE FROM t" + some;
  }
}

}  // namespace

TEST_CASE("leader: a follower has the leader's pages after every commit") {
  const std::uint64_t seed = GENERATE(1, 2, 3, 4);
  Pair pair(seed % 2 == 0 ? std::size_t{40'000} : std::size_t{1} << 20);
  SeededRandom random(seed);
  // So that pages leave the cache during a transaction and are written twice.
  pair.writer->execute("PRAGMA cache_size=" + std::string(seed > 2 ? "10" : "200"));
  pair.follow();
  for (int i = 0; i < 120; ++i) {
    pair.commit(random_sql(random));
    if (random.next_u64() % 6 == 0) {
      pair.writer->execute("BEGIN IMMEDIATE; " + random_sql(random) + " ROLLBACK");
    }
    if (random.next_u64() % 8 == 0) pair.writer->checkpoint(random.next_u64() % 2 == 0);
    if (random.next_u64() % 4 == 0) pair.leader->heartbeat(0);
    pair.follow();
  }
  CHECK(pair.ends.empty());
  Connection db(pair.folder.file("follower.db"), OpenMode::read_only);
  CHECK(scalar(db, "PRAGMA integrity_check") == "ok");
}

TEST_CASE("leader: a commit that the log has not stored is not visible, and ends the process") {
  Pair pair;
  Connection reader(pair.folder.file("leader.db"), OpenMode::read_only);
  pair.log.next =
      GENERATE(UncertainLog::Next::lost_on_the_way, UncertainLog::Next::lost_on_the_way_back);
  CHECK_THROWS_AS(pair.commit("INSERT INTO t (b) VALUES (x'01')"), SqlError);
  CHECK(pair.ends == std::vector<std::string>{"the connection is lost"});
  CHECK(number(reader, "SELECT count(*) FROM t") == 0);
}

TEST_CASE("leader: a leader that another one has fenced cannot commit") {
  Pair pair;
  const bool is_truncated = GENERATE(false, true);
  const LogTail takeover = take_over(pair.log, pair.random);
  // The places at which it would continue are free again.
  if (is_truncated) {
    for (int i = 0; i < 3; ++i) take_over(pair.log, pair.random);
    CHECK(pair.log.truncate(takeover.at.seq + 2));
  }
  CHECK_THROWS_AS(pair.commit("INSERT INTO t (b) VALUES (x'01')"), SqlError);
  REQUIRE(pair.ends.size() == 1);
  CHECK(pair.ends[0].find("does not continue the log") != std::string::npos);
  CHECK(number(*pair.writer, "SELECT count(*) FROM t") == 0);
}

TEST_CASE("leader: a commit without its position, or after one of another program, is refused") {
  Pair pair;
  SECTION("not in a Transaction") {
    CHECK_THROWS_AS(pair.writer->execute("INSERT INTO t (b) VALUES (x'01')"), SqlError);
    CHECK(pair.ends == std::vector<std::string>{"a commit does not contain its position"});
  }
  SECTION("another program has written") {
    {
      Connection other(pair.folder.file("leader.db"), OpenMode::read_write);
      other.execute("PRAGMA wal_autocheckpoint=0; INSERT INTO t (b) VALUES (x'02')");
    }
    CHECK_THROWS_AS(pair.commit("INSERT INTO t (b) VALUES (x'01')"), SqlError);
    CHECK(pair.ends == std::vector<std::string>{"another program has written to the database"});
  }
  CHECK(pair.log.tail().value().at == pair.leader->position());
}

TEST_CASE("leader: alone, a commit that the log cannot have begins it again and ends nothing") {
  TemporaryFolder folder;
  OsRandom random;
  SpoolLog log;
  ManualClock clock;
  const std::string path = folder.file("alone.db");
  auto leader = lead_alone(
      path, {log, shared_keys(), random, {.alone = true, .clock = &clock, .end = [](auto&&) {
                                            FAIL("the process ends");
                                          }}});
  Connection writer(path, OpenMode::writer);
  leader->follow(writer);
  writer.execute("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0");
  const auto commit = [&](const std::string& sql) {
    Transaction transaction(writer, true);
    writer.execute(sql);
    transaction.commit();
  };
  commit(
      "CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;"
      "CREATE TABLE t (b BLOB)");
  const std::int64_t before = log.tail()->at.seq;
  REQUIRE(log.read_from(1, 1 << 20)->size() == static_cast<std::size_t>(before));
  SECTION("not in a Transaction") { writer.execute("INSERT INTO t (b) VALUES (x'01')"); }
  SECTION("another program has written") {
    {
      Connection other(path, OpenMode::read_write);
      other.execute("PRAGMA wal_autocheckpoint=0; INSERT INTO t (b) VALUES (x'02')");
    }
    commit("INSERT INTO t (b) VALUES (x'01')");
  }
  CHECK(lease_holds());
  CHECK(log.read_from(before + 1, 1)->front().kind == EntryKind::takeover);
  commit("INSERT INTO t (b) VALUES (x'03')");
  const auto entries = log.read_from(before + 1, 1 << 20).value();
  REQUIRE(entries.size() >= 2);
  EntryChain chain(shared_keys(), {entries[0].at, entries[0].digest});
  const auto part = chain.read(entries[1]);
  REQUIRE(part);
  CHECK(read_part_head(*part)->at == clock.now());
  leader.reset();
}

TEST_CASE("spool: it keeps what was not read, and drops everything when that is too much") {
  OsRandom random;
  EntryChain chain(shared_keys(), {});
  SpoolLog log(10'000);
  const auto append = [&](std::size_t bytes) {
    const LogEntry entry = chain.append(EntryKind::data, std::string(bytes, 'x'), random);
    CHECK(log.append({&entry, 1}, [] {}).result == AppendResult::stored);
  };
  for (int i = 0; i < 5; ++i) append(1'000);
  CHECK(log.read_from(1, 1'500)->size() == 2);
  CHECK(log.read_from(1, 1 << 20)->size() == 5);
  CHECK(log.read_from(4, 1 << 20)->size() == 2);
  CHECK(log.read_from(3, 1).error().slug == Slug::not_found);  // it was read
  CHECK(log.read_from(6, 1)->empty());
  append(10'500);
  CHECK(log.read_from(6, 1).error().slug == Slug::not_found);
  CHECK(log.tail()->at.seq == 6);
  append(100);
  CHECK(log.read_from(7, 1)->size() == 1);
  SpoolLog other;
  LogMachine a(other);
  LogMachine b(other);
  check_reads(a, b, 20);
}

TEST_CASE("leader: a large commit of several entries is applied with its last entry") {
  Pair pair;
  pair.follow();
  pair.commit("INSERT INTO t (b) VALUES (randomblob(3000000))");
  CHECK(pair.log.entries_in_last >= 3);
  const auto before = pages_of(pair.folder.file("follower.db"));
  const auto entries = pair.log.read_from(pair.chain.tail().at.seq + 1, 1 << 30).value();
  REQUIRE(entries.size() == pair.log.entries_in_last);
  for (const LogEntry& entry : entries) {
    CHECK(pages_of(pair.folder.file("follower.db")) == before);
    REQUIRE(pair.follower.apply(entry, pair.chain.read(entry).value()));
  }
  pair.follow();
}

TEST_CASE("follower: a file that differs from the leader's is left as it is") {
  Pair pair;
  pair.commit("INSERT INTO t (b) VALUES (zeroblob(1000)), (zeroblob(1000)), (zeroblob(1000))");
  pair.follow();
  pair.commit("UPDATE t SET b = zeroblob(1001) WHERE id = 1");
  {
    Connection other(pair.folder.file("follower.db"), OpenMode::read_write);
    other.execute("UPDATE t SET b = x'01' WHERE id = 3");
  }
  const auto before = pages_of(pair.folder.file("follower.db"));
  const auto entries = pair.log.read_from(pair.chain.tail().at.seq + 1, 1 << 20).value();
  REQUIRE(entries.size() == 1);
  const auto applied = pair.follower.apply(entries[0], pair.chain.read(entries[0]).value());
  REQUIRE_FALSE(applied);
  CHECK(applied.error().slug == Slug::validation_failed);
  CHECK(pages_of(pair.folder.file("follower.db")) == before);
}

TEST_CASE("leader: readers of a follower see each commit as a whole") {
  Pair pair;
  pair.commit("INSERT INTO t (b) VALUES (x'01')");
  pair.follow();
  Connection reader(pair.folder.file("follower.db"), OpenMode::read_only);
  for (int i = 2; i < 40; ++i) {
    Transaction held(*pair.writer, true);
    pair.writer->execute("CREATE TABLE t" + std::to_string(i) +
                         " (x); INSERT INTO t (b) VALUES (randomblob(3000))");
    held.commit();
    reader.execute("BEGIN");
    CHECK(number(reader, "SELECT count(*) FROM t") == i - 1);
    pair.follow();
    CHECK(number(reader, "SELECT count(*) FROM t") == i - 1);
    reader.execute("COMMIT");
    CHECK(number(reader, "SELECT count(*) FROM t") == i);
    CHECK(number(reader, "SELECT count(*) FROM t" + std::to_string(i)) == 0);
  }
}

TEST_CASE(
    "leader: appends extend the lease of the process, from the time at which they were sent") {
  Pair pair;
  const std::int64_t before = boot_ms();
  pair.leader->heartbeat(0);
  CHECK(lease_holds());
  const auto end = pair.log.tail().value();
  pair.leader->heartbeat(boot_ms() - before + kNoEnd);  // one was appended since then
  CHECK(pair.log.tail().value() == end);
  pair.leader.reset();
  CHECK(lease_holds());  // none is needed any more
}

TEST_CASE("leader: it ends when the log has not responded during the lease") {
  const TemporaryFolder folder;
  UncertainLog log(folder.path() + "/log");
  OsRandom random;
  std::atomic<int> ends = 0;
  std::atomic<bool> held = true;
  const LogTail tail = take_over(log, random);
  const Leader leader(log, shared_keys(), random, tail, boot_ms() - kLeaseMs,
                      LeaderOptions{.end =
                                        [&](const Appended&) {
                                          held = lease_holds();
                                          ++ends;
                                        },
                                    .lease_ms = kLeaseMs,
                                    .heartbeat_ms = 0});
  while (ends == 0) rest(1);
  CHECK_FALSE(held);
}

TEST_CASE("leader: its heartbeats extend the lease while the writer does something else") {
  const TemporaryFolder folder;
  UncertainLog log(folder.path() + "/log");
  OsRandom random;
  const LogTail tail = take_over(log, random);
  const Leader leader(log, shared_keys(), random, tail, boot_ms(),
                      LeaderOptions{.address = "here:1",
                                    .end = [](const Appended&) {},
                                    .lease_ms = kNoEnd,
                                    .heartbeat_ms = 2});
  while (leader.position().seq < tail.at.seq + 3) rest(1);
}

TEST_CASE("leader: commits and heartbeats at the same time continue one chain") {
  const TemporaryFolder folder;
  LogOfMachine machine(folder.path() + "/log");
  machine.replication.leader.heartbeat_ms = 1;
  SmallLedger ledger({}, machine.options());
  Leader& leader = *ledger.database->leader();
  std::atomic<bool> stops = false;
  {
    const std::jthread beats([&] {
      while (!stops) leader.heartbeat(0);
    });
    for (int i = 0; i < 60; ++i) ledger.pay_and_settle(ledger.transfer(std::to_string(i), 1));
    stops = true;
  }
  const std::string path = ledger.database->path();
  ledger.close();
  CHECK(machine.ends.empty());
  LogOfMachine other(folder.path() + "/log");
  REQUIRE(lead(folder.file("other.db"), other.replication));
  CHECK(pages_of(folder.file("other.db")) == pages_of(path));
}

TEST_CASE("leader: the log takes few bytes for a payment") {
  struct Goal {
    int payments;  // accepted and settled in one commit
    std::size_t bytes;
  };
  // Most of it are digests and IDs: with the highest level of zstd, it is a tenth less.
  for (const Goal& goal : {Goal{13, 720}, Goal{37, 640}}) {
    const TemporaryFolder folder;
    LogOfMachine machine(folder.path() + "/log");
    machine.replication.leader.base_bytes = std::size_t{64} << 20;
    SmallLedger ledger({}, machine.options());
    int number = 0;
    const auto commit = [&] {
      REQUIRE(ledger.write([&](WriteTx& tx) -> Result<void> {
        for (int i = 0; i < goal.payments; ++i, ++number) {
          const bool back = number % 2 == 1;
          ledger.settle(tx, ledger.accept(tx, ledger.transfer(std::to_string(number), 1, back)));
        }
        return {};
      }));
    };
    constexpr int kCommits = 40;
    for (int i = 0; i < kCommits; ++i) commit();
    const std::int64_t from = machine.log.tail()->at.seq + 1;
    for (int i = 0; i < kCommits; ++i) commit();
    std::size_t bytes = 0;
    const auto entries = machine.log.read_from(from, std::size_t{1} << 30).value();
    for (const LogEntry& entry : entries) {
      bytes += entry.payload.size();
    }
    const std::size_t each = bytes / static_cast<std::size_t>(kCommits * goal.payments);
    INFO(goal.payments << " payments in a commit: " << each << " bytes each");
    CHECK(each <= goal.bytes);
  }
}

}  // namespace leader_test
