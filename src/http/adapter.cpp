#include "http/adapter.h"

#include <httplib.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "base/log.h"

namespace coffer::http {
namespace {

// A streamed body is sent in pieces of at least this size, not chunk by chunk.
constexpr std::size_t kStreamPiece = 32 * 1024;
constexpr std::int64_t kStreamBytesPerSecond = 16 * 1024;
// How often a waiting worker checks for an abort.
constexpr int kPollSliceMs = 100;

/// The client connection as the library sees it: reads come from the connection's input, writes go
/// to the connection.
class ConnectionStream final : public httplib::Stream {
 public:
  ConnectionStream(Connection& connection, const RequestHead& head, const ServerLimits& limits,
                   const std::atomic<bool>& abort)
      : connection_(connection), limits_(limits), abort_(abort) {
    const std::string_view input = connection.input();
    const std::string_view fields = input.substr(head.skipped, head.head_bytes - head.skipped);
    const std::size_t line_end = fields.find('\n') + 1;
    left_ = fields.substr(0, line_end);
    if (head.is_other_form) {
      line_ = head.method + ' ' + head.target + (head.http_1_0 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n");
      left_ = line_;
    }
    parts_[0] = fields.substr(line_end);
    const std::string_view body = input.substr(head.head_bytes, head.content_length);
    if (!head.chunked) {
      parts_[1] = body;
    } else if (body.empty()) {
      parts_[1] = "0\r\n\r\n";
    } else {
      // The chunks were joined on arrival (Connection::join_chunks).
      std::snprintf(chunk_size_, sizeof chunk_size_, "%zx\r\n", body.size());
      parts_[1] = chunk_size_;
      parts_[2] = body;
      parts_[3] = "\r\n0\r\n\r\n";
    }
  }

  bool is_behind_first_line() const { return part_ == 0 && left_.empty(); }
  bool is_read() const {
    return left_.empty() && std::all_of(parts_.begin() + part_, parts_.end(),
                                        [](std::string_view part) { return part.empty(); });
  }
  void stream_response() { streams_ = true; }

  ssize_t read(char* out, size_t size) override {
    refill();
    return left_.empty() ? 0 : static_cast<ssize_t>(take(out, std::min(size, left_.size())));
  }

  size_t read_held_line(char* out, size_t size) override {
    refill();
    const std::size_t end = left_.find("\r\n");
    return end < left_.size() && end + 2 <= size ? take(out, end + 2) : 0;
  }

  ssize_t write(const char* data, size_t size) override {
    const std::string_view piece(data, size);
    if (!streams_) return connection_.send(piece) ? static_cast<ssize_t>(size) : -1;
    connection_.buffer(piece);
    if (connection_.unsent() >= kStreamPiece && !wait_until_sent()) return -1;
    return static_cast<ssize_t>(size);
  }

  bool is_readable() const override { return !is_read(); }
  bool wait_readable() const override { return true; }
  bool wait_writable() const override { return !abort_.load(std::memory_order_relaxed); }
  time_t duration() const override { return 0; }
  socket_t socket() const override { return INVALID_SOCKET; }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}

 private:
  void refill() {
    while (left_.empty() && part_ < std::ssize(parts_)) left_ = parts_.begin()[part_++];
  }

  std::size_t take(char* out, std::size_t count) {
    std::memcpy(out, left_.data(), count);
    left_.remove_prefix(count);
    return count;
  }

  bool wait_until_sent() {
    std::int64_t progress_ms = clock_.monotonic_ms();
    for (;;) {
      const std::uint64_t before = connection_.sent_total();
      const IoState state = connection_.flush();
      if (state == IoState::done) return true;
      if (state != IoState::want_write && state != IoState::want_read) return false;
      const std::int64_t now = clock_.monotonic_ms();
      if (connection_.sent_total() != before) progress_ms = now;
      const std::uint64_t sent = connection_.sent_total() - sent_at_start_;
      if (now - progress_ms > limits_.write_ms || !wait_writable() ||
          is_below_floor(sent, waited_ms_, limits_.write_ms)) {
        return false;
      }
      pollfd wanted{connection_.fd(), POLLOUT, 0};
      ::poll(&wanted, 1, kPollSliceMs);
      waited_ms_ += clock_.monotonic_ms() - now;
    }
  }

