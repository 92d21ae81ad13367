// How every list that filters is read: along indexes whose entries end in the key that orders the
// list, so that nothing is sorted and nothing is read twice.
//
// A filter with an index is a set of keys. Sets are intersected by leaping: each is asked for its
// first key that is not before the furthest key of the others, so the rarest filter sets the pace
// without any statistics. What has no index is judged row by row. A page that has read kRowsMax
// rows stops and says where the list continues: no combination of filters costs more.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "store/connection.h"
#include "store/lists/page.h"

namespace coffer::store {

/// Rows and index entries that one page reads at most, without the records that it shows.
inline constexpr std::int64_t kRowsMax = 10'000;

/// What is left of them. Belongs to one page.
class RowBudget {
 public:
  explicit RowBudget(std::int64_t rows = kRowsMax) : left_(rows) {}
  void spend(std::int64_t rows) { left_ -= rows; }
  /// While it is not, one more read of any set ends within kRowsMax.
  bool spent() const;
  std::int64_t left() const { return left_; }

 private:
  std::int64_t left_;
};

enum class Order { falling, rising };

/// The same keys in both orders, along one index: ?1 is the key to stay beyond, ?2 how many at
/// most, then the arguments.
struct KeyIndex {
  const char* falling;
  const char* rising;
};
#define COFFER_KEY_INDEX(key, table, where)                                            \
  ::coffer::store::KeyIndex {                                                          \
    "SELECT " key " FROM " table " WHERE " where " AND " key " < ?1 ORDER BY " key     \
    " DESC LIMIT "                                                                     \
    "?2",                                                                              \
        "SELECT " key " FROM " table " WHERE " where " AND " key " > ?1 ORDER BY " key \
        " LIMIT "                                                                      \
        "?2"                                                                           \
  }

/// Up to `count` keys beyond a key, in order, along one index.
using KeySource = std::function<std::vector<std::int64_t>(std::int64_t beyond, int count)>;

/// One column of integers.
template <class... Args>
std::vector<std::int64_t> integers(Connection& db, const char* sql, const Args&... args) {
  std::vector<std::int64_t> out;
  Query query(db, sql, args...);
  while (query.step()) out.push_back(query.integer(0));
  return out;
}

template <class... Args>
std::optional<std::int64_t> first_integer(Connection& db, const char* sql, const Args&... args) {
  Query query(db, sql, args...);
  return query.step() ? query.optional_integer(0) : std::nullopt;
}

/// Row keys of tenants; empty optional: all of them.
using TenantKeys = std::optional<std::vector<std::int64_t>>;
bool contains(const TenantKeys& tenants, std::int64_t key);

/// The keys that `sql` gives for ?1 the one to stay beyond, ?2 how many at most, and `args`. While
/// `db` lives.
template <class... Args>
KeySource along(Connection& db, const char* sql, const Args&... args) {
  return [&db, sql, args...](std::int64_t beyond, int count) {
    return integers(db, sql, beyond, count, args...);
  };
}

/// Keys in reading order. A place counts from the start of the order: a later place is a lower key
/// of a falling list.
class KeySet {
 public:
  virtual ~KeySet() = default;
  /// The first place at or after `place`; asked for places that never go back.
  virtual std::optional<std::int64_t> first(std::int64_t place) = 0;
};
using KeySets = std::vector<std::unique_ptr<KeySet>>;
KeySets one(std::unique_ptr<KeySet> set);

/// Makes the sets of one page and reads it.
class KeyWalk {
 public:
  KeyWalk(Connection& db, Order order, RowBudget& budget)
      : db_(db), order_(order), budget_(budget) {}

  template <class... Args>
  std::unique_ptr<KeySet> of(const KeyIndex& index, const Args&... args) const {
    return of(along(db_, order_ == Order::rising ? index.rising : index.falling, args...));
  }
  /// `source` gives keys in the order of this walk.
  std::unique_ptr<KeySet> of(KeySource source) const;
  /// Those of all sets, each once.
  std::unique_ptr<KeySet> any(KeySets sets) const;
  /// Keys that are known, in any order.
  std::unique_ptr<KeySet> known(std::vector<std::int64_t> keys) const;

  /// Which part of the list.
  struct Part {
    std::optional<std::int64_t> beyond;  // in reading order
    std::int64_t lowest = 1;             // keys below it are not of the list
    std::int64_t below = INT64_MAX;      // nor are keys from here on
    int limit = 20;
  };
  struct Found {
    std::vector<std::int64_t> keys;      // in reading order
    std::optional<std::int64_t> cut_at;  // as in RowPage
  };
  /// The keys that are in all `sets`, of which there is at least one, and fit.
  Found read(const KeySets& sets, const Part& part,
             const std::function<bool(std::int64_t)>& fits) const;

 private:
  Connection& db_;
  Order order_;
  RowBudget& budget_;
};

/// A page whose list order is the falling one; `load` makes the row of a key.
template <class Row, class Load>
RowPage<Row> load_page(const PageAt& page, const KeyWalk::Found& found, const Load& load) {
  RowPage<Row> out;
  out.cut_at = found.cut_at;
  if (page.backward) {
    for (auto key = found.keys.rbegin(); key != found.keys.rend(); ++key)
      out.rows.push_back(load(*key));
  } else {
    for (const std::int64_t key : found.keys) out.rows.push_back(load(key));
  }
  return out;
}

}  // namespace coffer::store
