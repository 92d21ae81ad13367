// The driver `postgres` of the shared log, with real servers: a primary and a standby, for which
// commits wait.
#include "store/replication/postgres_log.h"

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "source_dir.h"
#include "store/replication/replica.h"
#include "support/held_port.h"
#include "unit/store/replication/log_conformance.h"
#include "unit/store/replication/replicated_files.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace postgres_log_test {
namespace {

/// The output of tests/support/postgres.sh.
std::string script(const std::string& words, int expected = 0) {
  const std::string line = std::string(COFFER_SOURCE_DIR) + "/tests/support/postgres.sh " + words;
  FILE* const pipe = ::popen(line.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string out;
  for (std::array<char, 4096> part{};;) {
    const std::size_t count = std::fread(part.data(), 1, part.size(), pipe);
    if (count == 0) break;
    out.append(part.data(), count);
  }
  const int status = ::pclose(pipe);
  INFO(line);
  REQUIRE(WEXITSTATUS(status) == expected);
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

/// A primary and its standby, for all tests of this process.
class Servers {
 public:
  Servers() {
    ::setenv("PGPORT", port().c_str(), 1);
    script("primary " + primary() + " 'synchronous_standby_names=ANY 1 (standby)'" +
           " listen_addresses=127.0.0.1 port=" + port());
    script("standby " + standby() + ' ' + primary());
    wait_for("SELECT sync_state FROM pg_stat_replication", "quorum");
  }
  ~Servers() {
    std::system((std::string(COFFER_SOURCE_DIR) + "/tests/support/postgres.sh stop " + standby() +
                 "; " + COFFER_SOURCE_DIR + "/tests/support/postgres.sh stop " + primary())
                    .c_str());
  }

  std::string primary() const { return folder_.path() + "/primary"; }
  std::string standby() const { return folder_.path() + "/standby"; }
  std::string port() const { return std::to_string(port_.number()); }
  std::string url() const {
    return "postgres://coffer@/postgres?host=" + primary() + "&port=" + port();
  }
  std::string network_url(const std::string& host = "log.test",
                          const std::string& user = "coffer") const {
    return "postgres://" + user + '@' + host + ':' + port() + "/postgres";
  }
  std::string certificate() const { return primary() + "/data/server.crt"; }

  std::string sql(const std::string& statement) const {
    return script("sql " + primary() + " \"" + statement + '"');
  }
  /// Until the statement has this result.
  void wait_for(const std::string& statement, const std::string& expected) const {
    for (int i = 0; i < 500; ++i) {
      if (sql(statement) == expected) return;
    }
    FAIL(statement + " is not " + expected);
  }
  /// Sets a value of the configuration, or resets it.
  void configure(const std::string& name, const std::string& value) const {
    sql("ALTER SYSTEM SET " + name + " = '" + value + "'");
    sql("SELECT pg_reload_conf()");
    wait_for("SHOW " + name, value);
  }
  void restore(const std::string& name, const std::string& value) const {
    sql("ALTER SYSTEM RESET " + name);
    sql("SELECT pg_reload_conf()");
    wait_for("SHOW " + name, value);
  }

 private:
  const TemporaryFolder folder_;
  const coffer::test::HeldPort port_;
};

Servers& servers() {
  static Servers out;
  return out;
}

/// All names are this machine.
Result<std::vector<std::string>> here(const std::string& host) {
  if (host == "unknown.test") return unexpected(Slug::provider_unavailable, "no address");
  return std::vector<std::string>{"::1", "127.0.0.1"};  // nothing listens at the first one
}

LogPlace place_of(const std::string& url) { return {.where = url, .resolve = here}; }

std::string new_ledger() {
  OsRandom random;
  return to_hex(random.bytes(16));
}

std::unique_ptr<ReplicaLog> open_log(const std::string& ledger, LogPlace place) {
  auto log = PostgresLog::open(ledger, std::move(place));
  INFO((log ? "" : log.error().detail));
  REQUIRE(log);
  return *std::move(log);
}
std::unique_ptr<ReplicaLog> open_log(const std::string& ledger) {
  return open_log(ledger, place_of(servers().url()));
}

}  // namespace

TEST_CASE("postgres log: conforms") {
  LogPlace over_tls = place_of(servers().network_url());
  over_tls.ca_bundle = servers().certificate();
  for (const LogPlace& place : {place_of(servers().url()), over_tls}) {
    for (const LogCase& one : kLogCases) {
      INFO(one.name);
      const std::string ledger = new_ledger();
      const auto first = open_log(ledger, place);
      const auto second = open_log(ledger, place);
      LogMachine a(*first);
      LogMachine b(*second);
      one.run(a, b);
    }
  }
}

TEST_CASE("postgres log: a read may end before its limit, and before the end of the log") {
  constexpr std::size_t kMany = 6'000;
  const auto log = open_log(new_ledger());
  LogMachine a(*log);
  LogMachine b(*log);
  check_reads(a, b, kMany);
  CHECK(log->read_from(1, 1 << 20).value().size() < kMany);
}

TEST_CASE("postgres log: the primary key alone does not fence") {
  const std::string ledger = new_ledger();
  const auto log = open_log(ledger);
  LogMachine a(*log);
  CHECK(a.append(EntryKind::takeover) == AppendResult::stored);
  LogMachine b(*log);
  b.follow();
  CHECK(b.append(EntryKind::takeover) == AppendResult::stored);
  for (int i = 0; i < 3; ++i) CHECK(b.append(EntryKind::data) == AppendResult::stored);
  CHECK(log->truncate(4));
  CHECK(a.append(EntryKind::data) == AppendResult::fenced);
  // The control: the table accepts the same entry.
  CHECK(servers().sql("INSERT INTO coffer_log SELECT ledger, 2, 1, kind, digest, payload FROM "
                      "coffer_log WHERE ledger = '" +
                      ledger + "' AND seq = 4 RETURNING seq") == "2");
}

TEST_CASE("postgres log: of many candidates at a time, one wins each epoch") {
  const std::string ledger = new_ledger();
  constexpr int kCandidates = 4;
  for (int round = 0; round < 10; ++round) {
    std::vector<int> won(kCandidates, 0);
    std::vector<std::unique_ptr<ReplicaLog>> logs;
    for (int i = 0; i < kCandidates; ++i) logs.push_back(open_log(ledger));
    const LogTail tail = logs[0]->tail().value();
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < kCandidates; ++i) {
        threads.emplace_back([&, i] {
          OsRandom random;
          const EntryKeys keys(Secret(std::string(32, 'k')));
          // An empty log accepts a takeover at any place.
          EntryChain chain(keys, round == 0 ? LogTail{{i * 10, i}, {}} : tail);
          const std::vector<LogEntry> entries{chain.append(EntryKind::takeover, "x", random),
                                              chain.append(EntryKind::data, "y", random)};
          won[static_cast<std::size_t>(i)] =
              logs[static_cast<std::size_t>(i)]->append(entries).result == AppendResult::stored;
        });
      }
    }
    CHECK(std::ranges::count(won, 1) == 1);
  }
  CHECK(servers().sql("SELECT count(*) FROM coffer_log WHERE ledger = '" + ledger + "'") == "20");
}

