// Reads a page of a filtered list along the single best index.
//
// The entries of each index end in the key of the list, so nothing is sorted. Of the filters that
// have an index, a page reads the one whose first keys reach furthest, so the rarest filter
// determines the cost, without statistics. All other filters are checked row by row. A page that
// has read kRowsMax rows ends, and returns the key where the list continues. Every filter's keys
// contain all matches, so pages can follow different indexes without skipping or repeating a row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <vector>

#include "store/file/connection.h"
#include "store/rows/page.h"

namespace coffer::store {

/// Maximum number of rows and index entries that a page reads, not counting the records that it
/// returns.
inline constexpr std::int64_t kRowsMax = 10'000;

enum class Order { descending, ascending };

/// The same keys in both orders, along one index. Parameters: ?1 the key to start beyond, ?2 the
/// maximum number of keys, then the arguments.
struct KeyIndex {
  const char* descending;
  const char* ascending;
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

/// Returns up to `count` keys beyond a key, in the order of the walk.
using KeySource = std::function<std::vector<std::int64_t>(std::int64_t beyond, int count)>;
/// The sources of one filter. Their union contains the key of every row that matches the filter.
using KeySources = std::vector<KeySource>;

/// Keys outside of this range do not belong to the list.
struct ListRange {
  std::int64_t lowest = 1;
  std::int64_t below = INT64_MAX;
};

struct KeyPage {
  std::vector<std::int64_t> keys;    // in reading order
  std::optional<std::int64_t> next;  // this member and the next: as in RowPage
  bool cut_short = false;
};

/// Reads one page.
class KeyWalk {
 public:
  /// `order` is that of the list. `db` must outlive this object.
  KeyWalk(Connection& db, const PageAt& page, Order order = Order::descending);

  template <class... Args>
  KeySource along(const KeyIndex& index, const Args&... args) const {
    const char* sql = order_ == Order::ascending ? index.ascending : index.descending;
    return [&db = db_, sql, args...](std::int64_t beyond, int count) {
      return integers(db, sql, beyond, count, args...);
    };
  }
  /// Known keys, in any order.
  KeySource known(std::vector<std::int64_t> keys) const;

  /// Counts rows that were read for this page, apart from those in read().
  void spend(std::int64_t rows) { left_ -= rows; }
  std::int64_t left() const { return left_; }

  /// The keys of the rows that match. `filters`: the sources of each filter that has an index, at
  /// least one. `fits` checks the row of a key against all filters.
  KeyPage read(const std::vector<KeySources>& filters,
               const std::function<bool(std::int64_t)>& fits, const ListRange& range = {});

  /// Reads the page and its rows. `load` reads the row of a key.
  template <class Load>
  auto rows(const std::vector<KeySources>& filters, const std::function<bool(std::int64_t)>& fits,
            const Load& load, const ListRange& range = {}) {
    KeyPage found = read(filters, fits, range);
    if (page_.backward) std::ranges::reverse(found.keys);
    RowPage<std::invoke_result_t<Load, std::int64_t>> out{{}, found.next, found.cut_short};
    for (const std::int64_t key : found.keys) out.rows.push_back(load(key));
    return out;
  }

 private:
  Connection& db_;
  const PageAt page_;
  const Order order_;  // of reading
  std::int64_t left_ = kRowsMax;
};

}  // namespace coffer::store
