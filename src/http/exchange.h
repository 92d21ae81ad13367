// Formats a response with cpp-httplib and gives it to the connection.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "http/message.h"
#include "http/server.h"
#include "http/wire/connection.h"
#include "http/wire/response_head.h"

namespace coffer::http {

/// Of the library inside, as in "0.41.0".
std::string httplib_version();

/// One per worker thread.
///
/// cpp-httplib never sees a byte that a client sent: it reads a request line that we wrote (GET or
/// HEAD of `/`) and formats what the handler returned. So its parser's bugs, percent-decoding of
/// header values included, have nothing to work on.
class Exchange {
 public:
  /// `abort` cuts a streamed response short.
  Exchange(const ServerLimits& limits, const std::atomic<bool>& abort);
  ~Exchange();

  /// A buffered response never blocks: what the socket does not take stays with the connection. A
  /// streamed one waits for the client, within limits. False: the connection has to be cut.
  bool respond(Connection& connection, std::string_view method, const ResponseFrame& frame,
               Response response);

 private:
  class Formatter;
  std::unique_ptr<Formatter> formatter_;
};

}  // namespace coffer::http
