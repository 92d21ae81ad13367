// A machine that starts: its file and the log, after every way in which a process can end.
#include "store/replication/joining.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/files/durable_file.h"
#include "base/platform/lease.h"
#include "store/replication/file_position.h"
#include "unit/store/replication/replicated_files.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace joining_test {
namespace {

namespace fs = std::filesystem;
using Next = UncertainLog::Next;

/// A leader with a payment, whose process ends during its next commit, and the files that it
/// leaves.
struct Crash {
  /// `loses`: the disk of the machine did not get the commit.
  explicit Crash(Next how, bool loses = false, std::size_t bytes = 100) {
    ledger.pay_and_settle(ledger.transfer("before", 1));
    if (loses) copy_files(ledger.database->path(), left);
    machine.on_end = [this, loses] {
      if (!loses) copy_files(ledger.database->path(), left);
    };
    machine.log.next = how;
    ledger.queue->between_batches([&](Connection& writer) {
      Transaction transaction(writer);
      writer.run("INSERT INTO meta (name, value) VALUES ('last_checkpoint', randomblob(?))", bytes);
      CHECK_THROWS_AS(transaction.commit(), SqlError);
    });
    CHECK(machine.ends.size() == 1);
  }

  TemporaryFolder folder;
  const std::string log = folder.path() + "/log";
  LogOfMachine machine{log};
  SmallLedger ledger{{}, machine.options()};
  const std::string left = folder.file("left.db");
};

bool has_last(const std::string& path) {
  Connection db(path, OpenMode::read_only);
  CHECK(scalar(db, "PRAGMA integrity_check") == "ok");
  CHECK(keyed_verify(db).empty());
  return number(db, "SELECT count(*) FROM meta WHERE name = 'last_checkpoint'") == 1;
}

fs::path last_entry(const std::string& log) {
  const std::vector<fs::directory_entry> all{fs::directory_iterator(log), {}};
  return std::ranges::max_element(all)->path();
}

/// A digest of both.
std::string content_of_files(const std::string& path) {
  std::string out;
  for (const char* ending : {"", kLogEnding}) {
    if (!fs::exists(path + ending)) continue;
    out += sha256_of_file(path + ending).value() + ' ';
  }
  return out;
}

/// Opens a file as the next process does. Returns its payments, or nullopt with the reason in
/// `why`.
std::optional<std::int64_t> payments_after_start(const std::string& path,
                                                 const std::string& log_folder, std::string& why) {
  const LogOfMachine machine(log_folder);
  DatabaseOptions options = machine.options();
  options.path = path;
  const SystemClock clock;
  OpenError error;
  const auto database = Database::open(options, clock, error);
  why = error.message;
  if (!database) return {};
  return with_reader(*database,
                     [](Connection& db) { return number(db, "SELECT count(*) FROM payments"); })
      .value();
}

}  // namespace

TEST_CASE("joining: a new ledger, a second machine from nothing, and the first one again") {
  const TemporaryFolder folder;
  const std::string log = folder.path() + "/log";
  LogOfMachine machine(log);
  SmallLedger ledger({}, machine.options());
  for (int i = 0; i < 5; ++i) ledger.pay_and_settle(ledger.transfer(std::to_string(i), 1));
  const std::string first = ledger.database->path();
  const auto position = ledger.read([](Connection& db) { return read_position(db); });
  REQUIRE(position);
  CHECK(position->at == ledger.database->leader()->position());
  ledger.close();

  std::string why;
  const std::string second = folder.file("second.db");
  CHECK(payments_after_start(second, log, why) == 5);
  CHECK(keyed_verify(*std::make_unique<Connection>(second, OpenMode::read_only)).empty());
  CHECK(payments_after_start(first, log, why) == 5);
  CHECK(pages_of(first) == pages_of(second));
  CHECK(machine.ends.empty());
}

TEST_CASE("joining: a ledger that existed before has to be copied to other machines") {
  const TemporaryFolder folder;
  const std::string log = folder.path() + "/log";
  SmallLedger alone;
  alone.pay_and_settle(alone.transfer("a", 1));
  const std::string path = alone.database->path();
  alone.close();
  std::string why;
  CHECK(payments_after_start(path, log, why) == 1);
  // The process ended before its first commit, which would have marked the file.
  CHECK(payments_after_start(path, log, why) == 1);
  CHECK_FALSE(payments_after_start(folder.file("new.db"), log, why));
  CHECK(why.find("needs a copy of the leader's file") != std::string::npos);
}

