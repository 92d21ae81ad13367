// HTTP messages as plain values, without library types.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits/lane.h"
#include "base/text/ascii.h"
#include "http/router.h"

namespace coffer::http {

/// Header names are compared without regard to ASCII case.
inline bool same_name(std::string_view a, std::string_view b) { return ascii::same_word(a, b); }

/// The decision about a request, made when its header is complete and its body has not been read.
struct Admission {
  Lane lane = Lane::system;
  LaneCaller caller;
  std::size_t body_bytes_max = 64 * 1024;
  RouteMatch route;  // set if the admission function has a table of routes
};

/// A complete request that has passed the header gate: method and header names are valid tokens,
/// the body is complete and within its limit. If the target was in absolute form, its authority has
/// replaced the value of Host.
struct Request {
  std::string method;  // a token as sent; methods are case-sensitive, so `get` is not GET
  std::string path;    // as sent, without the query, still percent-encoded, starts with '/'
  std::vector<std::pair<std::string, std::string>> query;    // decoded, in order; names may repeat
  std::vector<std::pair<std::string, std::string>> headers;  // values as sent, never decoded
  std::string body;
  std::string peer;  // numeric address of the TCP peer, without port; never from a header
  // SHA-256 fingerprint, in lower-case hex, of the client's certificate on this connection, whose
  // key the client has proved to own. Empty without a certificate. Never taken from a header.
  std::string client_certificate;
  // The caller's ID if acceptable, otherwise a new one; sent as X-Request-Id.
  std::string request_id;
  bool bad_query = false;             // the query has an invalid escape, a NUL or invalid UTF-8
  std::optional<Admission> admitted;  // the listener's decision from the header

  /// First header of this name, case-insensitive; nullptr when absent.
  const std::string* header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (same_name(key, name)) return &value;
    }
    return nullptr;
  }
  /// The first query parameter with exactly this name; nullptr if absent.
  const std::string* query_value(std::string_view name) const {
    for (const auto& [key, value] : query) {
      if (key == name) return &value;
    }
    return nullptr;
  }
};

/// Writes a piece of a streamed body. Returns false if the client has disconnected; the producer
/// must then stop.
using Sink = std::function<bool(std::string_view)>;

struct Response {
  int status = 200;
  std::string content_type = "application/json";  // empty: no Content-Type header
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  /// If set, `body` is ignored and the response is chunked. Called once on the worker thread, but
  /// not for HEAD. Returning false or throwing closes the connection, so that a client cannot
  /// mistake a partial export for a complete one.
  std::function<bool(const Sink&)> stream;
  /// The size of a streamed body if it is known in advance: sent as Content-Length instead of in
  /// chunks. A stream that writes another number of bytes closes the connection.
  std::optional<std::uint64_t> stream_bytes;

  Response& header(std::string name, std::string value) {
    headers.emplace_back(std::move(name), std::move(value));
    return *this;
  }
};

}  // namespace coffer::http