  Connection& connection_;
  const ServerLimits& limits_;
  const std::atomic<bool>& abort_;
  std::string line_;       // the request line, if the library does not know the form that was sent
  std::string_view left_;  // of the part being read, at first the request line
  std::array<std::string_view, 4> parts_;
  std::ptrdiff_t part_ = 0;  // the next part
  char chunk_size_[24] = "";
  bool streams_ = false;
  const std::uint64_t sent_at_start_ = connection_.sent_total();
  const SystemClock clock_;
  std::int64_t waited_ms_ = 0;
};

// --- Requests -----------------------------------------------------------------------------------

/// Whether the library's hash table returns fields of the same name in reverse order.
bool reverses_fields() {
  static const bool reverses = [] {
    httplib::Headers two;
    two.emplace("a", "first");
    two.emplace("a", "second");
    return two.begin()->second == "second";
  }();
  return reverses;
}

/// Leaves no fields in `in`, so that the library's own rules have nothing to apply to.
void complete(Request& out, httplib::Request& in, const RequestHead& head) {
  out.headers.clear();
  out.headers.reserve(in.headers.size());
  for (auto& [name, value] : in.headers) out.headers.emplace_back(name, std::move(value));
  if (reverses_fields()) std::reverse(out.headers.begin(), out.headers.end());
  if (!head.authority.empty()) {
    std::erase_if(out.headers, [](const auto& field) { return same_name(field.first, "Host"); });
    out.headers.emplace_back("Host", head.authority);
  }
  out.body = std::move(in.body);
  in.headers.clear();
  in.ranges.clear();
  in.body_consumed_ = true;
}

// --- Responses ----------------------------------------------------------------------------------

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
    cached = httplib::detail::file_mtime_to_http_date(static_cast<time_t>(now_s));
  }
  return cached;
}

/// Whether the response has neither a body nor Content-Length.
bool has_no_body(int status) { return status == 204 || status == 304; }

/// Appends all fields that do not depend on the framing of the body. Omits invalid fields of the
/// handler, and fields that this file sets.
void append_fields(std::string& out, const Response& response, const ResponseFrame& frame) {
  namespace fields = httplib::detail::fields;
  if (!response.content_type.empty() && !has_no_body(response.status) &&
      fields::is_field_value(response.content_type)) {
    append_field(out, "Content-Type", response.content_type);
  }
  bool has_cache_control = false;
  for (const auto& [name, value] : response.headers) {
    if (is_set_here(name) || !fields::is_field_name(name) || !fields::is_field_value(value)) {
      continue;
    }
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
}

/// The response to `OPTIONS *` (RFC 9110 section 9.3.7).
Response methods_of_server() {
  Response out{.status = 204, .content_type = {}};
  return out.header("Allow", "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT");
}

}  // namespace

bool is_below_floor(std::uint64_t sent_bytes, std::int64_t waited_ms, int write_ms) {
  return waited_ms >
         write_ms + static_cast<std::int64_t>(sent_bytes) * 1000 / kStreamBytesPerSecond;
}

std::string to_bytes(const Response& response, const ResponseFrame& frame, bool head_only) {
  std::string out = "HTTP/1.1 " + std::to_string(response.status) + " ";
  out.append(httplib::status_message(response.status)).append("\r\n");
  append_fields(out, response, frame);
  append_field(out, "Content-Length", std::to_string(response.body.size()));
  out += "\r\n";
  if (!head_only) out += response.body;
  return out;
}

// --- The library --------------------------------------------------------------------------------

/// `process_request` calls, in this order: `read_request` with the parsed header; the routing
/// handler, which is the only handler; the header writer. If the library rejects a header because
/// of its own rules (the method, Accept, Range), it calls the error handler instead of the first
/// two.
class Adapter::Library final : private httplib::Server {
 public:
  Library(const ServerLimits& limits, const std::atomic<bool>& abort, http::Handler handler,
          Framing framing)
      : limits_(limits),
        abort_(abort),
        handler_(std::move(handler)),
        framing_(std::move(framing)),
        read_request_([this](httplib::Request& in) { read_request(in); }) {
    // httplib interprets a missing listening socket as a shutdown and would stop in the middle of a
    // streamed body. It never uses the number.
    svr_sock_ = 0;
    set_pre_routing_handler([this](const httplib::Request&, httplib::Response& out) {
      respond(out);
      return HandlerResponse::Handled;
    });
    set_error_handler([this](const httplib::Request& in, httplib::Response& out) {
      if (is_seen_) return HandlerResponse::Unhandled;  // the handler's status
      httplib::Request again = in;
      if (is_own_rule(again)) read_request(again);
      respond(out);
      return HandlerResponse::Handled;
    });
    set_error_logger(
        [this](const httplib::Error& error, const httplib::Request*) { rejected_for_ = error; });
    set_header_writer([this](httplib::Stream& out, httplib::Headers& headers) {
      return write_head(out, headers);
    });
  }

  bool serve(Connection& connection, const RequestHead& head) {
    ConnectionStream stream(connection, head, limits_, abort_);
    connection_ = &connection;
    head_ = &head;
    stream_ = &stream;
    is_seen_ = is_read_ = is_answered_ = false;
    rejected_for_ = httplib::Error::Success;
    bool closed = false;
    bool ok = false;
    try {
      // For a connection that closes, the library omits its Keep-Alive field.
      constexpr bool kCloses = true;
      ok = process_request(stream, connection.peer(), 0, {}, 0, kCloses, closed, read_request_);
    } catch (const std::exception& error) {
      // The header was already sent, so only closing the connection informs the client.
      log_error("http", "streamed response failed",
                {{"request_id", head.request_id}, {"error", error.what()}});
    }
    if (!is_answered_) {
      log_error("http", "cpp-httplib rejected a request that passed the header gate",
                {{"request_id", head.request_id}});
    }
    request_ = Request();
    response_ = Response();
    return ok && is_answered_;
  }