TEST_CASE("joining: a machine with an older version follows a newer schema, but does not lead") {
  const TemporaryFolder folder;
  LogOfMachine machine(folder.path() + "/log");
  {
    SmallLedger ledger({}, machine.options());
    ledger.queue->between_batches([](Connection& writer) {
      Transaction transaction(writer, true);
      writer.execute("PRAGMA user_version=9999");
      transaction.commit();
    });
  }
  const LogTail end = machine.log.tail().value();
  std::string why;
  const std::string other = folder.file("other.db");
  CHECK_FALSE(payments_after_start(other, folder.path() + "/log", why));
  CHECK(why.find("written by a newer coffer") != std::string::npos);
  CHECK(machine.log.tail().value() == end);
}

TEST_CASE("joining: a replicated file does not open without its log") {
  const TemporaryFolder folder;
  LogOfMachine machine(folder.path() + "/log");
  SmallLedger ledger({}, machine.options());
  const std::string path = ledger.database->path();
  ledger.close();
  DatabaseOptions options;
  options.path = path;
  const SystemClock clock;
  OpenError error;
  CHECK_FALSE(Database::open(options, clock, error));
  CHECK(error.fault == OpenFault::unsupported);
  CHECK(error.message.find("replicated") != std::string::npos);
}

TEST_CASE("joining: an append that did not arrive is undone on the machine that made it") {
  const Crash crash(Next::lost_on_the_way);
  REQUIRE(has_last(crash.left));
  std::string why;
  CHECK(payments_after_start(crash.left, crash.log, why) == 1);
  CHECK_FALSE(has_last(crash.left));
  CHECK(payments_after_start(crash.left, crash.log, why) == 1);
}

TEST_CASE("joining: an append whose acknowledgement did not arrive holds, on every disk") {
  const bool loses = GENERATE(false, true);
  const Crash crash(Next::lost_on_the_way_back, loses);
  REQUIRE(has_last(crash.left) == !loses);
  std::string why;
  CHECK(payments_after_start(crash.left, crash.log, why) == 1);
  CHECK(has_last(crash.left));
  const std::string other = crash.folder.file("other.db");
  CHECK(payments_after_start(other, crash.log, why) == 1);
  CHECK(payments_after_start(crash.left, crash.log, why) == 1);
  CHECK(pages_of(other) == pages_of(crash.left));
}

TEST_CASE("joining: of a commit of several entries, some are not enough") {
  const bool loses = GENERATE(false, true);
  const Crash crash(Next::only_the_first, loses, 3'000'000);
  REQUIRE(crash.machine.log.entries_in_last >= 3);
  std::string why;
  CHECK(payments_after_start(crash.left, crash.log, why) == 1);
  CHECK_FALSE(has_last(crash.left));
  const std::string other = crash.folder.file("other.db");
  CHECK(payments_after_start(other, crash.log, why) == 1);
  CHECK_FALSE(has_last(other));
}

TEST_CASE("joining: another machine that leads meanwhile decides about the last commit") {
  const Next how = GENERATE(Next::lost_on_the_way, Next::lost_on_the_way_back);
  const Crash crash(how);
  const std::string other = crash.folder.file("other.db");
  std::string why;
  CHECK(payments_after_start(other, crash.log, why) == 1);
  {
    LogOfMachine machine(crash.log);
    DatabaseOptions options = machine.options();
    options.path = other;
    const SystemClock clock;
    OpenError error;
    const auto database = Database::open(options, clock, error);
    REQUIRE(database);
    CommitQueue queue(*database, clock, {.disk_floor_bytes = 0}, [](Signal) {});
    queue.use_keys(test_keys());
    REQUIRE(queue.probe());
  }
  CHECK(payments_after_start(crash.left, crash.log, why) == 1);
  CHECK(has_last(crash.left) == (how == Next::lost_on_the_way_back));
  CHECK(pages_of(other) == pages_of(crash.left));
}

