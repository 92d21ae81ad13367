// Cursor pages over rows that are numbered in list order (docs/contract.md#collections).
#pragma once

#include <string>
#include <vector>

#include "api/json.h"
#include "api/pipeline/cursor.h"
#include "api/pipeline/fields.h"
#include "http/message.h"
#include "store/wallets.h"

namespace coffer::api {

/// Reads `limit` and `cursor` of a request. `binding` names the list, the tenant and the filters.
/// The page asks for one row more than the limit, to know whether there is another page.
struct PageRequest {
  store::PageAt at;
  int limit = 20;
  std::string binding;
};
Result<PageRequest> read_page(const http::Request& request, QueryFields& query,
                              const CursorCodec& cursors, const Tenant& tenant,
                              std::initializer_list<std::string_view> filters);

/// Cuts `rows` and `positions` to the limit and answers with the collection. `rows` are in list
/// order (newest first), also when read backward.
http::Response page_response(const http::Request& request, const PageRequest& page,
                             const CursorCodec& cursors, std::vector<Json> rows,
                             std::vector<std::int64_t> positions);

}  // namespace coffer::api
