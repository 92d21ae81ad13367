#include "http/exchange.h"

#include <httplib.h>
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "base/clock.h"
#include "base/log.h"

namespace coffer::http {
namespace {

// A streamed body is sent in pieces of at least this size, not chunk by chunk.
constexpr std::size_t kStreamPiece = 32 * 1024;
// A client that takes a streamed body more slowly than this on average, beyond the write timeout,
// is cut: a worker waits for it.
constexpr std::int64_t kStreamBytesPerSecond = 1'024;
// How soon a waiting worker notices an abort.
constexpr int kPollSliceMs = 100;

constexpr std::string_view kGet = "GET / HTTP/1.1\r\n\r\n";
constexpr std::string_view kHead = "HEAD / HTTP/1.1\r\n\r\n";

/// What httplib takes for the client: it reads our request line and writes to the connection.
class ConnectionStream final : public httplib::Stream {
 public:
  ConnectionStream(Connection& connection, std::string_view request, bool streams,
                   const ServerLimits& limits, const std::atomic<bool>& abort)
      : connection_(connection),
        request_(request),
        streams_(streams),
        limits_(limits),
        abort_(abort),
        sent_at_start_(connection.sent_total()) {}

  ssize_t read(char* out, size_t size) override {
    const std::size_t count = std::min(size, request_.size());
    std::memcpy(out, request_.data(), count);
    request_.remove_prefix(count);
    return static_cast<ssize_t>(count);
  }

  ssize_t write(const char* data, size_t size) override {
    const std::string_view piece(data, size);
    if (!streams_) return connection_.send(piece) ? static_cast<ssize_t>(size) : -1;
    connection_.buffer(piece);
    if (connection_.unsent() >= kStreamPiece && !wait_until_sent()) return -1;
    return static_cast<ssize_t>(size);
  }

  bool is_readable() const override { return !request_.empty(); }
  bool wait_readable() const override { return true; }
  bool wait_writable() const override { return !abort_.load(std::memory_order_relaxed); }
  time_t duration() const override { return 0; }
  socket_t socket() const override { return INVALID_SOCKET; }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}

 private:
  bool wait_until_sent() {
    std::int64_t progress_ms = clock_.monotonic_ms();
    for (;;) {
      const std::uint64_t before = connection_.sent_total();
      const IoState state = connection_.flush();
      if (state == IoState::done) return true;
      if (state != IoState::want_write && state != IoState::want_read) return false;
      const std::int64_t now = clock_.monotonic_ms();
      if (connection_.sent_total() != before) progress_ms = now;
      if (now - progress_ms > limits_.write_ms || is_too_slow() || !wait_writable()) return false;
      pollfd wanted{connection_.fd(), POLLOUT, 0};
      ::poll(&wanted, 1, kPollSliceMs);
      waited_ms_ += clock_.monotonic_ms() - now;
    }
  }

  bool is_too_slow() const {
    const auto sent = static_cast<std::int64_t>(connection_.sent_total() - sent_at_start_);
    return waited_ms_ > limits_.write_ms + sent * 1000 / kStreamBytesPerSecond;
  }

  Connection& connection_;
  std::string_view request_;
  const bool streams_;
  const ServerLimits& limits_;
  const std::atomic<bool>& abort_;
  const std::uint64_t sent_at_start_;
  const SystemClock clock_;
  std::int64_t waited_ms_ = 0;
};

}  // namespace

class Exchange::Formatter final : private httplib::Server {
 public:
  Formatter(const ServerLimits& limits, const std::atomic<bool>& abort)
      : limits_(limits), abort_(abort) {
    // httplib takes "no listening socket" for "shutting down" and would stop in the middle of a
    // streamed body. It never uses the number.
    svr_sock_ = 0;
    set_pre_routing_handler([this](const httplib::Request&, httplib::Response& out) {
      fill(out);
      return HandlerResponse::Handled;
    });
    set_header_writer([this](httplib::Stream& stream, httplib::Headers& headers) {
      return write_head(stream, headers);
    });
  }

  bool respond(Connection& connection, std::string_view method, const ResponseFrame& frame,
               Response response) {
    response_ = std::move(response);
    frame_ = &frame;
    ConnectionStream stream(connection, method == "HEAD" ? kHead : kGet,
                            static_cast<bool>(response_.stream), limits_, abort_);
    bool closed = false;
    bool ok = false;
    try {
      ok = process_request(stream, {}, 0, {}, 0, false, closed, nullptr);
    } catch (const std::exception& error) {
      // The head is on its way already; only cutting the connection tells the client.
      log_error("http", "streamed response failed",
                {{"request_id", frame.request_id}, {"error", error.what()}});
    }
    response_ = Response();
    frame_ = nullptr;
    return ok;
  }

 private:
  void fill(httplib::Response& out) {
    out.status = response_.status;
    if (!response_.stream) {
      out.body = std::move(response_.body);
      return;
    }
    const auto provide = [this](std::size_t, httplib::DataSink& sink) {
      const bool complete = response_.stream([&](std::string_view piece) {
        // httplib takes an empty piece for the end.
        return piece.empty() || sink.write(piece.data(), piece.size());
      });
      if (complete) sink.done();
      return complete;
    };
    if (frame_->http_1_0) {
      out.set_content_provider(response_.content_type, provide);
    } else {
      out.set_chunked_content_provider(response_.content_type, provide);
    }
  }

  ssize_t write_head(httplib::Stream& stream, const httplib::Headers& headers) {
    head_.clear();
    append_fields(head_, response_, *frame_);
    for (const char* name : {"Content-Length", "Transfer-Encoding"}) {
      const auto it = headers.find(name);
      if (it == headers.end() || has_no_body(response_.status)) continue;
      head_.append(name).append(": ").append(it->second).append("\r\n");
    }
    head_ += "\r\n";
    return stream.write(head_.data(), head_.size());
  }

  const ServerLimits& limits_;
  const std::atomic<bool>& abort_;
  Response response_;
  const ResponseFrame* frame_ = nullptr;
  std::string head_;
};

std::string httplib_version() { return CPPHTTPLIB_VERSION; }

Exchange::Exchange(const ServerLimits& limits, const std::atomic<bool>& abort)
    : formatter_(std::make_unique<Formatter>(limits, abort)) {}

Exchange::~Exchange() = default;

bool Exchange::respond(Connection& connection, std::string_view method, const ResponseFrame& frame,
                       Response response) {
  return formatter_->respond(connection, method, frame, std::move(response));
}

}  // namespace coffer::http