TEST_CASE("joining: a file and a log that have gone apart stay as they are") {
  const Crash crash(Next::lost_on_the_way);
  const std::string entries = crash.log;
  std::string why;
  std::string expected;
  SECTION("an engine that has lost another commit") {
    fs::remove(last_entry(entries));
    expected = "does not have the entry before it";
  }
  SECTION("an engine that has lost everything") {
    fs::remove_all(entries);
    expected = "does not have the entry before it";
  }
  SECTION("a last commit that is no longer in the log of SQLite") {
    Connection(crash.left, OpenMode::read_write)
        .execute("SELECT count(*) FROM meta; PRAGMA wal_checkpoint(TRUNCATE)");
    expected = "already copied from the write-ahead log";
  }
  SECTION("a log that no longer has what the file needs") {
    const std::string other = crash.folder.file("other.db");
    for (int i = 0; i < 3; ++i) CHECK(payments_after_start(other, entries, why) == 1);
    LogOfMachine machine(entries);
    CHECK(machine.log.truncate(machine.log.tail()->at.seq));
    expected = "was truncated";
  }
  SECTION("the log of another ledger") {
    fs::remove_all(entries);
    LogOfMachine machine(entries);
    SmallLedger other({}, machine.options());
    for (int i = 0; i < 9; ++i) other.pay(other.transfer(std::to_string(i), 1));
    expected = "its digest does not continue the chain";
  }
  const std::string before = content_of_files(crash.left);
  CHECK_FALSE(payments_after_start(crash.left, crash.log, why));
  INFO(expected << " in: " << why);
  CHECK(why.find(expected) != std::string::npos);
  CHECK(content_of_files(crash.left) == before);
}

TEST_CASE("joining: a machine behind a truncation does not lead, and a seed brings it back") {
  const TemporaryFolder folder;
  const std::string log = folder.path() + "/log";
  LogOfMachine machine(log);
  const std::string away = folder.file("away.db");
  const std::string seed = folder.file("seed.db");
  {
    SmallLedger ledger({}, machine.options());
    ledger.pay_and_settle(ledger.transfer("a", 1));
    copy_files(ledger.database->path(), away);
    for (const char* id : {"b", "c"}) ledger.pay_and_settle(ledger.transfer(id, 1));
    copy_files(ledger.database->path(), seed);
    CHECK(machine.log.truncate(ledger.database->leader()->position().seq));
    ledger.pay_and_settle(ledger.transfer("d", 1));
  }
  const LogTail end = machine.log.tail().value();
  const std::string before = content_of_files(away);
  std::string why;
  for (const std::string& path : {away, folder.file("new.db")}) {
    CHECK_FALSE(payments_after_start(path, log, why));
    CHECK(why.find("coffer replica seed") != std::string::npos);
  }
  CHECK(content_of_files(away) == before);
  CHECK(machine.log.tail().value() == end);
  const auto refused = check_seed(away, machine.log, shared_keys());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().detail.find("new backup of the leader") != std::string::npos);
  const EntryKeys others(Secret(std::string(32, 'o')));
  CHECK_FALSE(check_seed(seed, machine.log, others));
  CHECK_FALSE(check_seed(folder.file("none.db"), machine.log, shared_keys()));
  CHECK(check_seed(seed, machine.log, shared_keys()));
  CHECK(payments_after_start(seed, log, why) == 4);
}

