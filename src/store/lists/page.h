// The requested part of a list, and the returned page.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace coffer::store {

/// A page boundary: the page has the rows beyond `key` in reading direction.
struct PageAt {
  std::optional<std::int64_t> key;
  bool backward = false;  // towards newer rows
  int limit = 20;
};

template <class Row>
struct RowPage {
  std::vector<Row> rows;  // in list order, even when read backward
  /// Set if the page stopped because it had read the maximum number of rows, not because it was
  /// full or the list ended. The list continues beyond this key in reading direction.
  std::optional<std::int64_t> cut_at;
};

}  // namespace coffer::store
