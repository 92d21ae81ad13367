#include "http/wire/adapter.h"

#include <httplib.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <exception>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "base/platform/lease.h"
#include "base/telemetry/log.h"
#include "http/gate.h"

namespace coffer::http {
namespace {

// A streamed body is sent in pieces of at least this size, not chunk by chunk.
constexpr std::size_t kStreamPiece = 32 * 1024;
constexpr std::int64_t kStreamBytesPerSecond = 16 * 1024;
// How often a waiting worker checks for an abort.
constexpr int kPollSliceMs = 100;

/// The client connection as the library sees it. The gate has already read the request, so the
/// library reads only a request line, which tells it whether the response has a body.
class ConnectionStream final : public httplib::Stream {
 public:
  ConnectionStream(Connection& connection, bool is_head)
      : connection_(connection),
        left_(is_head ? "HEAD / HTTP/1.1\r\n\r\n" : "GET / HTTP/1.1\r\n\r\n") {}

  ssize_t read(char* out, size_t size) override {
    const std::size_t count = left_.copy(out, size);
    left_.remove_prefix(count);
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* data, size_t size) override {
    return connection_.channel.send({data, size}) ? static_cast<ssize_t>(size) : -1;
  }
  bool is_readable() const override { return !left_.empty(); }
  bool wait_readable() const override { return true; }
  bool wait_writable() const override { return true; }
  time_t duration() const override { return 0; }
  socket_t socket() const override { return INVALID_SOCKET; }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}

 private:
  Connection& connection_;
  std::string_view left_;
};

// --- Header -------------------------------------------------------------------------------------

bool is_set_here(std::string_view name) {
  constexpr std::array<std::string_view, 8> kOurs{
      "Content-Type", "Content-Length",         "Transfer-Encoding", "Connection",
      "X-Request-Id", "X-Content-Type-Options", "Keep-Alive",        "Date"};
  return std::any_of(kOurs.begin(), kOurs.end(),
                     [&](std::string_view ours) { return same_name(ours, name); });
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

/// The text of `Date` changes once per second; each thread caches the last one.
const std::string& date(std::int64_t now_s) {
  thread_local std::int64_t cached_s = -1;
  thread_local std::string cached;
  if (std::exchange(cached_s, now_s) != now_s) {
    const auto seconds = static_cast<std::time_t>(now_s);
    std::tm parts{};
    char text[40] = "";
    if (::gmtime_r(&seconds, &parts) != nullptr) {
      std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    }
    cached = text;
  }
  return cached;
}

/// Whether the response has neither a body nor Content-Length.
bool has_no_body(int status) { return status == 204 || status == 304; }

bool is_chunked(const Response& response, const ResponseFrame& frame) {
  return response.stream && !response.stream_bytes && !frame.http_1_0;
}

void append_framing(std::string& out, const Response& response, const ResponseFrame& frame) {
  if (has_no_body(response.status)) return;
  if (is_chunked(response, frame)) {
    append_field(out, "Transfer-Encoding", "chunked");
  } else if (!response.stream) {
    append_field(out, "Content-Length", std::to_string(response.body.size()));
  } else if (response.stream_bytes) {
    append_field(out, "Content-Length", std::to_string(*response.stream_bytes));
  }
}

/// All fields and the empty line. Omits invalid fields of the handler, and fields that are set
/// here.
std::string fields_of(const Response& response, const ResponseFrame& frame) {
  std::string out;
  if (!response.content_type.empty() && !has_no_body(response.status) &&
      is_field_value(response.content_type)) {
    append_field(out, "Content-Type", response.content_type);
  }
  bool has_cache_control = false;
  for (const auto& [name, value] : response.headers) {
    if (is_set_here(name) || !is_token(name) || !is_field_value(value)) continue;
    has_cache_control = has_cache_control || same_name(name, "Cache-Control");
    append_field(out, name, value);
  }
  append_field(out, "X-Request-Id", frame.request_id);
  append_field(out, "X-Content-Type-Options", "nosniff");
  if (!has_cache_control) append_field(out, "Cache-Control", "no-store");
  append_field(out, "Date", date(frame.now_s));
  const bool announces = frame.keep_alive && frame.idle_s > 0;
  if (!frame.keep_alive) {
    append_field(out, "Connection", "close");
  } else if (frame.http_1_0 || announces) {
    append_field(out, "Connection", "keep-alive");
  }
  if (announces) append_field(out, "Keep-Alive", "timeout=" + std::to_string(frame.idle_s));
  append_framing(out, response, frame);
  return out += "\r\n";
}

/// The response to `OPTIONS *` (RFC 9110 section 9.3.7).
Response methods_of_server() {
  Response out{.status = 204, .content_type = {}};
  return out.header("Allow", "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT");
}

// --- Streamed bodies ----------------------------------------------------------------------------

/// Sends the body of one response and waits for the client, within limits. The library's own
/// streaming requires that the library listens.
class BodyWriter {
 public:
  BodyWriter(Connection& connection, const ServerLimits& limits, const std::atomic<bool>& abort)
      : connection_(connection), limits_(limits), abort_(abort) {}

  /// Returns false if the connection must be closed. The end of the body stays in the connection.
  bool write(const Response& response, bool chunked) {
    std::uint64_t left = response.stream_bytes.value_or(std::numeric_limits<std::uint64_t>::max());
    const bool complete = response.stream([&](std::string_view piece) {
      if (piece.empty()) return true;  // an empty chunk would end the body
      if (piece.size() > left) return false;
      left -= piece.size();
      return add(piece, chunked);
    });
    if (!complete || (response.stream_bytes && left != 0)) return false;
    if (chunked) connection_.channel.buffer("0\r\n\r\n");
    return true;
  }

 private:
  bool add(std::string_view piece, bool chunked) {
    if (chunked) {
      char size[24];
      std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
      connection_.channel.buffer(size);
    }
    connection_.channel.buffer(piece);
    if (chunked) connection_.channel.buffer("\r\n");
    return connection_.channel.unsent() < kStreamPiece || wait_until_sent();
  }

  bool wait_until_sent() {
    std::int64_t progress_ms = clock_.monotonic_ms();
    for (;;) {
      const std::uint64_t before = connection_.channel.sent_total();
      const IoState state = connection_.channel.flush();
      if (state == IoState::done) return true;
      if (state != IoState::want_write && state != IoState::want_read) return false;
      const std::int64_t now = clock_.monotonic_ms();
      if (connection_.channel.sent_total() != before) progress_ms = now;
      const std::uint64_t sent = connection_.channel.sent_total() - sent_at_start_;
      if (now - progress_ms > limits_.write_ms || abort_.load(std::memory_order_relaxed) ||
          is_below_floor(sent, waited_ms_, limits_.write_ms)) {
        return false;
      }
      pollfd wanted{connection_.channel.fd(), POLLOUT, 0};
      ::poll(&wanted, 1, kPollSliceMs);
      waited_ms_ += clock_.monotonic_ms() - now;
    }
  }

  Connection& connection_;
  const ServerLimits& limits_;
  const std::atomic<bool>& abort_;
  const std::uint64_t sent_at_start_ = connection_.channel.sent_total();
  const SystemClock clock_;
  std::int64_t waited_ms_ = 0;
};

}  // namespace

bool is_below_floor(std::uint64_t sent_bytes, std::int64_t waited_ms, int write_ms) {
  return waited_ms >
         write_ms + static_cast<std::int64_t>(sent_bytes) * 1000 / kStreamBytesPerSecond;
}

std::string to_bytes(const Response& response, const ResponseFrame& frame, bool head_only) {
  std::string out = "HTTP/1.1 " + std::to_string(response.status) + " ";
  out.append(httplib::status_message(response.status)).append("\r\n");
  out += fields_of(response, frame);
  if (!head_only) out += response.body;
  return out;
}

// --- The library --------------------------------------------------------------------------------

/// `process_request` calls the routing handler, which is the only handler, and the header writer.
class Adapter::Library final : private httplib::Server {
 public:
  Library(const ServerLimits& limits, const std::atomic<bool>& abort, http::Handler handler,
          Framing framing)
      : limits_(limits), abort_(abort), handler_(std::move(handler)), framing_(std::move(framing)) {
    set_pre_routing_handler([this](const httplib::Request&, httplib::Response& out) {
      respond(out);
      return HandlerResponse::Handled;
    });
    set_header_writer([this](httplib::Stream& out, httplib::Headers&) {
      return out.write(fields_.data(), fields_.size());
    });
  }