TEST_CASE("joining: an idle ledger keeps the entry of its last commit in the log") {
  const TemporaryFolder folder;
  const std::string log = folder.path() + "/log";
  LogOfMachine machine(log);
  SmallLedger ledger({}, machine.options());
  ledger.pay_and_settle(ledger.transfer("a", 1));
  Leader& leader = *ledger.database->leader();
  constexpr std::int64_t kKeepMs = 1'000;
  const auto remember = [&](std::int64_t ms) {
    for (int i = 0; i < 5; ++i) leader.heartbeat(0);
    std::int64_t out = -1;
    const std::int64_t end = leader.position().seq;
    ledger.queue
        ->run([&](WriteTx& tx) -> Result<void> {
          out = remember_end(tx.db(), end, {ms}, kKeepMs);
          return {};
        })
        .value();
    return out;
  };
  const std::string path = ledger.database->path();
  CHECK(remember(10'000) == 0);
  CHECK(remember(10'500) == 0);
  const std::int64_t first = remember(11'000);
  const std::int64_t second = remember(12'000);
  CHECK(first > 1);
  CHECK(second > first);
  CHECK(machine.log.truncate(second));
  CHECK_FALSE(machine.log.read_from(second - 1, 1));
  for (int i = 0; i < 5; ++i) leader.heartbeat(0);
  ledger.close();
  std::string why;
  CHECK(payments_after_start(path, log, why) == 1);
  INFO(why);
}

TEST_CASE("joining: a commit that the log has had is never cut off") {
  // The leader's file, and that of a follower, as killed processes leave them.
  const bool of_follower = GENERATE(false, true);
  const TemporaryFolder folder;
  const std::string log = folder.path() + "/log";
  LogOfMachine first(log);
  SmallLedger ledger({}, first.options());
  ledger.pay_and_settle(ledger.transfer("a", 1));
  std::string path = ledger.database->path();
  std::unique_ptr<Follower> follower;
  if (of_follower) {
    path = folder.file("second.db");
    follower = Follower::join(path, first.log, shared_keys()).value();
    CHECK(follower->step());
  }
  const std::string left = folder.file("left.db");
  copy_files(path, left);
  fs::remove(last_entry(log));  // by a failover of the engine
  std::string why;
  SECTION("with the mark of the process") {
    fs::copy_file(path + kLoggedEnding, left + kLoggedEnding);
    const std::string before = content_of_files(left);
    CHECK_FALSE(payments_after_start(left, log, why));
    CHECK(why.find("has had") != std::string::npos);
    CHECK(content_of_files(left) == before);
  }
  SECTION("the control: without it, the commit looks as if it was not acknowledged") {
    CHECK(payments_after_start(left, log, why));
  }
}

TEST_CASE("joining: a file that leaves its log takes nothing of it along") {
  const TemporaryFolder folder;
  LogOfMachine machine(folder.path() + "/log");
  SmallLedger ledger({}, machine.options());
  ledger.pay_and_settle(ledger.transfer("a", 1));
  const std::string path = ledger.database->path();
  ledger.close();
  REQUIRE(fs::exists(path + kLoggedEnding));
  DatabaseOptions options;
  options.path = path;
  options.leaves_log = true;
  const SystemClock clock;
  OpenError error;
  CHECK(Database::open(options, clock, error));
  INFO(error.message);
  CHECK_FALSE(fs::exists(path + kLoggedEnding));
  options.leaves_log = false;
  CHECK(Database::open(options, clock, error));
  // In another log, whose entries have lower places than those of the first one.
  std::string why;
  CHECK(payments_after_start(path, folder.path() + "/other", why) == 1);
  CHECK(fs::exists(path + kLoggedEnding));
}

TEST_CASE("joining: a damaged entry stops a machine before it") {
  const Crash crash(Next::lost_on_the_way);
  const fs::path last = last_entry(crash.log);
  {
    std::fstream file(last, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-1, std::ios::end);
    const int byte = file.get();
    file.seekp(-1, std::ios::end);
    file.put(static_cast<char>(byte ^ 1));
  }
  std::string why;
  CHECK_FALSE(payments_after_start(crash.folder.file("other.db"), crash.log, why));
  CHECK(why.find("its digest does not continue the chain") != std::string::npos);
}

TEST_CASE("joining: a machine follows while another one leads, and leads when that one is silent") {
  const TemporaryFolder folder;
  LogOfMachine first(folder.path() + "/log");
  SmallLedger ledger({}, first.options());
  Leader& leader = *ledger.database->leader();
  ledger.pay_and_settle(ledger.transfer("a", 1));

  LogOfMachine second(folder.path() + "/log");
  second.replication.patience_ms = 300;
  std::vector<Following> rounds;
  constexpr std::size_t kBusyRounds = 30;
  second.replication.follow = [&](const Following& state) {
    rounds.push_back(state);
    if (rounds.size() > kBusyRounds) return FollowNext::follow;
    CHECK(state.idle_ms < 300);
    leader.heartbeat(0);
    return FollowNext::follow;
  };
  const std::string path = folder.file("second.db");
  const auto led = lead(path, second.replication);
  REQUIRE(led);
  CHECK(rounds.size() > kBusyRounds);
  CHECK(rounds[kBusyRounds].leader == "here:1");
  CHECK(rounds[kBusyRounds].at == leader.position());
  CHECK((*led)->position().epoch == leader.position().epoch + 1);
  CHECK(pages_of(path) == pages_of(ledger.database->path()));
  CHECK(first.ends.empty());
  leader.heartbeat(0);
  REQUIRE(first.ends.size() == 1);
  CHECK(first.ends[0].result == AppendResult::fenced);
}

TEST_CASE("joining: the leader that starts again leads at once, unless another one has led since") {
  const TemporaryFolder folder;
  const std::string path = folder.file("first.db");
  LogOfMachine first(folder.path() + "/log");
  REQUIRE(lead(path, first.replication));  // and ends
  int rounds = 0;
  const auto leads_at_once = [&](const std::string& file) {
    LogOfMachine machine(folder.path() + "/log");
    machine.replication.patience_ms = kNoEnd;
    rounds = 0;
    machine.replication.follow = [&](const Following&) {
      return ++rounds < 10 ? FollowNext::follow : FollowNext::stop;
    };
    const auto led = lead(file, machine.replication);
    if (!led) CHECK(led.error().slug == Slug::overloaded);
    return led.has_value();
  };
  CHECK(leads_at_once(path));
  CHECK(leads_at_once(path));
  CHECK(rounds <= 2);
  SECTION("a machine that has never led") { CHECK_FALSE(leads_at_once(folder.file("second.db"))); }
  SECTION("a copy of the files, as on another machine") {
    const std::string copy = folder.file("copy.db");
    copy_files(path, copy);
    fs::copy_file(path + kLoggedEnding, copy + kLoggedEnding);
    CHECK_FALSE(leads_at_once(copy));
    CHECK(leads_at_once(path));
  }
  SECTION("after another one has led") {
    LogOfMachine other(folder.path() + "/log");
    REQUIRE(lead(folder.file("second.db"), other.replication));
    CHECK_FALSE(leads_at_once(path));
    CHECK(leads_at_once(folder.file("second.db")));
  }
  SECTION("after a restart of the machine") {
    std::fstream mark(path + kLoggedEnding);
    mark.seekp(-1, std::ios::end);
    mark.put('x');
    mark.close();
    CHECK_FALSE(leads_at_once(path));
  }
}

TEST_CASE("joining: what a power cut leaves of the mark changes nothing while the log has it all") {
  const TemporaryFolder folder;
  LogOfMachine first(folder.path() + "/log");
  SmallLedger ledger({}, first.options());
  ledger.pay_and_settle(ledger.transfer("a", 1));
  const std::string left = folder.file("left.db");
  for (const char* mark : {"", "\xff\xff", "old", "0123456701234567 and more"}) {
    INFO(mark);
    copy_files(ledger.database->path(), left);
    std::ofstream(left + kLoggedEnding) << mark;
    LogOfMachine again(folder.path() + "/log");
    const auto joined = Follower::join(left, again.log, shared_keys());
    REQUIRE(joined);
    CHECK((*joined)->tail().at == ledger.database->leader()->position());
    CHECK(pages_of(left) == pages_of(ledger.database->path()));
  }
}

TEST_CASE("joining: a machine that cannot read the log does not lead, and can be stopped") {
  const TemporaryFolder folder;
  LogOfMachine first(folder.path() + "/log");
  const SmallLedger ledger({}, first.options());
  LogOfMachine second(folder.path() + "/log");
  second.replication.patience_ms = 100;
  std::int64_t since = 0;
  second.replication.follow = [&](const Following&) {
    second.log.is_reachable = false;
    if (since == 0) since = boot_ms();
    return boot_ms() - since < 400 ? FollowNext::follow : FollowNext::stop;
  };
  const auto led = lead(folder.file("second.db"), second.replication);
  REQUIRE_FALSE(led);
  CHECK(led.error().slug == Slug::overloaded);
  CHECK(first.log.tail().value().at == ledger.database->leader()->position());
}

TEST_CASE("joining: a machine that starts waits until the log can be read") {
  const TemporaryFolder folder;
  LogOfMachine first(folder.path() + "/log");
  SmallLedger ledger({}, first.options());
  LogOfMachine second(folder.path() + "/log");
  second.replication.patience_ms = 1;
  second.log.is_reachable = false;
  int rounds = 0;
  second.replication.follow = [&](const Following&) {
    if (++rounds == 3) second.log.is_reachable = true;
    return FollowNext::follow;
  };
  CHECK(lead(folder.file("second.db"), second.replication));
  CHECK(rounds > 3);

  LogOfMachine third(folder.path() + "/log");
  third.log.is_reachable = false;
  third.replication.follow = [](const Following&) { return FollowNext::stop; };
  const auto stopped = lead(folder.file("third.db"), third.replication);
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().slug == Slug::overloaded);
}

TEST_CASE("joining: a follower notices that the engine has lost what its file has") {
  const TemporaryFolder folder;
  LogOfMachine first(folder.path() + "/log");
  SmallLedger ledger({}, first.options());
  ledger.pay_and_settle(ledger.transfer("a", 1));
  LogOfMachine second(folder.path() + "/log");
  second.replication.patience_ms = 1;
  bool lost = false;
  second.replication.follow = [&](const Following& state) {
    if (state.idle_ms > 0 && !std::exchange(lost, true))
      fs::remove(last_entry(folder.path() + "/log"));
    return FollowNext::follow;
  };
  const std::string path = folder.file("second.db");
  const auto led = lead(path, second.replication);
  REQUIRE_FALSE(led);
  CHECK(led.error().slug == Slug::conflict);
  CHECK(led.error().detail.find("the log ends with") != std::string::npos);
  CHECK(pages_of(path) == pages_of(ledger.database->path()));
}

TEST_CASE("joining: a candidate that another one has fenced follows that one") {
  const TemporaryFolder folder;
  LogOfMachine first(folder.path() + "/log");
  {
    SmallLedger ledger({}, first.options());
    ledger.pay_and_settle(ledger.transfer("a", 1));
  }
  LogOfMachine second(folder.path() + "/log");
  LogOfMachine third(folder.path() + "/log");
  std::unique_ptr<Leader> other;
  int rounds = 0;
  second.replication.follow = [&](const Following& state) {
    ++rounds;
    if (other) CHECK(state.leader == "here:1");
    // After it has read the whole log, and before it appends its takeover.
    if (!other && state.idle_ms > 0) {
      other = lead(folder.file("third.db"), third.replication).value();
    }
    return rounds < 1'000 ? FollowNext::follow : FollowNext::stop;
  };
  second.replication.patience_ms = 1;
  const auto led = lead(folder.file("second.db"), second.replication);
  REQUIRE(other);
  // The other one is silent as well.
  REQUIRE(led);
  CHECK((*led)->position().epoch == other->position().epoch + 1);
}

TEST_CASE("joining: a machine that is promoted leads at once, and the other one notices") {
  const TemporaryFolder folder;
  LogOfMachine first(folder.path() + "/log");
  SmallLedger ledger({}, first.options());
  Leader& leader = *ledger.database->leader();
  LogOfMachine second(folder.path() + "/log");
  second.replication.patience_ms = kNoEnd;
  second.replication.leader.lease_ms = 400;
  second.replication.leader.heartbeat_ms = 20;  // both machines share the lease of this process
  int rounds = 0;
  second.replication.follow = [&](const Following&) {
    if (++rounds > 6) return FollowNext::lead;
    leader.heartbeat(0);  // at first, another one after each attempt to lead
    return rounds < 5 ? FollowNext::follow : FollowNext::lead;
  };
  const std::int64_t began = boot_ms();
  const auto led = lead(folder.file("second.db"), second.replication);
  REQUIRE(led);
  CHECK(boot_ms() - began >= 400);  // the other one may act until its lease is over
  CHECK((*led)->position().epoch == leader.position().epoch + 1);
  leader.heartbeat(0);
  CHECK(first.ends.size() == 1);
}

}  // namespace joining_test
