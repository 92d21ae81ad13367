// The header gate: decides over raw bytes whether a request may reach a worker, and where it ends.
//
// RFC 9112 read strictly. Where two readers of the same bytes could disagree about where a request
// ends (the root of request smuggling), the gate refuses; every refusal closes the connection. What
// a request says beyond its framing is left to cpp-httplib (http/adapter.h).
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
  std::size_t target_bytes_max = 2'048;
};

/// How far a header was looked at, so that a client that drips bytes costs no rescans. One per
/// request; starts as {}.
struct GateProgress {
  std::size_t scanned = 0;
  std::size_t line_start = 0;
  std::size_t lines = 0;     // complete ones, without empty lines before the request line
  bool line_passed = false;  // the request line was looked at by itself
};

/// A header that passed: what framing, limits and routing need of it.
struct RequestHead {
  std::string method;      // a token as sent; methods are case-sensitive
  std::string target;      // as sent: the path, which starts with '/', and the query
  std::string request_id;  // the caller's own, when acceptable; else empty
  /// The fields that an admission may depend on, as sent and in order: X-Svc-Auth, Authorization,
  /// Accept, Cookie and X-Forwarded-For.
  std::vector<std::pair<std::string, std::string>> fields;
  std::size_t skipped = 0;           // empty lines before the request line, in bytes
  std::size_t head_bytes = 0;        // from the start of the buffer to the first byte of the body
  std::uint64_t content_length = 0;  // of a chunked body, as soon as it is complete
  bool chunked = false;              // a ChunkFramer tells where the body ends
  bool http_1_0 = false;
  bool keep_alive = true;        // what the client asks for
  bool expect_continue = false;  // it waits for `100 Continue` before it sends the body

  /// As sent, without the query, still percent-encoded.
  std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
  /// Bytes of the whole request.
  std::uint64_t bytes() const { return head_bytes + content_length; }
};

/// A request as far as its header tells; takes what it needs of `head`, which keeps its framing.
Request request_of(RequestHead& head, std::string peer);

/// Respond with `problem` and close. Path and id are what could be read before the refusal.
struct Refusal {
  Problem problem;
  std::string path;
  std::string request_id;  // the caller's own, when acceptable; else empty
};

/// For a refusal that comes after the gate.
Refusal make_refusal(Problem problem, const RequestHead& head);

struct Incomplete {};

using GateResult = std::variant<Incomplete, RequestHead, Refusal>;

/// `buffered` is what has arrived of this request (and maybe more), from its first byte; call again
/// with the same `progress` when it has grown. Pure.
GateResult inspect_header(std::string_view buffered, const GateLimits& limits,
                          GateProgress& progress);

/// A caller's X-Request-Id that may be taken over: 1 to 64 of [A-Za-z0-9._-].
bool is_acceptable_request_id(std::string_view text);

/// One line of a header or trailer section (RFC 9112 section 5).
struct FieldLine {
  std::string_view name;   // a token
  std::string_view value;  // without the white space around it
};

/// `line` comes without its CRLF and has no control characters but tabs; the result refers to it.
/// `malformed-request` for a folded line, no colon, white space before the colon, or a name that is
/// no token.
Result<FieldLine> parse_field_line(std::string_view line);

}  // namespace coffer::http