  bool serve(Connection& connection, Request& request) {
    id_ = request.request_id;  // the handler may use up the request
    const bool is_head = request.method == "HEAD";
    connection_ = &connection;
    request_ = &request;
    ConnectionStream stream(connection, is_head);
    bool closed = false;
    bool ok = false;
    try {
      // For a connection that closes, the library omits its Keep-Alive field.
      constexpr bool kCloses = true;
      ok = process_request(stream, {}, 0, {}, 0, kCloses, closed, nullptr);
      if (ok && response_.stream && !is_head) {
        ok =
            BodyWriter(connection, limits_, abort_).write(response_, is_chunked(response_, frame_));
      }
    } catch (const std::exception& error) {
      // The header was already sent, so only closing the connection informs the client.
      log_error("http", "streamed response failed", {{"request_id", id_}, {"error", error.what()}});
      ok = false;
    }
    response_ = Response();
    return ok;
  }

 private:
  void respond(httplib::Response& out) {
    fields_.clear();  // of the request before: without a header, the library closes the connection
    response_ = request_->path == "*" ? methods_of_server() : handler_(*request_);
    require_lease();
    frame_ = framing_(*connection_, id_, response_);
    fields_ = fields_of(response_, frame_);
    out.status = response_.status;
    if (!response_.stream) out.body = std::move(response_.body);
  }

  const ServerLimits& limits_;
  const std::atomic<bool>& abort_;
  const http::Handler handler_;
  const Framing framing_;

  // State of the present request.
  Connection* connection_ = nullptr;
  Request* request_ = nullptr;
  std::string id_;
  Response response_;
  ResponseFrame frame_;
  std::string fields_;  // the header of the response
};

std::string httplib_version() { return CPPHTTPLIB_VERSION; }

Adapter::Adapter(const ServerLimits& limits, const std::atomic<bool>& abort, Handler handler,
                 Framing framing)
    : library_(std::make_unique<Library>(limits, abort, std::move(handler), std::move(framing))) {}

Adapter::~Adapter() = default;

bool Adapter::serve(Connection& connection, Request& request) {
  return library_->serve(connection, request);
}

}  // namespace coffer::http
