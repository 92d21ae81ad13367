// Reads filtered lists along indexes whose entries end in the sort key of the list, so that nothing
// is sorted and nothing is read twice.
//
// A filter with an index is a set of keys. Sets are intersected by skipping: each set returns its
// first key that is not before the furthest key of the others, so the rarest filter determines the
// number of steps, without statistics. Filters without an index are checked row by row. A page that
// has read kRowsMax rows stops and returns the position where the list continues, which bounds the
// cost of every combination of filters.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "store/connection.h"
#include "store/lists/page.h"

namespace coffer::store {

/// Maximum number of rows and index entries that a page reads, not counting the records that it
/// returns.
inline constexpr std::int64_t kRowsMax = 10'000;

/// The remaining rows of one page.
class RowBudget {
 public:
  explicit RowBudget(std::int64_t rows = kRowsMax) : left_(rows) {}
  void spend(std::int64_t rows) { left_ -= rows; }
  /// While this is false, one more read of any set stays within kRowsMax.
  bool spent() const;
  std::int64_t left() const { return left_; }

 private:
  std::int64_t left_;
};

enum class Order { falling, rising };

/// The same keys in both orders, along one index. Parameters: ?1 the key to start beyond, ?2 the
/// maximum number of keys, then the arguments.
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

/// Returns up to `count` keys beyond a key, in order, along one index.
using KeySource = std::function<std::vector<std::int64_t>(std::int64_t beyond, int count)>;

/// A single integer column.
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

/// Row keys of tenants; empty: all tenants.
using TenantKeys = std::optional<std::vector<std::int64_t>>;
bool contains(const TenantKeys& tenants, std::int64_t key);

/// The keys that `sql` returns with ?1 the key to start beyond, ?2 the maximum number, and `args`.
/// Valid while `db` exists.
template <class... Args>
KeySource along(Connection& db, const char* sql, const Args&... args) {
  return [&db, sql, args...](std::int64_t beyond, int count) {
    return integers(db, sql, beyond, count, args...);
  };
}

/// Keys in reading order. Places increase in reading order, so in a descending list a later place
/// is a lower key.
class KeySet {
 public:
  virtual ~KeySet() = default;
  /// The first place at or after `place`. Consecutive calls never go back.
  virtual std::optional<std::int64_t> first(std::int64_t place) = 0;
};
using KeySets = std::vector<std::unique_ptr<KeySet>>;
KeySets one(std::unique_ptr<KeySet> set);

/// Creates the sets of one page and reads the page.
class KeyWalk {
 public:
  KeyWalk(Connection& db, Order order, RowBudget& budget)
      : db_(db), order_(order), budget_(budget) {}

  template <class... Args>
  std::unique_ptr<KeySet> of(const KeyIndex& index, const Args&... args) const {
    return of(along(db_, order_ == Order::rising ? index.rising : index.falling, args...));
  }
  /// `source` returns keys in the order of this walk.
  std::unique_ptr<KeySet> of(KeySource source) const;
  /// The union of all sets, each key once.
  std::unique_ptr<KeySet> any(KeySets sets) const;
  /// Known keys, in any order.
  std::unique_ptr<KeySet> known(std::vector<std::int64_t> keys) const;

  /// The part of the list to read.
  struct Part {
    std::optional<std::int64_t> beyond;  // in reading order
    std::int64_t lowest = 1;             // lower keys do not belong to the list
    std::int64_t below = INT64_MAX;      // this key and higher ones do not belong to the list
    int limit = 20;
  };
  struct Found {
    std::vector<std::int64_t> keys;      // in reading order
    std::optional<std::int64_t> cut_at;  // as in RowPage
  };
  /// The keys that are in all `sets` (at least one) and match.
  Found read(const KeySets& sets, const Part& part,
             const std::function<bool(std::int64_t)>& fits) const;

 private:
  Connection& db_;
  Order order_;
  RowBudget& budget_;
};

/// A page of a list in descending order. `load` reads the row of a key.
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
