// Which page of a list is wanted, and what comes back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace coffer::store {

/// A page boundary: rows beyond `key` in reading direction.
struct PageAt {
  std::optional<std::int64_t> key;
  bool backward = false;  // towards newer rows
  int limit = 20;
};

template <class Row>
struct RowPage {
  std::vector<Row> rows;  // in list order, also when read backward
  /// Set when the page stopped because it had read enough rows, and not because it was full or the
  /// list was over: the key beyond which the list continues in reading direction.
  std::optional<std::int64_t> cut_at;
};

}  // namespace coffer::store
