// Connects cpp-httplib to coffer's own types: the gate has read the request, the handler sees
// http/message.h, and the library writes the response.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "http/message.h"
#include "http/wire/connection.h"
#include "http/wire/server.h"

namespace coffer::http {

/// Version of the library, such as "0.41.0".
std::string httplib_version();

/// How the response is sent. The handler does not decide this.
struct ResponseFrame {
  std::string_view request_id;
  bool keep_alive = true;
  bool http_1_0 = false;
  int idle_s = 0;          // how long the client may keep the connection idle; 0: not announced
  std::int64_t now_s = 0;  // seconds since 1970, for the Date header
};

/// A complete response with a buffered body, for responses that need no worker. With `head_only`,
/// Content-Length is set but the body is not sent.
std::string to_bytes(const Response& response, const ResponseFrame& frame, bool head_only);

/// Whether a client reads a streamed body so slowly that the worker must stop waiting: less than 16
/// KiB per second on average, for longer than the write timeout.
bool is_below_floor(std::uint64_t sent_bytes, std::int64_t waited_ms, int write_ms);

/// Serves one request at a time, so every fiber of a worker has its own adapter.
///
/// The library has no routes: every request reaches the same handler. It sees no field of the
/// request, so none of its own rules (Accept, Range, Expect, Upgrade, forms, Keep-Alive) applies
/// instead of the handler's (docs/contract.md#request-bodies).
class Adapter {
 public:
  /// Determines how the response to this request is sent.
  using Framing =
      std::function<ResponseFrame(Connection&, std::string_view request_id, const Response&)>;

  /// Setting `abort` ends a streamed response.
  Adapter(const ServerLimits& limits, const std::atomic<bool>& abort, Handler handler,
          Framing framing);
  ~Adapter();

  /// Calls the handler and sends its response. A buffered response never blocks: the connection
  /// keeps what the socket does not accept. A streamed response waits for the client, within
  /// limits. Returns false if the connection must be closed.
  bool serve(Connection& connection, Request& request);

 private:
  class Library;
  std::unique_ptr<Library> library_;
};

}  // namespace coffer::http
