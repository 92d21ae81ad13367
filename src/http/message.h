// What the rest of coffer sees of HTTP: plain values, no library types.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/admission.h"

namespace coffer::http {

/// Header names compare without regard to ASCII case.
bool same_name(std::string_view a, std::string_view b);

/// One request, whole and already past the header gate: method and header names are valid tokens,
/// the target is origin-form, the body is complete and within its limit.
struct Request {
  std::string method;  // a token as sent; methods are case-sensitive, `get` is not GET
  std::string path;    // as sent, without the query, still percent-encoded, starts with '/'
  std::vector<std::pair<std::string, std::string>> query;    // decoded, in order; names may repeat
  std::vector<std::pair<std::string, std::string>> headers;  // values as sent, never decoded
  std::string body;
  std::string peer;        // numeric address of the TCP peer, without port; never from a header
  std::string request_id;  // the caller's own when acceptable, else ours; goes into X-Request-Id
  bool bad_query = false;  // the query held an invalid percent escape or a NUL
  std::optional<Admission> admitted;  // by the listener, from the header

  /// First header of this name, case-insensitive; nullptr when absent.
  const std::string* header(std::string_view name) const;
  /// First query parameter of this exact name; nullptr when absent.
  const std::string* query_value(std::string_view name) const;
};

/// Writes one piece of a streamed body; false when the client is gone and the producer must stop.
using Sink = std::function<bool(std::string_view)>;

struct Response {
  int status = 200;
  std::string content_type = "application/json";  // empty: the header is left out
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  /// When set, `body` is ignored and the response is chunked: called once on the worker thread (not
  /// at all for HEAD). Returning false or throwing cuts the connection, so that a client never
  /// takes half an export for a whole.
  std::function<bool(const Sink&)> stream;

  Response& header(std::string name, std::string value) {
    headers.emplace_back(std::move(name), std::move(value));
    return *this;
  }
};

}  // namespace coffer::http
