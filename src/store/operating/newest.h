// Lists over all tenants for the operator: newest first, in pages that cost what they show.
//
// No tenant is asked here, so never on an integrator's route.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "store/connection.h"

namespace coffer::store {

/// Which page: rows with keys below `before`, at most `limit` of them.
struct NewestAt {
  std::optional<std::int64_t> before;
  int limit = 20;
};

/// How many rows one page looks at before it gives up filling itself.
inline constexpr int kLooksMax = 10'000;

struct KeyPage {
  std::vector<std::int64_t> keys;
  std::optional<std::int64_t> next;  // `before` of the next page; empty: this is the end
  bool cut_short = false;            // kLooksMax were looked at, and the page is not full
};

/// Up to `count` keys below `before`, falling, along one index.
using KeySource = std::function<std::vector<std::int64_t>(std::int64_t before, int count)>;

/// The keys of all sources together, falling, each once, down to `at_least`: those that are
/// `wanted`.
KeyPage newest_keys(const std::vector<KeySource>& sources, const NewestAt& at,
                    std::int64_t at_least, const std::function<bool(std::int64_t)>& wanted);

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

/// The keys that `sql` gives for ?1 the one to stay below, ?2 how many at most, and `args`. While
/// `db` lives.
template <class... Args>
KeySource along(Connection& db, const char* sql, const Args&... args) {
  return [&db, sql, args...](std::int64_t before, int count) {
    return integers(db, sql, before, count, args...);
  };
}

/// Row keys of tenants; empty optional: all of them.
using TenantKeys = std::optional<std::vector<std::int64_t>>;
bool contains(const TenantKeys& tenants, std::int64_t key);

template <class Row>
struct Listed {
  Row row;
  std::int64_t tenant = 0;
};

template <class Row>
struct NewestPage {
  std::vector<Listed<Row>> rows;
  std::optional<std::int64_t> next;
  bool cut_short = false;
};

}  // namespace coffer::store
