#include "api/pipeline/page.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/digest.h"
#include "base/text/join.h"
#include "http/gate.h"

namespace coffer::api {
namespace {

constexpr std::size_t kCursorMax = 64;
constexpr std::size_t kTargetMax = http::GateLimits{}.target_bytes_max;

/// The target of the same request with `cursor`, for the Link header.
std::string next_target(const http::Request& request, const std::string& cursor) {
  std::string target = request.path + "?cursor=" + cursor;
  for (const auto& [name, value] : request.query) {
    if (name == "cursor") continue;
    target += "&" + percent_encoded(name) + "=" + percent_encoded(value);
  }
  return target;
}

/// The filters of a request in one order, without empty ones, which count as absent.
std::string filters_of(const http::Request& request) {
  const std::map<std::string, std::string> given(request.query.begin(), request.query.end());
  return join(given, "", [](const auto& one) {
    const bool filters = one.first != "cursor" && one.first != "limit" && !one.second.empty();
    return filters ? '\n' + one.first + '=' + one.second : std::string();
  });
}

}  // namespace

std::vector<QueryParam> page_query(std::vector<QueryParam> filters) {
  filters.push_back({"limit", "Limit", "Maximum number of rows on the page"});
  filters.push_back({"cursor", "Cursor", "Cursor from an earlier page"});
  return filters;
}

Result<PageRequest> read_page(const Services& services, const Call& call, QueryFields& query,
                              std::string_view list) {
  PageRequest page{.request = call.request, .cursors = services.cursors};
  page.at.limit = query.limit();
  page.binding =
      std::to_string(call.caller.tenant.key) + '\n' + std::string(list) + filters_of(call.request);
  if (const auto text = query.text("cursor")) {
    COFFER_TRY(const Cursor cursor, page.cursors.decode(*text, page.binding));
    page.at.key = cursor.position;
    page.at.backward = cursor.backward;
  }
  COFFER_TRY_VOID(query.check());
  if (next_target(call.request, std::string(kCursorMax, '-')).size() > kTargetMax) {
    return unexpected(
        Slug::malformed_request,
        "The filters are too long: with a cursor and percent-encoded, a request target "
        "has at most " +
            std::to_string(kTargetMax) + " bytes.");
  }
  return page;
}

Result<http::Response> short_list_response(const Services& services, const Call& call,
                                           std::string_view list, std::vector<Json> rows) {
  QueryFields query(call.request);
  COFFER_TRY(PageRequest page, read_page(services, call, query, list));
  const auto count = static_cast<std::int64_t>(rows.size());
  if (!query.text("limit")) page.at.limit = static_cast<int>(count);
  // The position of a row is its number, from 1. One row more than the page shows that others
  // follow.
  const std::int64_t key = page.at.key.value_or(page.at.backward ? count + 1 : 0);
  const std::int64_t read = page.at.limit + 1;
  const std::int64_t end = page.at.backward ? key - 1 : std::min(count, key + read);
  const std::int64_t begin = page.at.backward ? std::max<std::int64_t>(0, end - read) : key;
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = begin; i < end && i < count; ++i) numbers.push_back(i + 1);
  const auto row_of = [&](std::int64_t number) {
    return std::move(rows[static_cast<std::size_t>(number - 1)]);
  };
  return page_response(page, store::page_of(std::move(numbers), page.at, std::identity()), row_of,
                       std::identity());
}

http::Response page_response(const PageRequest& page, std::vector<Json> rows,
                             const std::vector<std::int64_t>& positions,
                             std::optional<std::int64_t> next) {
  const bool backward = page.at.backward;
  // There are rows in the direction from which this page came: before its first row, or before the
  // position at which an empty page stopped.
  std::optional<Cursor> back, onward;
  if (page.at.key && !positions.empty()) {
    back = Cursor{backward ? positions.back() : positions.front(), !backward};
  } else if (page.at.key && next) {
    back = Cursor{*next, !backward};
  }
  if (next) onward = Cursor{*next, backward};
  const auto encoded = [&](const std::optional<Cursor>& cursor) {
    return cursor ? std::optional(page.cursors.encode(*cursor, page.binding)) : std::nullopt;
  };
  const PageLinks links{encoded(backward ? back : onward), encoded(backward ? onward : back)};
  Json data = Json::array();
  for (Json& row : rows) data.push_back(std::move(row));
  http::Response response = json_response(200, collection(std::move(data), links));
  if (links.next_cursor) {
    response.header("Link",
                    "<" + next_target(page.request, *links.next_cursor) + ">; rel=\"next\"");
  }
  return response;
}

}  // namespace coffer::api
