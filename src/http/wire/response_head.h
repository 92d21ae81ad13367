// The header fields of every response, whoever formats the rest of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/message.h"

namespace coffer::http {

/// How a response travels; not for handlers to decide.
struct ResponseFrame {
  std::string_view request_id;
  bool keep_alive = true;
  bool http_1_0 = false;
  std::int64_t now_s = 0;  // seconds since 1970, for Date
};

/// Appends all fields that do not depend on the body's framing, each with CRLF: Content-Type, the
/// handler's own, X-Request-Id, nosniff, Cache-Control (no-store unless the handler set one), Date,
/// Connection. A field that is no valid field, or that is set here, is left out.
void append_fields(std::string& out, const Response& response, const ResponseFrame& frame);

/// A whole response with a buffered body, for answers that are given without a worker. With
/// `head_only` the body is announced but not sent.
std::string to_bytes(const Response& response, const ResponseFrame& frame, bool head_only);

/// No body, no Content-Length: 204 and 304.
bool has_no_body(int status);

}  // namespace coffer::http
