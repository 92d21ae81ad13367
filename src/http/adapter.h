// Between cpp-httplib and coffer's values: the library reads a request that has passed the gate and
// writes the response; the handler sees http/message.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "http/gate.h"
#include "http/message.h"
#include "http/server.h"
#include "http/wire/connection.h"

namespace coffer::http {

/// Of the library inside, as in "0.41.0".
std::string httplib_version();

/// How a response travels; not for handlers to decide.
struct ResponseFrame {
  std::string_view request_id;
  bool keep_alive = true;
  bool http_1_0 = false;
  std::int64_t now_s = 0;  // seconds since 1970, for Date
};

/// A whole response with a buffered body, for responses that are given without a worker. With
/// `head_only` the body is announced but not sent.
std::string to_bytes(const Response& response, const ResponseFrame& frame, bool head_only);

/// Whether a worker has waited long enough for a client that has taken so much of a streamed body:
/// less than 16 KiB a second on average, beyond the write timeout.
bool is_below_floor(std::uint64_t sent_bytes, std::int64_t waited_ms, int write_ms);

/// One per worker thread.
///
/// The library parses the request's own bytes, reads its body and formats the response. It has no
/// routes: every request reaches the one handler. Where it has a rule of its own (methods, Accept,
/// Range, Expect, Upgrade, forms, Keep-Alive), the handler's rule counts
/// (docs/contract.md#request-bodies).
class Adapter {
 public:
  /// Decides how the response to the request of this head travels.
  using Framing = std::function<ResponseFrame(Connection&, const RequestHead&, const Response&)>;

  /// `abort` cuts a streamed response short.
  Adapter(const ServerLimits& limits, const std::atomic<bool>& abort, Handler handler,
          Framing framing);
  ~Adapter();

  /// Serves the whole request at the beginning of the connection's input and consumes it there. A
  /// buffered response never blocks: what the socket does not take stays with the connection. A
  /// streamed one waits for the client, within limits. False: the connection has to be cut.
  bool serve(Connection& connection, const RequestHead& head);

 private:
  class Library;
  std::unique_ptr<Library> library_;
};

}  // namespace coffer::http
