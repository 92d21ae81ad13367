// The requested part of a list, and the returned page.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace coffer::store {

/// A page has at most `limit` rows, which are beyond `key` in reading direction.
struct PageAt {
  std::optional<std::int64_t> key;
  int limit = 20;
  bool backward = false;  // towards the beginning of the list
};

template <class Row>
struct RowPage {
  std::vector<Row> rows;  // in list order, even when read backward
  /// The list continues beyond this key in reading direction; empty if it ends.
  std::optional<std::int64_t> next;
  /// The page stopped because it had read kRowsMax rows (store/rows/key_walk.h).
  bool cut_short = false;
};

/// The page of rows that were read with a limit of one more. `key_of` returns the key of a row.
template <class Row, class KeyOf>
RowPage<Row> page_of(std::vector<Row> rows, const PageAt& page, const KeyOf& key_of) {
  RowPage<Row> out{std::move(rows)};
  if (out.rows.size() <= static_cast<std::size_t>(page.limit)) return out;
  out.rows.erase(page.backward ? out.rows.begin() : out.rows.end() - 1);
  out.next = key_of(page.backward ? out.rows.front() : out.rows.back());
  return out;
}

/// A row with the key of its tenant, in a list over all tenants.
template <class Row>
struct Listed {
  Row row;
  std::int64_t tenant = 0;
};

}  // namespace coffer::store