 private:
  /// The gate and the library must agree on the end of the request.
  void read_request(httplib::Request& in) {
    is_seen_ = true;
    if (head_->chunked || head_->content_length > 0) {
      int status = 0;
      in.body.reserve(head_->content_length);
      const auto keep = [&in](const char* data, std::size_t size, std::size_t, std::size_t) {
        in.body.append(data, size);
        return true;
      };
      if (!httplib::detail::read_content(*stream_, in, std::numeric_limits<std::size_t>::max(),
                                         status, nullptr, keep, false)) {
        return;
      }
    }
    is_read_ = stream_->is_read() && in.method == head_->method && in.target == head_->target;
    request_ = std::move(connection_->http.request);
    complete(request_, in, *head_);
    request_.request_id = head_->request_id;
    connection_->consume(head_->bytes());
  }

  /// Whether the library rejected the request because of its own rules, and not because of invalid
  /// bytes.
  bool is_own_rule(httplib::Request& in) const {
    // The library does not know the method and has not read further.
    if (rejected_for_ == httplib::Error::InvalidRequestLine) {
      return stream_->is_behind_first_line() && httplib::detail::read_headers(*stream_, in.headers);
    }
    return rejected_for_ == httplib::Error::HTTPParsing ||  // Accept
           rejected_for_ == httplib::Error::InvalidRangeHeader;
  }

  void respond(httplib::Response& out) {
    out.status = 400;
    if (!is_read_) return;
    response_ = request_.path == "*" ? methods_of_server() : handler_(request_);
    frame_ = framing_(*connection_, *head_, response_);
    is_answered_ = true;
    out.status = response_.status;
    if (!response_.stream) {
      out.body = std::move(response_.body);
      return;
    }
    stream_->stream_response();
    if (response_.stream_bytes) return respond_sized(out, *response_.stream_bytes);
    const auto provide = [this](std::size_t, httplib::DataSink& sink) {
      const bool complete = response_.stream([&](std::string_view piece) {
        // httplib interprets an empty piece as the end of the body.
        return piece.empty() || sink.write(piece.data(), piece.size());
      });
      if (complete) sink.done();
      return complete;
    };
    if (frame_.http_1_0) {
      out.set_content_provider(response_.content_type, provide);
    } else {
      out.set_chunked_content_provider(response_.content_type, provide);
    }
  }

  /// The library calls again until all bytes are written, so too few bytes are an error. Bytes
  /// beyond the size would be read as the next response.
  void respond_sized(httplib::Response& out, std::uint64_t bytes) {
    const auto provide = [this](std::size_t, std::size_t wanted, httplib::DataSink& sink) {
      std::size_t left = wanted;
      const bool complete = response_.stream([&](std::string_view piece) {
        if (piece.size() > left) return false;
        left -= piece.size();
        return piece.empty() || sink.write(piece.data(), piece.size());
      });
      return complete && left == 0;
    };
    out.set_content_provider(bytes, response_.content_type, provide);
  }

  /// Sends nothing if the handler has not returned a response.
  ssize_t write_head(httplib::Stream& out, const httplib::Headers& headers) {
    if (!is_answered_) return -1;
    fields_.clear();
    append_fields(fields_, response_, frame_);
    for (const char* name : {"Content-Length", "Transfer-Encoding"}) {
      const auto it = headers.find(name);
      if (it == headers.end() || has_no_body(response_.status)) continue;
      append_field(fields_, name, it->second);
    }
    fields_ += "\r\n";
    return out.write(fields_.data(), fields_.size());
  }

  const ServerLimits& limits_;
  const std::atomic<bool>& abort_;
  const http::Handler handler_;
  const Framing framing_;
  const std::function<void(httplib::Request&)> read_request_;

  // State of the present request.
  Connection* connection_ = nullptr;
  const RequestHead* head_ = nullptr;
  ConnectionStream* stream_ = nullptr;
  bool is_seen_ = false;      // its header was passed to the library's handler or error handler
  bool is_read_ = false;      // the library has read the request up to the end that the gate found
  bool is_answered_ = false;  // the handler has returned a response
  httplib::Error rejected_for_ = httplib::Error::Success;
  Request request_;
  Response response_;
  ResponseFrame frame_;
  std::string fields_;
};

std::string httplib_version() { return CPPHTTPLIB_VERSION; }

Adapter::Adapter(const ServerLimits& limits, const std::atomic<bool>& abort, Handler handler,
                 Framing framing)
    : library_(std::make_unique<Library>(limits, abort, std::move(handler), std::move(framing))) {}

Adapter::~Adapter() = default;

bool Adapter::serve(Connection& connection, const RequestHead& head) {
  return library_->serve(connection, head);
}

}  // namespace coffer::http
