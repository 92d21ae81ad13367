// Lists over all tenants for the operator, newest first, in pages whose cost depends only on their
// size.
//
// They do not check the tenant, so never use them for an integrator's route.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <vector>

#include "store/lists/key_walk.h"

namespace coffer::store {

/// A page: rows with keys below `before`, at most `limit` of them.
struct NewestAt {
  std::optional<std::int64_t> before;
  int limit = 20;
};

struct KeyPage {
  std::vector<std::int64_t> keys;
  std::optional<std::int64_t> next;  // `before` of the next page; empty: no further page
  bool cut_short = false;            // kRowsMax rows were read, and the page is not full
};

/// Builds the page from keys that were read with a limit of one more than the page size.
KeyPage page_of(KeyWalk::Found found, const NewestAt& at);

/// The keys that are in all `sets` and are `wanted`, in descending order.
KeyPage newest_keys(const KeyWalk& walk, const KeySets& sets, const NewestAt& at,
                    const std::function<bool(std::int64_t)>& wanted);

template <class Row>
struct NewestPage {
  std::vector<Row> rows;
  std::optional<std::int64_t> next;  // this member and the next: as in KeyPage
  bool cut_short = false;
};

/// `load` reads the row of a key.
template <class Load>
auto rows_of(const KeyPage& page, const Load& load) {
  NewestPage<std::invoke_result_t<Load, std::int64_t>> out{{}, page.next, page.cut_short};
  for (const std::int64_t key : page.keys) out.rows.push_back(load(key));
  return out;
}

/// A row with the key of its tenant.
template <class Row>
struct Listed {
  Row row;
  std::int64_t tenant = 0;
};

}  // namespace coffer::store
