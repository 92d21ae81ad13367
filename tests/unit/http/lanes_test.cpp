// The scheduler of the lanes, without threads: which requests run, wait or are rejected.
#include "http/wire/lanes.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <limits>
#include <map>

#include "base/random.h"
#include "http/wire/connection.h"

using namespace coffer;
using namespace coffer::http;

namespace {

using Entry = Lanes::Entry;

/// Equal lanes, so that a test sets only what it needs.
LaneTable every_lane(int width, int queue, int share, int queue_share) {
  LaneTable table = lane_table(64, 2);
  for (LaneLimits& lane : table) lane = {lane.name, width, queue, share, queue_share};
  return table;
}

LaneCaller application(std::uint64_t id) { return {id, true}; }

/// Requests of one lane, each on a separate connection.
class Requests {
 public:
  explicit Requests(const LaneTable& table, Lane lane = Lane::read) : lanes(table), lane_(lane) {}

  Entry enter(Connection& connection, LaneCaller caller, std::int64_t now_ms = 0) {
    return lanes.enter(lane_, caller, connection, now_ms);
  }
  Connection* leave(LaneCaller caller) { return lanes.leave(lane_, caller); }
  LaneStats stats() const { return lanes.stats(lane_); }

  Lanes lanes;

 private:
  const Lane lane_;
};

}  // namespace

TEST_CASE("lanes: the width of a lane limits running requests, and each end starts the next one") {
  Requests requests(every_lane(2, 8, 2, 8));
  Connection first, second, third, fourth;
  CHECK(requests.enter(first, application(1)) == Entry::run);
  CHECK(requests.enter(second, application(1)) == Entry::run);
  CHECK(requests.enter(third, application(1)) == Entry::wait);
  CHECK(requests.enter(fourth, application(1)) == Entry::wait);
  CHECK(requests.stats().running == 2);
  CHECK(requests.stats().waiting == 2);
  CHECK(requests.leave(application(1)) == &third);
  CHECK(requests.stats().running == 2);
  CHECK(requests.leave(application(1)) == &fourth);
  CHECK(requests.leave(application(1)) == nullptr);
  CHECK(requests.leave(application(1)) == nullptr);
  CHECK(requests.stats().running == 0);
  CHECK(requests.stats().rejected == 0);
}

TEST_CASE("lanes: a full lane does not affect another") {
  for (std::size_t full = 0; full < kLaneCount; ++full) {
    Lanes lanes(every_lane(1, 0, 1, 1));
    Connection held, rejected;
    CHECK(lanes.enter(static_cast<Lane>(full), application(1), held, 0) == Entry::run);
    CHECK(lanes.enter(static_cast<Lane>(full), application(2), rejected, 0) == Entry::lane_full);
    for (std::size_t other = 0; other < kLaneCount; ++other) {
      if (other == full) continue;
      Connection connection;
      CHECK(lanes.enter(static_cast<Lane>(other), application(1), connection, 0) == Entry::run);
    }
  }
}

TEST_CASE("lanes: a caller runs at most its share, and others overtake it") {
  Requests requests(every_lane(4, 8, 2, 8));
  Connection a1, a2, a3, b1, b2, b3;
  CHECK(requests.enter(a1, application(1)) == Entry::run);
  CHECK(requests.enter(a2, application(1)) == Entry::run);
  CHECK(requests.enter(a3, application(1)) == Entry::wait);  // two places are free, none for it
  CHECK(requests.enter(b1, application(2)) == Entry::run);
  CHECK(requests.enter(b2, application(2)) == Entry::run);
  CHECK(requests.enter(b3, application(2)) == Entry::wait);
  CHECK(requests.leave(application(2)) == &b3);  // a3 came first, and its caller has its share
  CHECK(requests.leave(application(1)) == &a3);
}