TEST_CASE("postgres log: a cancelled wait for the quorum is not a success") {
  // A role can hide warnings.
  servers().sql("ALTER ROLE coffer SET client_min_messages = 'error'");
  const std::string ledger = new_ledger();
  const auto log = open_log(ledger);
  LogMachine a(*log);
  CHECK(a.append(EntryKind::takeover) == AppendResult::stored);
  script("stop " + servers().standby());
  AppendResult result = AppendResult::stored;
  {
    std::jthread appending([&] { result = a.append(EntryKind::data); });
    servers().wait_for("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'", "1");
    servers().sql(
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
  }
  CHECK(result == AppendResult::unknown);
  // The control: for the server, it was a success.
  CHECK(servers().sql("SELECT count(*) FROM coffer_log WHERE ledger = '" + ledger + "'") == "2");
  script("start " + servers().standby());
  servers().wait_for("SELECT sync_state FROM pg_stat_replication", "quorum");
  servers().sql("ALTER ROLE coffer RESET client_min_messages");
}

TEST_CASE("postgres log: without a standby, an append ends with an unknown result") {
  const auto log = open_log(new_ledger());
  LogMachine a(*log);
  CHECK(a.append(EntryKind::takeover) == AppendResult::stored);
  script("stop " + servers().standby());
  const auto other = open_log(new_ledger());  // not refused: the standby may return
  CHECK_THAT(other->tail().error().detail, Catch::Contains("no standby is connected"));
  CHECK(other->tail().error().slug == Slug::provider_unavailable);
  CHECK(a.append(EntryKind::data) == AppendResult::unknown);
  script("start " + servers().standby());
  servers().wait_for("SELECT sync_state FROM pg_stat_replication", "quorum");
  CHECK(other->tail());
}

TEST_CASE(
    "postgres log: a lost connection is an unknown result, and the next call connects again") {
  const auto log = open_log(new_ledger());
  LogMachine a(*log);
  CHECK(a.append(EntryKind::takeover) == AppendResult::stored);
  servers().sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'coffer'");
  CHECK(a.append(EntryKind::data) == AppendResult::unknown);
  CHECK(a.end() == 1);
  CHECK(a.append(EntryKind::data) == AppendResult::stored);
}

TEST_CASE("postgres log: a server that can lose entries is refused with the reason") {
  struct Danger {
    const char* name;
    const char* value;
    const char* sound;
    const char* reason;
  };
  for (const Danger& one :
       {Danger{"fsync", "off", "on", "fsync is off"},
        Danger{"synchronous_commit", "off", "on", "synchronous_commit is off"},
        Danger{"synchronous_commit", "local", "on", "synchronous_commit is local"},
        Danger{"synchronous_commit", "remote_write", "on", "synchronous_commit is remote_write"},
        Danger{"synchronous_standby_names", "", "ANY 1 (standby)",
               "synchronous_standby_names is empty"}}) {
    INFO(one.name << " = " << one.value);
    servers().configure(one.name, one.value);
    const auto log = PostgresLog::open(new_ledger(), place_of(servers().url()));
    LogPlace trial = place_of(servers().url());
    trial.is_unsafe = true;
    const auto accepted = PostgresLog::open(new_ledger(), trial);
    CHECK(accepted);
    if (accepted) CHECK(LogMachine(**accepted).append(EntryKind::takeover) == AppendResult::stored);
    servers().restore(one.name, one.sound);
    REQUIRE_FALSE(log);
    CHECK(log.error().slug == Slug::validation_failed);
    CHECK_THAT(log.error().detail, Catch::Contains(one.reason));
  }
  const auto sound = PostgresLog::open(new_ledger(), place_of(servers().url()));
  CHECK(sound);
}

TEST_CASE("postgres log: a role whose commits do not wait is refused") {
  servers().sql("ALTER ROLE coffer SET synchronous_commit = 'off'");
  const auto log = PostgresLog::open(new_ledger(), place_of(servers().url()));
  servers().sql("ALTER ROLE coffer RESET synchronous_commit");
  REQUIRE_FALSE(log);
  CHECK_THAT(log.error().detail, Catch::Contains("synchronous_commit is off"));
}

TEST_CASE("postgres log: a quorum that is taken away stops appends on open connections") {
  const auto log = open_log(new_ledger());
  LogMachine a(*log);
  CHECK(a.append(EntryKind::takeover) == AppendResult::stored);
  servers().configure("synchronous_standby_names", "");
  AppendResult result = AppendResult::stored;
  for (int i = 0; i < 100 && result == AppendResult::stored; ++i) {
    result = a.append(EntryKind::heartbeat);
  }
  servers().restore("synchronous_standby_names", "ANY 1 (standby)");
  CHECK(result == AppendResult::fenced);
}

TEST_CASE("postgres log: a reload does not weaken an open connection") {
  const std::string ledger = new_ledger();
  const auto log = open_log(ledger);
  LogMachine a(*log);
  CHECK(a.append(EntryKind::takeover) == AppendResult::stored);
  servers().configure("synchronous_commit", "off");
  script("stop " + servers().standby());
  CHECK(a.append(EntryKind::data) == AppendResult::unknown);
  script("start " + servers().standby());
  servers().restore("synchronous_commit", "on");
  servers().wait_for("SELECT sync_state FROM pg_stat_replication", "quorum");
}

TEST_CASE("postgres log: a standby is not the log") {
  const std::string standby =
      "postgres://coffer@/postgres?host=" + servers().standby() + "&port=" + servers().port();
  const auto alone = open_log(new_ledger(), place_of(standby));
  CHECK_THAT(alone->tail().error().detail, Catch::Contains("standby"));
  // Of several servers, the primary is used.
  const auto both =
      open_log(new_ledger(), place_of("postgres://coffer@/postgres?host=" + servers().standby() +
                                      ',' + servers().primary() + "&port=" + servers().port()));
  CHECK(both->tail());
}

TEST_CASE("postgres log: over the network, the server must prove its name") {
  const auto tail_of = [](LogPlace place) {
    return open_log(new_ledger(), std::move(place))->tail();
  };
  LogPlace place = place_of(servers().network_url());
  place.ca_bundle = servers().certificate();
  CHECK(tail_of(place));
  place.where = servers().network_url("other.test");
  CHECK_THAT(tail_of(place).error().detail, Catch::Contains("does not match host name"));
  place.where = servers().network_url("unknown.test");
  CHECK_THAT(tail_of(place).error().detail, Catch::Contains("no address"));
  place.where = servers().network_url() + "?sslrootcert=/etc/ssl/certs/ca-certificates.crt";
  CHECK_THAT(tail_of(place).error().detail, Catch::Contains("certificate verify failed"));
  place.where = servers().network_url() + "?sslmode=require";
  const auto weak = PostgresLog::open(new_ledger(), place);
  REQUIRE_FALSE(weak);
  CHECK_THAT(weak.error().detail, Catch::Contains("does not verify the server"));
  place.is_unsafe = true;
  CHECK(tail_of(place));
}

TEST_CASE("postgres log: a role with a password that may only use the table") {
  (void)open_log(new_ledger());  // creates the table
  servers().sql("CREATE ROLE locked LOGIN PASSWORD 'correct horse'");
  servers().sql("GRANT ALL ON coffer_log TO locked");
  LogPlace place = place_of(servers().network_url("log.test", "locked"));
  place.ca_bundle = servers().certificate();
  CHECK_THAT(open_log(new_ledger(), place)->tail().error().detail, Catch::Contains("no password"));
  place.password = Secret("wrong");
  CHECK_THAT(open_log(new_ledger(), place)->tail().error().detail,
             Catch::Contains("password authentication failed"));
  place.password = Secret("correct horse");
  const auto log = open_log(new_ledger(), place);
  LogMachine a(*log);
  CHECK(a.append(EntryKind::takeover) == AppendResult::stored);
  CHECK(a.log.truncate(1));
}

TEST_CASE("postgres log: variables for other programs of PostgreSQL change nothing") {
  LogPlace over_tls = place_of(servers().network_url());
  over_tls.ca_bundle = servers().certificate();
  using Variable = std::pair<const char*, const char*>;
  for (const auto& [name, value] :
       {Variable{"PGOPTIONS", "-c synchronous_commit=off"}, Variable{"PGHOSTADDR", "192.0.2.1"},
        Variable{"PGSERVICE", "none"}, Variable{"PGREQUIREPEER", "other"},
        Variable{"PGSSLMAXPROTOCOLVERSION", "TLSv1"}, Variable{"PGSSLCRL", "/nonexistent"},
        Variable{"PGCHANNELBINDING", "require"}, Variable{"PGGSSENCMODE", "require"}}) {
    INFO(name);
    for (const LogPlace& place : {place_of(servers().url()), over_tls}) {
      ::setenv(name, value, 1);
      const auto log = PostgresLog::open(new_ledger(), place);
      const bool appends =
          log && LogMachine(**log).append(EntryKind::takeover) == AppendResult::stored;
      ::unsetenv(name);
      INFO((log ? "" : log.error().detail));
      CHECK(appends);
    }
  }
}

TEST_CASE("postgres log: what is truncated is gone, and a machine that needs it asks for a seed") {
  OsRandom random;
  const Secret root(random.bytes(32));
  const EntryKeys keys(root);
  const auto replica = Replica::open(place_of(servers().url()), root, "here:1", random).value();
  Replication& with = replica->replication();
  with.patience_ms = 0;
  with.leader.lease_ms = kNoEnd;
  with.leader.heartbeat_ms = 0;
  DatabaseOptions options;
  options.replication = &with;
  SmallLedger ledger({}, options);
  const std::string away = ledger.folder.file("away.db");
  ledger.pay_and_settle(ledger.transfer("a", 1));
  copy_files(ledger.database->path(), away);
  const auto log = open_log(keys.ledger());
  const auto slow = Follower::join(ledger.folder.file("slow.db"), *log, keys).value();
  CHECK(slow->step());
  for (const char* id : {"b", "c"}) ledger.pay_and_settle(ledger.transfer(id, 1));
  const std::int64_t end = ledger.database->leader()->position().seq;
  CHECK(ledger.database->leader()->truncate(end));
  const auto rows = [&](const std::string& which) {
    return servers().sql("SELECT count(*) FROM coffer_log WHERE ledger = '" + keys.ledger() +
                         "' AND seq " + which);
  };
  CHECK(rows("< " + std::to_string(end)) == "0");
  CHECK(rows(">= " + std::to_string(end)) == "1");
  ledger.pay_and_settle(ledger.transfer("d", 1));  // the leader goes on

  const auto step = slow->step();
  const auto joined = Follower::join(away, *log, keys);
  const auto joined_new = Follower::join(ledger.folder.file("new.db"), *log, keys);
  const std::array found{step ? Problem() : step.error(), joined ? Problem() : joined.error(),
                         joined_new ? Problem() : joined_new.error()};
  for (const Problem& problem : found) {
    CHECK(problem.slug == Slug::not_found);
    CHECK_THAT(problem.detail, Catch::Contains("coffer replica seed --from"));
  }
  const std::string seed = ledger.folder.file("seed.db");
  copy_files(ledger.database->path(), seed);
  CHECK(check_seed(seed, *log, keys));
  const auto seeded = Follower::join(seed, *log, keys);
  REQUIRE(seeded);
  CHECK((*seeded)->tail().at == ledger.database->leader()->position());
}

TEST_CASE("postgres log: invalid URLs") {
  struct Wrong {
    const char* url;
    const char* reason;
  };
  for (const Wrong& one :
       {Wrong{"postgres://coffer:secret@db.test/coffer", "replicate_password_file"},
        Wrong{"postgres://coffer@db.test/coffer?options=-c", "options is not supported"},
        Wrong{"postgres://coffer@db.test/coffer?nonsense=1", "nonsense"},
        Wrong{"postgres://db.test/coffer", "a user and a database"},
        Wrong{"postgres://coffer@db.test", "a user and a database"},
        Wrong{"postgres://coffer@db.test/coffer?sslmode=disable", "does not verify"},
        Wrong{"postgres://coffer@127.db.test/coffer?sslmode=disable", "does not verify"},
        Wrong{"postgres://coffer@localhost,db.test/coffer?sslmode=prefer", "does not verify"}}) {
    INFO(one.url);
    const auto log = PostgresLog::open(new_ledger(), place_of(one.url));
    REQUIRE_FALSE(log);
    CHECK(log.error().slug == Slug::validation_failed);
    CHECK_THAT(log.error().detail, Catch::Contains(one.reason));
    CHECK(log.error().detail.find("secret@") == std::string::npos);
  }
}

}  // namespace postgres_log_test
