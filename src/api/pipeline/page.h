// Cursor pages over rows that are numbered in list order (docs/contract.md#collections).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/pipeline/cursor.h"
#include "api/pipeline/fields.h"
#include "api/pipeline/route.h"
#include "api/pipeline/services.h"
#include "http/message.h"
#include "store/lists/page.h"

namespace coffer::api {

/// The query of a list with these filters.
std::vector<QueryParam> page_query(std::vector<QueryParam> filters);

/// Reads `limit` and `cursor` of a request. `binding` contains the list, the tenant and the
/// filters. The page requests one row beyond the limit, to determine whether another page follows.
struct PageRequest {
  const http::Request& request;
  const CursorCodec& cursors;
  store::PageAt at;
  int limit = 20;
  std::string binding;
};
Result<PageRequest> read_page(const Services& services, const Call& call, QueryFields& query,
                              std::initializer_list<std::string_view> filters);

/// A page of a list that is short enough to be read whole. Without `limit`, all its rows.
/// `filters` as in read_page.
Result<http::Response> short_list_response(const Services& services, const Call& call,
                                           std::initializer_list<std::string_view> filters,
                                           std::vector<Json> rows);

/// Reduces `rows` and `positions` to the limit and returns the collection. `rows` are in list
/// order, even when read backward. `cut_at` is set if the store stopped reading before the page was
/// full; the list then continues after it (docs/contract.md#collections).
http::Response page_response(const PageRequest& page, std::vector<Json> rows,
                             std::vector<std::int64_t> positions,
                             std::optional<std::int64_t> cut_at = {});
/// The same for a page whose positions come from `position_of`.
template <class Row, class ToJson, class PositionOf>
http::Response page_response(const PageRequest& page, const store::RowPage<Row>& found,
                             const ToJson& to_json, const PositionOf& position_of) {
  std::vector<Json> rows;
  std::vector<std::int64_t> positions;
  for (const Row& row : found.rows) {
    rows.push_back(to_json(row));
    positions.push_back(position_of(row));
  }
  return page_response(page, std::move(rows), std::move(positions), found.cut_at);
}

}  // namespace coffer::api
