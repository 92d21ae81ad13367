// Pages along the best of several filters, compared with plain sets.
#include "store/rows/key_walk.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/random.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace key_walk_test {
namespace {

using Keys = std::vector<std::int64_t>;
using Fits = std::function<bool(std::int64_t)>;

constexpr const char* kNumbers =
    "WITH RECURSIVE n (key) AS (SELECT 1 UNION ALL SELECT key + 1 FROM n WHERE key < 30000)"
    " INSERT INTO numbers SELECT key FROM n";
constexpr KeyIndex kAll = COFFER_KEY_INDEX("key", "numbers", "true");
constexpr KeyIndex kMultiples = COFFER_KEY_INDEX("key", "numbers", "key % ?3 = 0");

/// A file with the table `numbers`: 1 to 30,000.
class Numbers {
 public:
  Numbers() {
    db.execute("CREATE TABLE numbers (key INTEGER PRIMARY KEY)");
    db.run(kNumbers);
  }
  TemporaryFolder folder;
  Connection db{folder.file(), OpenMode::read_write};
};

struct Walked {
  Keys keys;
  int pages = 0;
  std::int64_t read = 0;
  std::int64_t read_most = 0;  // rows of the page that read most
};

using Filters = std::function<std::vector<KeySources>(KeyWalk&)>;

/// Follows the pages to the end, like a client.
Walked all_pages(Connection& db, PageAt page, Order order, const Filters& filters, const Fits& fits,
                 const ListRange& range = {}) {
  Walked out;
  do {
    KeyWalk walk(db, page, order);
    const KeyPage found = walk.read(filters(walk), fits, range);
    ++out.pages;
    const std::int64_t read = kRowsMax - walk.left();
    out.read += read;
    out.read_most = std::max(out.read_most, read);
    CHECK(found.keys.size() <= static_cast<std::size_t>(page.limit));
    CHECK((!found.next || found.next != page.key));
    out.keys.insert(out.keys.end(), found.keys.begin(), found.keys.end());
    page.key = found.next;
  } while (page.key);
  return out;
}

}  // namespace

TEST_CASE("key walk: random filters give each match once, in both orders, at any limit") {
  Numbers numbers;
  SeededRandom random(5);
  for (int round = 0; round < 300; ++round) {
    const auto some = [&](std::uint64_t share) {
      Keys out;
      for (std::int64_t key = 1; key <= 400; ++key) {
        if (random.next_u64() % share == 0) out.push_back(key);
      }
      return out;
    };
    const Keys a = some(2), b = some(1 + random.next_u64() % 40), c = some(30);
    const auto step = static_cast<std::int64_t>(1 + random.next_u64() % 5);
    const ListRange range{1 + round % 20, 402 - round % 170};
    const Fits fits = [&](std::int64_t key) {
      const auto has = [&](const Keys& keys) { return std::ranges::binary_search(keys, key); };
      return key % step == 0 && (has(a) || has(c)) && has(b);
    };
    Keys expected;
    for (std::int64_t key = range.lowest; key < range.below; ++key) {
      if (fits(key)) expected.push_back(key);
    }
    const Filters filters = [&](KeyWalk& walk) {
      return std::vector<KeySources>{
          {walk.along(kMultiples, step)}, {walk.known(a), walk.known(c)}, {walk.known(b)}};
    };
    for (const Order order : {Order::ascending, Order::descending}) {
      for (const bool backward : {false, true}) {
        Keys in_order = expected;
        if ((order == Order::descending) != backward) std::ranges::reverse(in_order);
        for (const int limit : {1, 7, 1'000}) {
          INFO("round " << round << ", limit " << limit << ", backward " << backward);
          const Walked walked =
              all_pages(numbers.db, {{}, limit, backward}, order, filters, fits, range);
          CHECK(walked.keys == in_order);
        }
      }
    }
  }
}

TEST_CASE("key walk: a page without matches ends in time and returns where the list continues") {
  Numbers numbers;
  for (const Order order : {Order::descending, Order::ascending}) {
    const std::int64_t far = order == Order::descending ? 1 : 30'000;
    const Filters filters = [](KeyWalk& walk) {
      return std::vector<KeySources>{{walk.along(kAll)}};
    };
    const Walked walked =
        all_pages(numbers.db, {}, order, filters, [&](std::int64_t key) { return key == far; });
    CHECK(walked.keys == Keys{far});
    CHECK(walked.pages > 3);
    CHECK(walked.read_most <= kRowsMax);
  }
}

TEST_CASE("key walk: the rarest filter determines the cost, and may change from page to page") {
  Numbers numbers;
  // The first half of the keys is rare in one filter, the second half in the other.
  Keys low, high;
  for (std::int64_t key = 1; key <= 30'000; ++key) {
    if (key <= 15'000 || key % 1'000 == 0) low.push_back(key);
    if (key > 15'000 || key % 1'000 == 0) high.push_back(key);
  }
  const Filters filters = [&](KeyWalk& walk) {
    return std::vector<KeySources>{{walk.along(kAll)}, {walk.known(low)}, {walk.known(high)}};
  };
  const Walked walked = all_pages(numbers.db, {.limit = 2}, Order::descending, filters,
                                  [](std::int64_t key) { return key % 1'000 == 0; });
  CHECK(walked.keys.size() == 30);
  CHECK(walked.pages == 15);
  CHECK(walked.read < 10'000);  // of 30,000 rows and their entries
}

TEST_CASE("key walk: nothing beyond the last key, even at the numeric limits") {
  Numbers numbers;
  for (const Order order : {Order::descending, Order::ascending}) {
    for (const std::int64_t beyond : {INT64_MAX, INT64_MAX - 1, std::int64_t{0}, INT64_MIN + 1}) {
      KeyWalk walk(numbers.db, {.key = beyond, .limit = 3}, order);
      const KeyPage found = walk.read({{walk.along(kAll)}}, [](std::int64_t) { return true; });
      const bool before = order == Order::descending ? beyond > 3 : beyond < 1;
      CHECK(found.keys.size() == (before ? 3 : 0));
      CHECK(found.next.has_value() == before);
    }
  }
}

}  // namespace key_walk_test
