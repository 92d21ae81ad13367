// Lanes over the wire: waiting requests hold no worker, rejected ones get a response, and idle
// connections and incomplete bodies block no other requests.

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <deque>
#include <optional>

#include "base/thread.h"
#include "http/wire/connection_table.h"
#include "http/wire/memory_budget.h"
#include "raw_client.h"
#include "running_server.h"

using namespace coffer;
using namespace coffer::http;
using namespace coffer::http::test;

namespace {

/// `/LANE/CALLER` is a request of that lane by that caller.
Result<Admission> by_path(const Request& head, std::uint64_t) {
  Admission out;
  const std::size_t slash = head.path.find('/', 1);
  const std::string lane = head.path.substr(1, slash - 1);
  for (std::size_t i = 0; i < kLaneCount; ++i) {
    if (name(static_cast<Lane>(i)) == lane) out.lane = static_cast<Lane>(i);
  }
  if (slash != std::string::npos) out.caller = {std::hash<std::string>()(head.path), true};
  return out;
}

constexpr int kWidth = 2;
constexpr int kQueue = 3;
constexpr int kQueueShare = 2;

/// Requests of the lane `held` stay in their handler until `gate` opens.
class LanedServer {
 public:
  explicit LanedServer(int lane_wait_ms = 60'000, Lane held = Lane::read)
      : server_(
            [&](ServerOptions& options) {
              for (LaneLimits& lane : options.lanes) {
                lane = {lane.name, kWidth, kQueue, kWidth, kQueueShare};
              }
              options.workers = static_cast<std::size_t>(total_width(options.lanes));
              options.admit = by_path;
              options.limits.lane_wait_ms = lane_wait_ms;
            },
            [this, held](Request& request) {
              if (by_path(request, 0)->lane == held) gate.wait();
              return echo(request);
            }),
        held_(held) {}
  ~LanedServer() { gate.open(); }

  RunningServer& operator*() { return server_; }
  int port() const { return server_.port(); }
  LaneStats stats(Lane lane) { return server_->stats().lanes[static_cast<std::size_t>(lane)]; }
  bool reaches(int running, int waiting) {
    return server_.eventually([&](const ServerStats& stats) {
      const LaneStats& lane = stats.lanes[static_cast<std::size_t>(held_)];
      return lane.running == running && lane.waiting == waiting;
    });
  }

  Gatekeeper gate;

 private:
  RunningServer server_;
  const Lane held_;
};

}  // namespace

TEST_CASE("server lanes: a full lane waits parked, and every other lane is served") {
  LanedServer server;
  std::deque<RawClient> held;
  for (int i = 0; i < kWidth + kQueue; ++i) {
    held.emplace_back(server.port()).send(get("/read/" + std::to_string(i)));
    REQUIRE(server.reaches(std::min(i + 1, kWidth), std::max(0, i + 1 - kWidth)));
  }
  CHECK((*server)->stats().busy == kWidth);  // those that wait hold no worker
  RawClient other(server.port());
  for (std::size_t i = 0; i < kLaneCount; ++i) {
    const auto lane = static_cast<Lane>(i);
    if (lane == Lane::read) continue;
    for (int n = 0; n < 3 * kWidth; ++n) {
      other.send(get("/" + std::string(name(lane)) + "/a"));
      CHECK(status_of(other.read_response()) == 200);
    }
    CHECK(server.stats(lane).rejected == 0);
  }
  // Another request of the same lane is rejected, and its connection stays usable.
  other.send(get("/read/late", "X-Request-Id: late\r\n"));
  const std::string rejected = other.read_response();
  CHECK(status_of(rejected) == 503);
  CHECK(has(rejected, R"("code":"overloaded")"));
  CHECK(has(rejected, "\r\nRetry-After: 1\r\n"));
  CHECK(has(rejected, "\r\nX-Request-Id: late\r\n"));
  CHECK(server.stats(Lane::read).rejected == 1);
  server.gate.open();
  for (RawClient& client : held) CHECK(status_of(client.read_response()) == 200);
  other.send(get("/read/late"));
  CHECK(status_of(other.read_response()) == 200);
}

TEST_CASE("server lanes: a caller whose share of the queue is full gets 429, another waits") {
  LanedServer server;
  std::deque<RawClient> held;
  for (int i = 0; i < kWidth + kQueueShare; ++i) {
    held.emplace_back(server.port()).send(get("/read/same"));
    REQUIRE(server.reaches(std::min(i + 1, kWidth), std::max(0, i + 1 - kWidth)));
  }
  RawClient same(server.port());
  same.send(get("/read/same"));
  const std::string rejected = same.read_response();
  CHECK(status_of(rejected) == 429);
  CHECK(has(rejected, R"("code":"rate_limited")"));
  CHECK(has(rejected, "\r\nRetry-After: 1\r\n"));
  held.emplace_back(server.port()).send(get("/read/other"));
  REQUIRE(server.reaches(kWidth, kQueueShare + 1));
  server.gate.open();
  for (RawClient& client : held) CHECK(status_of(client.read_response()) == 200);
}

TEST_CASE("server lanes: a request that waits too long gets a response") {
  LanedServer server(100);
  std::deque<RawClient> held;
  for (int i = 0; i < kWidth; ++i) held.emplace_back(server.port()).send(get("/read/a"));
  REQUIRE(server.reaches(kWidth, 0));
  RawClient waiting(server.port());
  waiting.send(get("/read/b"));
  const std::string rejected = waiting.read_response();
  CHECK(status_of(rejected) == 503);
  CHECK(has(rejected, "waited too long"));
  waiting.send(get("/system/b"));
  CHECK(status_of(waiting.read_response()) == 200);
}

TEST_CASE("server lanes: more requests than the lanes are wide, in bursts, lose nothing") {
  LanedServer server(60'000, Lane::bulk);  // nothing is held
  constexpr int kClients = 6;
  constexpr int kRounds = 100;
  std::atomic<int> good{0}, told{0};
  std::vector<Thread> threads;
  for (int t = 0; t < kClients; ++t) {
    threads.emplace_back("client", [&, t] {
      RawClient client(server.port());
      for (int i = 0; i < kRounds; ++i) {
        const std::string path = "/read/" + std::to_string(t % 3);
        client.send(get(path) + get(path) + get("/money/" + std::to_string(t)));
        for (int n = 0; n < 3; ++n) {
          const int status = status_of(client.read_response());
          if (status == 200) ++good;
          if (status == 503 || status == 429) ++told;
        }
      }
    });
  }
  for (Thread& thread : threads) thread.join();
  CHECK(good + told == 3 * kClients * kRounds);
  CHECK(good > kClients * kRounds);
  CHECK(server.stats(Lane::read).running == 0);
  CHECK(server.stats(Lane::money).waiting == 0);
}

TEST_CASE("server lanes: a stop responds to waiting requests or closes them, and never hangs") {
  LanedServer server;
  std::deque<RawClient> held;
  for (int i = 0; i < kWidth + 2; ++i) held.emplace_back(server.port()).send(get("/read/a"));
  REQUIRE(server.reaches(kWidth, 2));
  Thread stopping("stopping", [&] { (*server)->stop(50); });
  CHECK((*server).eventually([](const ServerStats& stats) { return stats.connections == kWidth; }));
  server.gate.open();
  stopping.join();
  CHECK(server.stats(Lane::read).waiting == 0);
  CHECK((*server)->stats().connections == 0);
}

TEST_CASE("the connection that has been idle for longest is closed for a new one") {
  constexpr std::size_t kMax = 8;
  RunningServer server([](ServerOptions& options) {
    options.limits.connections_max = kMax;
    options.limits.header_ms = 60'000;
    options.limits.incomplete_ms = 60'000;
  });
  RawClient half(server.port());  // the oldest, with an incomplete request
  half.send("GET /fi");
  REQUIRE(server.eventually([](const ServerStats& stats) { return stats.connections == 1; }));
  std::deque<RawClient> idle;
  for (std::size_t i = 1; i < kMax; ++i) idle.emplace_back(server.port());
  REQUIRE(server.eventually([](const ServerStats& stats) { return stats.connections == kMax; }));
  // While they count as in use, new connections are rejected; then each new one replaces one.
  std::deque<RawClient> newcomers;
  const auto served = [&] {
    RawClient& client = newcomers.emplace_back(server.port());
    client.send(get("/fixed"));
    const bool is_served = status_of(client.read_response()) == 200;
    if (!is_served) newcomers.pop_back();
    return is_served;
  };
  for (std::size_t i = 1; i < kMax; ++i) {
    while (!served()) continue;
  }
  CHECK(server->stats().evicted == kMax - 1);
  half.send("xed HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(body_of(half.read_response()) == "ok");
}

TEST_CASE("a connection in use is not closed for a new one") {
  RunningServer server([](ServerOptions& options) { options.limits.connections_max = 1; });
  RawClient used(server.port());
  used.send(get("/fixed"));
  REQUIRE(status_of(used.read_response()) == 200);
  RawClient another(server.port());
  another.send(get("/fixed"));
  CHECK(status_of(another.read_response()) == 503);
  used.send(get("/fixed"));
  CHECK(status_of(used.read_response()) == 200);
}

TEST_CASE(
    "connections are closed in order: idle, idle after a response, incomplete; oldest first") {
  constexpr int kNoSocket = -1;
  ConnectionTable table(200, 0);
  std::vector<Connection*> opened;
  for (std::int64_t i = 0; i < 100; ++i) {
    const std::int64_t since_ms = 1 + i * 37 % 100;  // each of 1 to 100, in another order
    opened.push_back(table.open(kNoSocket, "192.0.2.1", since_ms, 1'000));
  }
  for (Connection* connection : opened) {
    const std::int64_t since_ms = connection->idle_since_ms();
    if (since_ms % 4 == 1) connection->set_answered(true);
    if (since_ms % 4 < 2) continue;
    connection->set_idle_since_ms(0);
    if (since_ms % 4 == 2) connection->set_incomplete_since_ms(since_ms);
  }
  const auto order = [&](std::uint64_t token) {
    const Connection& connection = *table.find(token);
    const std::int64_t idle_ms = connection.idle_since_ms();
    if (idle_ms == 0) return std::pair<int, std::int64_t>{2, connection.incomplete_since_ms()};
    return std::pair<int, std::int64_t>{connection.is_answered() ? 1 : 0, idle_ms};
  };
  std::vector<std::uint64_t> found = table.first_to_close(1'000, 1'000, 1'000);
  CHECK(found.size() == 75);  // 25 do not wait
  CHECK(std::is_sorted(found.rbegin(), found.rend(),
                       [&](auto a, auto b) { return order(a) < order(b); }));
  CHECK(table.first_to_close(20, 1'000, 1'000) ==
        std::vector<std::uint64_t>(found.end() - 20, found.end()));
  CHECK(table.first_to_close(1'000, 0, 1'000).size() == 25);
  CHECK(table.first_to_close(1'000, 1'000, 0).size() == 50);
  CHECK(table.first_to_close(1'000, 8, 0).size() == 4);  // 1, 4, 5 and 8
  for (Connection* connection : opened) table.release(*connection);
}

TEST_CASE("a request that has just begun is not interrupted for a new connection") {
  constexpr std::size_t kMax = 4;
  RunningServer server([](ServerOptions& options) {
    options.limits.connections_max = kMax;
    options.limits.header_ms = 60'000;
    options.limits.incomplete_ms = 60'000;
  });
  std::deque<RawClient> half;
  for (std::size_t i = 0; i < kMax; ++i) half.emplace_back(server.port()).send("GET /fixed");
  REQUIRE(server.eventually([](const ServerStats& stats) { return stats.connections == kMax; }));
  RawClient late(server.port());
  late.send(get("/fixed"));
  CHECK(status_of(late.read_all()) == 503);
  CHECK(server->stats().evicted == 0);
  for (RawClient& client : half) {
    client.send(" HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(status_of(client.read_response()) == 200);
  }
}

namespace {

/// New connections that the server has served; each is tried until there is a place for it.
std::deque<RawClient> served_newcomers(const RunningServer& server, std::size_t count) {
  std::deque<RawClient> served;
  while (served.size() < count) {
    RawClient& client = served.emplace_back(server.port());
    client.send(get("/fixed"));
    if (status_of(client.read_response()) != 200) served.pop_back();
  }
  return served;
}

}  // namespace

TEST_CASE("an incomplete request is rejected to make room for a new connection") {
  constexpr std::size_t kMax = 4;
  RunningServer server([](ServerOptions& options) {
    options.limits.connections_max = kMax;
    options.limits.header_ms = options.limits.body_ms = options.limits.request_ms = 60'000;
    options.limits.incomplete_ms = 50;
  });
  const std::string part = GENERATE(
      as<std::string>(), "GET /fixed", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab");
  std::deque<RawClient> half;
  for (std::size_t i = 0; i < kMax; ++i) {
    half.emplace_back(server.port()).send(part);
    REQUIRE(server.eventually([&](const ServerStats& stats) { return stats.parked == i + 1; }));
  }
  const std::deque<RawClient> served = served_newcomers(server, kMax);
  CHECK(server->stats().evicted == kMax);
  for (RawClient& client : half) CHECK(status_of(client.read_all()) == 503);
}

TEST_CASE(
    "the limit of connections counts the addresses of one network together, except loopback") {
  ConnectionTable table(100, 2);
  std::vector<Connection*> opened;
  const auto is_over = [&](const char* peer) {
    opened.push_back(table.open(-1, peer, 1, 1'000));
    return !opened.back()->is_admitted();
  };
  CHECK_FALSE(is_over("2001:db8::1"));
  CHECK_FALSE(is_over("2001:db8::2"));
  CHECK(is_over("2001:db8::3"));
  CHECK_FALSE(is_over("2001:db8:0:1::1"));
  for (int i = 0; i < 2; ++i) CHECK_FALSE(is_over("192.0.2.1"));
  CHECK(is_over("192.0.2.1"));
  CHECK_FALSE(is_over("192.0.2.2"));
  for (int i = 0; i < 5; ++i) CHECK_FALSE(is_over("127.0.0.1"));
  for (Connection* connection : opened) table.release(*connection);
  CHECK_FALSE(is_over("2001:db8::9"));
  table.release(*opened.back());
}

TEST_CASE("rejected connections do not use other connections' places") {
  ConnectionTable table(4, 2);
  std::vector<Connection*> opened;
  const auto is_over = [&](const char* peer) {
    opened.push_back(table.open(-1, peer, 1, 1'000));
    return !opened.back()->is_admitted();
  };
  for (int i = 0; i < 10; ++i) CHECK(is_over("192.0.2.1") == (i >= 2));
  CHECK_FALSE(table.is_full());
  CHECK(table.first_to_close(100, 1'000, 0).size() == 2);
  for (int i = 0; i < 2; ++i) CHECK_FALSE(is_over("192.0.2.2"));
  CHECK(table.is_full());
  CHECK(is_over("192.0.2.3"));
  while (Connection* more = table.open(-1, "192.0.2.1", 1, 1'000)) opened.push_back(more);
  CHECK(table.count() == 4 + 64);
  for (Connection* connection : opened) table.release(*connection);
  CHECK(table.count() == 0);
  CHECK_FALSE(is_over("192.0.2.1"));
  table.release(*opened.back());
}

TEST_CASE("a connection is closed for a new one once its last response has been sent") {
  constexpr std::size_t kMax = 4;
  RunningServer server([](ServerOptions& options) {
    options.limits.connections_max = kMax;
    options.limits.linger_ms = 60'000;
  });
  std::deque<RawClient> rejected;
  for (std::size_t i = 0; i < kMax; ++i) {
    rejected.emplace_back(server.port()).send("nonsense\r\n\r\n");
    CHECK(status_of(rejected.back().read_response()) == 400);
  }
  const std::deque<RawClient> served = served_newcomers(server, kMax);
  CHECK(server->stats().evicted == kMax);
}

TEST_CASE("a request is rejected by its head, before its body uses memory") {
  RunningServer server([](ServerOptions& options) {
    options.limits.large_bodies_bytes_max = 1024 * 1024;
    options.admit = [](const Request& head, std::uint64_t body_bytes) -> Result<Admission> {
      Admission out;
      out.body_bytes_max = 1024 * 1024;
      const bool known = head.header("x-svc-auth") != nullptr;
      if (body_bytes > 64 * 1024 && !known) return unexpected(Slug::unauthorized, "Who is this?");
      return out;
    };
  });
  const std::string large = "POST /bulk HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n";
  const std::string chunked = "POST /bulk HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n";
  const std::string part = "14000\r\n" + std::string(80 * 1024, 'x') + "\r\n";
  for (int i = 0; i < 8; ++i) {
    RawClient stranger(server.port());
    stranger.send(large + "\r\n");
    CHECK(status_of(stranger.read_all()) == 401);
    RawClient in_chunks(server.port());
    in_chunks.send(chunked + "\r\n" + part);
    CHECK(status_of(in_chunks.read_all()) == 401);
  }
  RawClient known(server.port());
  known.send(large + "x-svc-auth: k\r\n\r\n" + std::string(1'000'000, 'x'));
  CHECK(status_of(known.read_response()) == 200);
  CHECK(server.eventually([](const ServerStats& stats) { return stats.busy == 0; }));
  CHECK(server->stats().lanes[static_cast<std::size_t>(Lane::system)].running == 0);
}

TEST_CASE("memory for large bodies: one budget, of which a caller gets at most a quarter") {
  MemoryBudget budget(1'000);
  using Grant = MemoryBudget::Grant;
  CHECK(budget.take({1}, 200) == Grant::given);
  CHECK(budget.take({1}, 100) == Grant::share_full);
  CHECK(budget.take({1}, 50) == Grant::given);
  CHECK(budget.take({2}, 700) == Grant::given);  // a first body of a caller may be larger
  CHECK(budget.take({3}, 100) == Grant::full);
  budget.give_back({1}, 50);
  CHECK(budget.take({3}, 100) == Grant::given);
  budget.give_back({2}, 700);
  budget.give_back({1}, 200);
  budget.give_back({3}, 100);
  CHECK(budget.take({1}, 1'000) == Grant::given);
}

TEST_CASE("the budget part of a connection returns to the same caller") {
  MemoryBudget budget(1'000);
  MemoryBudget other(1'000);
  using Grant = MemoryBudget::Grant;
  {
    Reservation held;
    CHECK(held.take(budget, {1}, 900) == Grant::given);
    CHECK(held.is_of(budget));
    CHECK(budget.take({2}, 200) == Grant::full);
    CHECK(held.take(other, {2}, 1'000) == Grant::given);  // instead of what it had
    CHECK_FALSE(held.is_of(budget));
    CHECK(budget.take({2}, 200) == Grant::given);
    budget.give_back({2}, 200);
    CHECK(held.take(budget, {1}, 0) == Grant::given);
    CHECK(other.take({3}, 1'000) == Grant::given);
    other.give_back({3}, 1'000);
    CHECK(held.take(budget, {1}, 1'001) == Grant::full);
    CHECK(held.take(budget, {1}, 1'000) == Grant::given);
    held = Reservation();
    CHECK(budget.take({1}, 1'000) == Grant::given);
    budget.give_back({1}, 1'000);
    CHECK(held.take(budget, {1}, 1'000) == Grant::given);
  }
  CHECK(budget.take({1}, 1'000) == Grant::given);
}
