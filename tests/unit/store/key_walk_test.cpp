// Unions and intersections of key sets, read page by page, compared with plain sets.
#include "store/lists/key_walk.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace key_walk_test {
namespace {

using Keys = std::vector<std::int64_t>;

/// A source in memory, in the order of the walk.
KeySource source(Order order, Keys all) {
  std::sort(all.begin(), all.end());
  if (order == Order::falling) std::reverse(all.begin(), all.end());
  return [all, order](std::int64_t beyond, int count) {
    Keys out;
    for (const std::int64_t key : all) {
      const bool there = order == Order::falling ? key < beyond : key > beyond;
      if (there && out.size() < static_cast<std::size_t>(count)) out.push_back(key);
    }
    return out;
  };
}

/// Keys 1 to `last`, without storing them.
KeySource all_up_to(Order order, std::int64_t last, std::int64_t step = 1) {
  return [order, last, step](std::int64_t beyond, int count) {
    Keys out;
    const bool falling = order == Order::falling;
    std::int64_t key = falling ? std::min(beyond - 1, last) : std::max<std::int64_t>(beyond + 1, 1);
    while (key % step != 0) falling ? --key : ++key;
    for (; key >= 1 && key <= last && out.size() < static_cast<std::size_t>(count);
         falling ? key -= step : key += step) {
      out.push_back(key);
    }
    return out;
  };
}

struct Walked {
  Keys keys;
  int pages = 0;
  std::int64_t read_most = 0;  // rows of the page that read most
};

/// Follows the pages to the end, like a client with `limit`.
template <class Sets>
Walked all_pages(Connection& db, Order order, KeyWalk::Part part, const Sets& sets,
                 const std::function<bool(std::int64_t)>& fits) {
  Walked out;
  for (;;) {
    RowBudget budget;
    const KeyWalk walk(db, order, budget);
    const auto found = walk.read(sets(walk), part, [&](std::int64_t key) {
      budget.spend(1);
      return fits(key);
    });
    ++out.pages;
    out.read_most = std::max(out.read_most, kRowsMax - budget.left());
    CHECK(found.keys.size() <= static_cast<std::size_t>(part.limit));
    out.keys.insert(out.keys.end(), found.keys.begin(), found.keys.end());
    if (found.cut_at) {
      CHECK(found.cut_at != part.beyond);
      part.beyond = found.cut_at;
    } else if (found.keys.size() == static_cast<std::size_t>(part.limit)) {
      part.beyond = found.keys.back();
    } else {
      return out;
    }
  }
}

bool everything(std::int64_t) { return true; }

}  // namespace

TEST_CASE("key walk: unions and intersections of random sets, in both orders, at any limit") {
  OpenedFile file;
  std::uint32_t state = 5;
  const auto some = [&](std::uint32_t share) {
    Keys out;
    for (std::int64_t key = 1; key <= 60; ++key) {
      state = state * 1'664'525 + 1'013'904'223;
      if ((state >> 16) % share == 0) out.push_back(key);
    }
    return out;
  };
  file.read([&](Connection& db) {
    for (int round = 0; round < 200; ++round) {
      const Keys a = some(2), b = some(4), c = some(1 + static_cast<std::uint32_t>(round) % 3),
                 known = some(2);
      const std::int64_t lowest = 1 + round % 20, below = 62 - round % 17;
      Keys expected;
      for (std::int64_t key = lowest; key < below; ++key) {
        const auto has = [&](const Keys& keys) {
          return std::find(keys.begin(), keys.end(), key) != keys.end();
        };
        if ((has(a) || has(b)) && has(c) && has(known) && key % 5 != 0) expected.push_back(key);
      }
      for (const Order order : {Order::falling, Order::rising}) {
        if (order == Order::falling) std::reverse(expected.begin(), expected.end());
        const auto sets = [&](const KeyWalk& walk) {
          KeySets united = one(walk.of(source(order, a)));
          united.push_back(walk.of(source(order, b)));
          KeySets out = one(walk.any(std::move(united)));
          out.push_back(walk.of(source(order, c)));
          out.push_back(walk.known(known));
          return out;
        };
        for (const int limit : {1, 3, 100}) {
          INFO("round " << round << ", limit " << limit);
          const auto walked = all_pages(db, order, {{}, lowest, below, limit}, sets,
                                        [](std::int64_t key) { return key % 5 != 0; });
          CHECK(walked.keys == expected);
        }
        if (order == Order::falling) std::reverse(expected.begin(), expected.end());
      }
    }
    return 0;
  });
}

TEST_CASE("key walk: a page without matches stops in time and returns where the list continues") {
  OpenedFile file;
  file.read([&](Connection& db) {
    constexpr std::int64_t kLast = 30'000;
    for (const Order order : {Order::falling, Order::rising}) {
      const auto sets = [&](const KeyWalk& walk) { return one(walk.of(all_up_to(order, kLast))); };
      const std::int64_t far = order == Order::falling ? 1 : kLast;
      const auto walked =
          all_pages(db, order, {}, sets, [&](std::int64_t key) { return key == far; });
      CHECK(walked.keys == Keys{far});
      CHECK(walked.pages > 3);
      CHECK(walked.read_most <= kRowsMax);
    }
    return 0;
  });
}

TEST_CASE("key walk: two large sets with a small intersection are bounded too") {
  OpenedFile file;
  file.read([&](Connection& db) {
    const auto sets = [&](const KeyWalk& walk) {
      KeySets out = one(walk.of(all_up_to(Order::falling, 60'000, 2)));
      KeySets odd = one(walk.of(all_up_to(Order::falling, 59'997, 3)));
      out.push_back(walk.any(std::move(odd)));
      return out;
    };
    const auto walked =
        all_pages(db, Order::falling, {}, sets, [](std::int64_t key) { return key == 6; });
    CHECK(walked.keys == Keys{6});
    CHECK(walked.read_most <= kRowsMax);
    return 0;
  });
}

TEST_CASE("key walk: nothing beyond the last key, even at the numeric limits") {
  OpenedFile file;
  file.read([&](Connection& db) {
    for (const Order order : {Order::falling, Order::rising}) {
      for (const std::int64_t beyond : {INT64_MAX, INT64_MAX - 1, std::int64_t{0}, INT64_MIN + 1}) {
        RowBudget budget;
        const KeyWalk walk(db, order, budget);
        const auto found =
            walk.read(one(walk.of(all_up_to(order, 3))), {.beyond = beyond}, everything);
        const bool before = order == Order::falling ? beyond > 3 : beyond < 1;
        CHECK(found.keys.size() == (before ? 3 : 0));
      }
    }
    return 0;
  });
}

TEST_CASE("key walk: the smallest set determines the cost") {
  OpenedFile file;
  file.read([&](Connection& db) {
    RowBudget budget;
    const KeyWalk walk(db, Order::falling, budget);
    KeySets sets = one(walk.of(all_up_to(Order::falling, 1'000'000'000)));
    sets.push_back(walk.of(all_up_to(Order::falling, 1'000'000'000, 100'000'000)));
    const auto found = walk.read(sets, {.limit = 5}, everything);
    CHECK(found.keys == Keys{1'000'000'000, 900'000'000, 800'000'000, 700'000'000, 600'000'000});
    CHECK(kRowsMax - budget.left() < 100);
    return 0;
  });
}

}  // namespace key_walk_test