TEST_CASE("lanes: callers take turns, so a thousand requests delay another caller by one") {
  Requests requests(every_lane(1, 2'000, 1, 1'500));
  std::vector<Connection> many(1'000);
  Connection held, one, last;
  CHECK(requests.enter(held, application(1)) == Entry::run);
  for (Connection& connection : many) {
    REQUIRE(requests.enter(connection, application(1)) == Entry::wait);
  }
  CHECK(requests.enter(one, application(2)) == Entry::wait);
  CHECK(requests.enter(last, application(3)) == Entry::wait);
  CHECK(requests.leave(application(1)) == &many[0]);
  CHECK(requests.leave(application(1)) == &one);
  CHECK(requests.leave(application(2)) == &last);
  CHECK(requests.leave(application(3)) == &many[1]);
  CHECK(requests.leave(application(1)) == &many[2]);
}

TEST_CASE("lanes: a full queue and a full share of the queue have different responses") {
  Requests requests(every_lane(1, 4, 1, 2));
  Connection connection;
  CHECK(requests.enter(connection, application(1)) == Entry::run);
  CHECK(requests.enter(connection, application(1)) == Entry::wait);
  CHECK(requests.enter(connection, application(1)) == Entry::wait);
  CHECK(requests.enter(connection, application(1)) == Entry::share_full);
  CHECK(requests.enter(connection, application(2)) == Entry::wait);
  CHECK(requests.enter(connection, application(3)) == Entry::wait);
  CHECK(requests.enter(connection, application(4)) == Entry::lane_full);
  CHECK(requests.enter(connection, application(1)) == Entry::share_full);
  CHECK(requests.stats().rejected == 3);
  CHECK(requests.stats().waiting == 4);
}

TEST_CASE("lanes: callers without credentials leave the last quarter of a queue to applications") {
  Requests requests(every_lane(1, 8, 1, 8));
  Connection connection;
  CHECK(requests.enter(connection, {100}) == Entry::run);
  for (std::uint64_t id = 101; id < 107; ++id) {
    CHECK(requests.enter(connection, {id}) == Entry::wait);
  }
  CHECK(requests.enter(connection, {107}) == Entry::lane_full);
  CHECK(requests.enter(connection, application(1)) == Entry::wait);
  CHECK(requests.enter(connection, application(2)) == Entry::wait);
  CHECK(requests.enter(connection, application(3)) == Entry::lane_full);
}

TEST_CASE("lanes: requests that have waited too long are returned, the others stay in order") {
  Requests requests(every_lane(1, 8, 1, 8));
  Connection held, old, young, other;
  CHECK(requests.enter(held, application(1), 0) == Entry::run);
  CHECK(requests.enter(old, application(1), 1'000) == Entry::wait);
  CHECK(requests.enter(young, application(1), 2'000) == Entry::wait);
  CHECK(requests.enter(other, application(2), 1'500) == Entry::wait);
  CHECK(requests.lanes.expire(1'000).empty());
  CHECK(requests.lanes.expire(1'001) == std::vector<Connection*>{&old});
  CHECK(requests.stats().waiting == 2);
  CHECK(requests.stats().rejected == 1);
  CHECK(requests.leave(application(1)) == &young);
  CHECK(requests.leave(application(1)) == &other);
  CHECK(requests.leave(application(2)) == nullptr);
  CHECK(requests.lanes.expire(std::numeric_limits<std::int64_t>::max()).empty());
}

TEST_CASE("lanes: random traffic keeps every bound and loses no request") {
  constexpr int kWidth = 3, kQueue = 12, kShare = 2, kQueueShare = 5;
  Lanes lanes(every_lane(kWidth, kQueue, kShare, kQueueShare));
  struct Held {
    Connection* connection;
    std::uint64_t caller;
  };
  std::vector<Connection> all(4'000);
  std::vector<Held> running;
  std::map<Connection*, std::uint64_t> waiting;
  std::uint64_t rejected = 0, served = 0;
  SeededRandom random(7);
  const auto pick = [&](std::uint64_t below) {
    std::array<std::uint8_t, 2> bytes{};
    random.fill(bytes);
    return static_cast<std::uint64_t>(bytes[0] << 8 | bytes[1]) % below;
  };
  const auto end_one = [&] {
    const std::size_t at = pick(running.size());
    const Held ended = running[at];
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(at));
    ++served;
    if (Connection* next = lanes.leave(Lane::money, application(ended.caller))) {
      REQUIRE(waiting.count(next) == 1);
      running.push_back({next, waiting.at(next)});
      waiting.erase(next);
    }
  };
  for (Connection& connection : all) {
    const std::uint64_t caller = pick(5);
    switch (lanes.enter(Lane::money, application(caller), connection, 0)) {
      case Entry::run:
        running.push_back({&connection, caller});
        break;
      case Entry::wait:
        waiting[&connection] = caller;
        break;
      case Entry::lane_full:
      case Entry::share_full:
        ++rejected;
        break;
    }
    for (std::uint64_t caller_id = 0; caller_id < 5; ++caller_id) {
      const auto of = [&](const Held& held) { return held.caller == caller_id; };
      REQUIRE(std::count_if(running.begin(), running.end(), of) <= kShare);
    }
    REQUIRE(running.size() <= kWidth);
    REQUIRE(waiting.size() <= kQueue);
    if (!running.empty() && pick(2) == 0) end_one();
  }
  while (!running.empty()) end_one();
  CHECK(waiting.empty());
  CHECK(served + rejected == all.size());
  CHECK(lanes.stats(Lane::money).rejected == rejected);
  CHECK(rejected > 0);
}

TEST_CASE("lanes: the table is in the order of the enum, and no share is larger than its lane") {
  constexpr std::array<std::string_view, kLaneCount> kNames{
      "system", "money", "read", "search", "exports", "outbound", "password", "bulk", "admin"};
  const LaneTable table = lane_table(64, 4);
  int total = 0;
  for (std::size_t i = 0; i < kLaneCount; ++i) {
    INFO(table[i].name);
    CHECK(name(static_cast<Lane>(i)) == kNames[i]);
    CHECK(table[i].width > 0);
    CHECK(table[i].share > 0);
    CHECK(table[i].share <= table[i].width);
    CHECK(table[i].queue_share <= table[i].queue - table[i].queue / 4);
    total += table[i].width;
  }
  // The callers of `system` are addresses: one of them leaves room for the others.
  const LaneLimits& system = table[static_cast<std::size_t>(Lane::system)];
  CHECK(2 * system.queue_share <= system.queue - system.queue / 4);
  CHECK(total_width(table) == total);
  CHECK(table[static_cast<std::size_t>(Lane::money)].width == 64);
  CHECK(table[static_cast<std::size_t>(Lane::password)].width == 4);
}
