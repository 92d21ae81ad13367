// The header gate: decides from the raw bytes whether a request may reach a worker, and where the
// request ends.
//
// It reads RFC 9112 strictly. If two parsers could disagree about the end of a request (the cause
// of request smuggling), the gate rejects it. Every rejection closes the connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "base/result.h"
#include "http/message.h"

namespace coffer::http {

struct GateLimits {
  std::size_t header_bytes_max = 16 * 1024;
  std::size_t header_count_max = 64;
  std::size_t target_bytes_max = 8'192;
};

/// How far a header has been scanned, so that bytes that arrive singly cause no rescan. One per
/// request; initialise with {}.
struct GateProgress {
  std::size_t scanned = 0;
  std::size_t line_start = 0;
  std::size_t lines = 0;     // complete lines, without empty lines before the request line
  bool line_passed = false;  // the request line was checked separately
};

/// An accepted header.
struct RequestHead {
  std::string method;      // a token as sent; methods are case-sensitive
  std::string target;      // the path, which starts with '/', with the query; or "*" of OPTIONS
  std::string authority;   // of a target in absolute form; replaces Host (RFC 9112 section 3.2.2)
  std::string request_id;  // the caller's ID if acceptable, otherwise empty
  std::vector<std::pair<std::string, std::string>> fields;  // all, in order; values never decoded
  std::size_t head_bytes = 0;        // from the start of the buffer to the first byte of the body
  std::uint64_t content_length = 0;  // for a chunked body, set when it is complete
  bool chunked = false;              // a ChunkFramer finds the end of the body
  bool http_1_0 = false;
  bool keep_alive = true;        // as requested by the client
  bool expect_continue = false;  // the client waits for `100 Continue` before it sends the body

  /// As sent, without the query, still percent-encoded.
  std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
};

/// The request without its body. Moves what it needs out of `head`, which keeps its framing.
Request request_of(RequestHead& head, std::string peer);

/// The problem to send before the connection is closed.
struct Rejection {
  Problem problem;
  RequestHead head;  // as far as it could be read
};

struct Incomplete {};

using GateResult = std::variant<Incomplete, RequestHead, Rejection>;

/// `buffered` contains the bytes received from the first byte of this request, possibly beyond its
/// end. When more bytes arrive, call again with the same `progress`. Pure.
GateResult inspect_header(std::string_view buffered, const GateLimits& limits,
                          GateProgress& progress);

/// Whether a caller's X-Request-Id can be used: 1 to 64 characters of [A-Za-z0-9._-].
bool is_acceptable_request_id(std::string_view text);

/// Whether a text is a token (RFC 9110 section 5.6.2), such as the name of a field.
bool is_token(std::string_view text);
/// Whether a text can be the value of a field: no control characters except tabs.
bool is_field_value(std::string_view text);

/// A line of a header or trailer section (RFC 9112 section 5).
struct FieldLine {
  std::string_view name;   // a token
  std::string_view value;  // without surrounding white space
};

/// `line` has no CRLF and no control characters except tabs; the result refers to it.
/// `malformed-request` for a folded line, a missing colon, white space before the colon, or a name
/// that is not a token.
Result<FieldLine> parse_field_line(std::string_view line);

}  // namespace coffer::http
