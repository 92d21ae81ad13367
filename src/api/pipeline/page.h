// Cursor pages over rows that are numbered in list order (docs/contract.md#collections).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/json/cursor.h"
#include "api/json/fields.h"
#include "api/json/json.h"
#include "api/pipeline/route.h"
#include "api/pipeline/services.h"
#include "http/message.h"
#include "store/rows/page.h"

namespace coffer::api {

/// The query of a list with these filters.
std::vector<QueryParam> page_query(std::vector<QueryParam> filters);

/// The `limit` and `cursor` of a request. `binding` contains the name of the list, the tenant and
/// all other parameters of the query, which are its filters.
struct PageRequest {
  const http::Request& request;
  const CursorCodec& cursors;
  store::PageAt at;
  std::string binding;
};
Result<PageRequest> read_page(const Services& services, const Call& call, QueryFields& query,
                              std::string_view list);

/// A page of a list that is short enough to be read whole. Without `limit`, all its rows.
Result<http::Response> short_list_response(const Services& services, const Call& call,
                                           std::string_view list, std::vector<Json> rows);

/// The collection of these rows, which are in list order, even when read backward. `next` as in
/// store::RowPage.
http::Response page_response(const PageRequest& page, std::vector<Json> rows,
                             const std::vector<std::int64_t>& positions,
                             std::optional<std::int64_t> next);
inline constexpr auto kRowKey = [](const auto& row) { return row.key; };
/// The same for a page whose positions come from `position_of`.
template <class Row, class ToJson, class PositionOf = decltype(kRowKey)>
http::Response page_response(const PageRequest& page, const store::RowPage<Row>& found,
                             const ToJson& to_json, const PositionOf& position_of = kRowKey) {
  std::vector<Json> rows;
  std::vector<std::int64_t> positions;
  for (const Row& row : found.rows) {
    rows.push_back(to_json(row));
    positions.push_back(position_of(row));
  }
  return page_response(page, std::move(rows), positions, found.next);
}

}  // namespace coffer::api
