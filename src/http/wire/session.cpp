#include "http/wire/session.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/check.h"
#include "http/problem_json.h"
#include "http/wire/chunk_framer.h"

namespace coffer::http {
namespace {

// Maximum number of bytes that a client may send after a rejection before its connection is closed.
constexpr std::size_t kDiscardMax = 8 * 1024 * 1024;

constexpr const char* kStopping = "The server is stopping, and the request was not complete.";
constexpr const char* kTooManyConnections = "Too many connections.";
constexpr const char* kTooManyBodies = "Too many request bodies at once.";
constexpr const char* kTooManyOfCaller = "Too many request bodies from this caller at once.";

bool is_whole(const Connection& connection) {
  const auto& http = connection.http;
  return http.head && !http.chunks && connection.input_size() >= http.head->bytes();
}

}  // namespace

Session::Session(const ServerOptions& options, Random& random, Poller& poller, TlsIdentity* tls)
    : options_(options),
      gate_limits_{options.limits.header_bytes_max, options.limits.header_count_max,
                   options.limits.target_bytes_max},
      random_(random),
      poller_(poller),
      tls_(tls),
      large_bodies_(options.limits.large_bodies_bytes_max),
      strangers_bodies_(options.limits.strangers_bodies_bytes_max),
      unread_(options.limits.unread_bytes_max) {}

Step Session::advance(Connection& connection) {
  if (tls_ != nullptr && !connection.tls()) {
    TlsSession session = tls_->accept(connection.fd());
    if (!session) return Step::close;
    connection.start_tls(std::move(session));
  }
  for (;;) {
    switch (step(connection)) {
      case Go::on:
        continue;
      case Go::park:
        return Step::park;
      case Go::handshake:
        return Step::handshake;
      case Go::serve:
        return Step::serve;
      case Go::close:
        return Step::close;
    }
  }
}

Session::Go Session::step(Connection& connection) {
  switch (connection.http.phase) {
    case Phase::handshake:
      return Go::handshake;
    case Phase::header:
      return header(connection);
    case Phase::body:
      return body(connection);
    case Phase::writing:
      return writing(connection);
    case Phase::lingering:
      return linger(connection);
  }
  return Go::close;
}

Session::Go Session::wait_for_rest(Connection& connection, Timer timer, int ms) {
  if (is_closing_incomplete()) {
    static_cast<void>(connection.send(rejected_as(kStopping, std::move(connection.http.request))));
    connection.end_output();
    return Go::close;
  }
  if (connection.incomplete_since_ms() == 0) {
    connection.set_incomplete_since_ms(clock_.monotonic_ms());
  }
  return wait(connection, timer, ms);
}

Session::Go Session::wait(Connection& connection, Timer timer, int ms) {
  // A deadline applies to a whole phase; single bytes do not extend it.
  if (connection.http.timer != timer) {
    connection.http.timer = timer;
    connection.set_deadline_ms(clock_.monotonic_ms() + ms);
  }
  return Go::park;
}

/// The remaining time for the body, which header and body share.
int Session::body_ms(const Connection& connection) const {
  const ServerLimits& limits = options_.limits;
  if (connection.http.timer != Timer::header) return limits.body_ms;
  const std::int64_t began = connection.deadline_ms() - limits.header_ms;
  const std::int64_t left = began + limits.request_ms - clock_.monotonic_ms();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, limits.body_ms));
}

Step Session::handshake(Connection& connection) {
  switch (connection.tls().handshake().state) {
    case IoState::done:
      connection.note_certificate();
      connection.http.phase = Phase::header;
      return advance(connection);
    case IoState::want_read:
      if (is_closing_incomplete()) return Step::close;
      wait(connection, Timer::header, options_.limits.header_ms);
      return Step::park;
    case IoState::want_write:
      // A handshake message exceeds the socket's buffer, which only a hostile peer causes.
    case IoState::closed:
    case IoState::failed:
      return Step::close;
  }
  return Step::close;
}

Session::Go Session::header(Connection& connection) {
  if (connection.input_size() > 0) {
    connection.set_idle_since_ms(0);
    GateResult result = inspect_header(connection.input(), gate_limits_, connection.http.progress);
    if (auto* rejection = std::get_if<Rejection>(&result)) {
      connection.http.request = request_of(rejection->head, connection.peer());
      return reject(connection, rejection->problem, rejection->head.request_id);
    }
    if (auto* head = std::get_if<RequestHead>(&result)) {
      return admit(connection, std::move(*head));
    }
  }
  return read_more(connection);
}

Session::Go Session::admit(Connection& connection, RequestHead head) {
  const auto reject_with = [&](const Problem& problem) {
    return reject(connection, problem, head.request_id);
  };
  connection.http.request = request_of(head, connection.peer());
  if (!connection.is_admitted()) return reject_with(overloaded(kTooManyConnections));
  connection.http.request.client_certificate = connection.certificate();
  if (const auto admitted = admit_body(connection, head.content_length); !admitted) {
    return reject_with(admitted.error());
  }
  const std::uint64_t cap = connection.http.request.admitted->body_bytes_max;
  if (head.content_length > cap) return reject_with(body_too_large(cap));
  const std::uint64_t known_bytes =
      head.chunked ? std::min<std::uint64_t>(cap, options_.limits.body_bytes_max)
                   : head.content_length;
  if (auto problem = reserve_body(connection, head, known_bytes)) {
    return reject_with(*problem);
  }
  const std::size_t awaited = head.head_bytes + (head.chunked ? 1 : head.content_length);
  if (head.expect_continue && connection.input_size() < awaited &&
      !connection.send("HTTP/1.1 100 Continue\r\n\r\n")) {
    return Go::close;
  }
  if (head.chunked) connection.http.chunks.emplace(cap);
  connection.http.head = std::move(head);
  connection.http.phase = Phase::body;
  return Go::on;
}

Session::Go Session::body(Connection& connection) {
  if (connection.http.chunks) {
    if (const auto problem = frame_chunks(connection)) {
      return reject(connection, *problem, connection.http.head->request_id);
    }
  }
  if (!is_whole(connection)) return read_more(connection);
  const bool is_large = connection.http.head->content_length > options_.limits.body_bytes_max;
  if (is_large) connection.http.lane = Lane::bulk;
  return Go::serve;
}

/// Frames the received part of a chunked body; returns the reason if it is rejected.
std::optional<Problem> Session::frame_chunks(Connection& connection) {
  auto& http = connection.http;
  ChunkFramer& chunks = *http.chunks;
  connection.join_chunks(http.head->head_bytes, chunks);
  if (chunks.problem()) return chunks.problem();
  // The length is unknown before the end, so once the body is large, memory for the maximum size is
  // reserved.
  const bool is_large = chunks.body_bytes() > options_.limits.body_bytes_max;
  if (is_large && !http.body.is_of(large_bodies_)) {
    const auto admitted = admit_body(connection, chunks.body_bytes_max());
    if (!admitted) return admitted.error();
    if (auto problem = reserve_body(connection, *http.head, chunks.body_bytes_max())) {
      return problem;
    }
  }
  if (chunks.is_complete()) {
    http.head->content_length = chunks.body_bytes();
    http.chunks.reset();
  }
  return std::nullopt;
}

Session::Go Session::read_more(Connection& connection) {
  const ServerLimits& limits = options_.limits;
  if (!connection.may_be_readable()) {
    if (connection.http.phase == Phase::body) {
      return wait_for_rest(connection, Timer::body, body_ms(connection));
    }
    if (connection.input_size() > 0) {
      return wait_for_rest(connection, Timer::header, limits.header_ms);
    }
    if (closing_idle_.load(std::memory_order_acquire)) {
      connection.end_output();
      return Go::close;
    }
    connection.http.waited_ms = 0;
    connection.http.sent_at_first_wait.reset();
    const bool is_fresh = connection.http.served == 0;
    if (connection.idle_since_ms() == 0) {
      connection.set_answered(!is_fresh);
      connection.set_idle_since_ms(clock_.monotonic_ms());
    }
    return is_fresh ? wait(connection, Timer::header, limits.header_ms)
                    : wait(connection, Timer::idle, limits.idle_ms);
  }
  switch (connection.receive()) {
    case IoState::done:
    case IoState::want_read:
    case IoState::want_write:
      return Go::on;
    case IoState::closed:
    case IoState::failed:
      return Go::close;  // an incomplete request can no longer become complete
  }
  return Go::close;
}

Session::Go Session::writing(Connection& connection) {
  switch (connection.flush()) {
    case IoState::done:
      // The next pipelined request is taken only after the client has read the previous responses,
      // so that unread data stays in the client's buffers.
      if (connection.input_size() == 0 || connection.is_writable()) return settle(connection);
      break;
    case IoState::want_read:
    case IoState::want_write:
      break;
    case IoState::closed:
    case IoState::failed:
      return Go::close;
  }
  auto& http = connection.http;
  const std::int64_t now = clock_.monotonic_ms();
  if (http.waits_since_ms == 0) {
    http.waits_since_ms = now;
    if (!http.sent_at_first_wait) http.sent_at_first_wait = connection.sent_total();
    const auto grant =
        http.unread.take(unread_, http.caller, connection.unsent() + connection.input_size());
    if (grant != MemoryBudget::Grant::given) return Go::close;
  }
  if (is_below_floor(connection.sent_total() - *http.sent_at_first_wait,
                     http.waited_ms + now - http.waits_since_ms, options_.limits.write_ms)) {
    return Go::close;
  }
  if (!http.watches_writing) {
    http.watches_writing = true;
    if (!poller_.watch_writing(connection.fd(), connection.token())) return Go::close;
  }
  if (http.timer == Timer::writing && http.sent_before != connection.sent_total()) {
    http.timer = Timer::none;
  }
  http.sent_before = connection.sent_total();
  return wait(connection, Timer::writing, options_.limits.write_ms);
}

Session::Go Session::settle(Connection& connection) {
  auto& http = connection.http;
  http.unread.give_back();
  if (http.waits_since_ms != 0) {
    http.waited_ms += clock_.monotonic_ms() - std::exchange(http.waits_since_ms, 0);
  }
  http.timer = Timer::none;
  if (http.keep_alive) {
    http.phase = Phase::header;
    return Go::on;
  }
  connection.end_output();
  // Closing with unread input would send a reset, which can overtake the response.
  const bool may_get_more = http.linger || connection.input_size() > 0;
  if (!may_get_more && !connection.may_be_readable()) return Go::close;
  http.phase = Phase::lingering;
  connection.set_answered(true);
  connection.set_idle_since_ms(clock_.monotonic_ms());
  return Go::on;
}

Session::Go Session::linger(Connection& connection) {
  connection.consume(connection.input_size());
  if (!connection.may_be_readable()) {
    return wait(connection, Timer::lingering, options_.limits.linger_ms);
  }
  if (connection.http.discarded > kReceiveBufferBytes) connection.read_much();
  const IoState state = connection.discard();
  const bool ended = state == IoState::closed || state == IoState::failed;
  return ended || connection.http.discarded > kDiscardMax ? Go::close : Go::on;
}

/// Rejects the request of the connection. `id` is the caller's, or empty.
Session::Go Session::reject(Connection& connection, const Problem& problem, const std::string& id) {
  rejected_.fetch_add(1, std::memory_order_relaxed);
  connection.set_incomplete_since_ms(0);
  Request request = std::exchange(connection.http.request, {});
  request.request_id = id.empty() ? new_request_id() : id;
  const Response response = render(problem, request);
  connection.http.keep_alive = false;
  connection.http.linger = true;
  connection.http.phase = Phase::writing;
  const ResponseFrame frame = frame_of(false, false, request.request_id);
  return connection.send(to_bytes(response, frame, false)) ? Go::on : Go::close;
}

RequestHead Session::take_head(Connection& connection) {
  auto& http = connection.http;
  COFFER_CHECK(is_whole(connection));
  RequestHead head = *std::exchange(http.head, std::nullopt);
  connection.set_incomplete_since_ms(0);
  if (head.request_id.empty()) head.request_id = new_request_id();
  http.progress = {};
  http.phase = Phase::header;
  http.http_1_0 = head.http_1_0;
  http.keep_alive = head.keep_alive;
  ++http.served;
  requests_.fetch_add(1, std::memory_order_relaxed);
  return head;
}

ResponseFrame Session::frame(Connection& connection, std::string_view request_id,
                             const Response& response) {
  auto& http = connection.http;
  http.body.give_back();  // before the client can learn that it may send the next large body
  if (http.served >= options_.limits.requests_per_connection_max) http.keep_alive = false;
  if (http.http_1_0 && response.stream) http.keep_alive = false;  // closing ends the body
  if (http.keep_alive && draining_.load(std::memory_order_acquire)) {
    // A request that was partly sent before the stop is completed and gets a response.
    if (connection.may_be_readable()) connection.receive();
    http.keep_alive = connection.input_size() > 0;
  }
  return frame_of(http.keep_alive, http.http_1_0, request_id);
}

ResponseFrame Session::frame_of(bool keep_alive, bool http_1_0, std::string_view id) const {
  // A client that follows the announced time never uses a connection while it is being closed.
  constexpr int kMarginMaxS = 5;
  const int idle_s = options_.limits.idle_ms / 1000;
  const int announced_s = idle_s - std::min(kMarginMaxS, (idle_s + 1) / 2);
  return {id, keep_alive, http_1_0, announced_s, clock_.now().ms / 1000};
}

Step Session::after_response(Connection& connection) {
  connection.http.phase = Phase::writing;
  return advance(connection);
}

Step Session::shed(Connection& connection, const Problem& problem) {
  const RequestHead head = take_head(connection);
  Request request = std::exchange(connection.http.request, {});
  request.request_id = head.request_id;
  connection.consume(head.bytes());
  rejected_.fetch_add(1, std::memory_order_relaxed);
  const Response response = render(problem, request);
  const ResponseFrame as = frame(connection, head.request_id, response);
  const std::string bytes = to_bytes(response, as, head.method == "HEAD");
  return connection.send(bytes) ? after_response(connection) : Step::close;
}

Step Session::yield(Connection& connection) {
  connection.http.watches_writing = true;
  if (!poller_.watch_writing(connection.fd(), connection.token())) return Step::close;
  wait(connection, Timer::writing, options_.limits.write_ms);
  return Step::park;
}

Step Session::give_way(Connection& connection) {
  connection.look_again();  // its event may still be pending
  const Step step = advance(connection);
  if (step != Step::park && step != Step::handshake) return step;
  const std::int64_t since_ms = connection.incomplete_since_ms();
  if (since_ms != 0) {
    if (since_ms > clock_.monotonic_ms() - options_.limits.incomplete_ms) return step;
    static_cast<void>(
        connection.send(rejected_as(kTooManyConnections, std::move(connection.http.request))));
  } else if (step == Step::park && connection.http.phase == Phase::writing) {
    return step;
  }
  connection.end_output();
  return Step::close;
}

std::string Session::no_room() { return rejected_as(kTooManyConnections, {}); }

std::string Session::rejected_as(const char* reason, Request request) {
  rejected_.fetch_add(1, std::memory_order_relaxed);
  request.request_id = new_request_id();
  return to_bytes(render(overloaded(reason), request), frame_of(false, false, request.request_id),
                  false);
}

/// Reserves memory for a body that is large, or that is incomplete and without accepted
/// credentials; returns the reason on failure.
std::optional<Problem> Session::reserve_body(Connection& connection, const RequestHead& head,
                                             std::uint64_t bytes) {
  auto& http = connection.http;
  const bool is_large = bytes > options_.limits.body_bytes_max;
  const bool is_there = !head.chunked && connection.input_size() >= head.head_bytes + bytes;
  if (!is_large && (is_there || http.caller.is_application)) return std::nullopt;
  switch (http.body.take(is_large ? large_bodies_ : strangers_bodies_, http.caller, bytes)) {
    case MemoryBudget::Grant::full:
      return overloaded(kTooManyBodies);
    case MemoryBudget::Grant::share_full:
      return Problem(Slug::rate_limited, kTooManyOfCaller).retry_after(1);
    case MemoryBudget::Grant::given:
      break;
  }
  if (is_large) {
    connection.expect(head.head_bytes + bytes);
    connection.read_much();
  }
  return std::nullopt;
}

/// Calls the admission function for the present request with this body size.
Result<void> Session::admit_body(Connection& connection, std::uint64_t body_bytes) const {
  auto& http = connection.http;
  Admission admission{.body_bytes_max = options_.limits.body_bytes_max};
  if (options_.admit) {
    COFFER_TRY(admission, options_.admit(http.request, body_bytes));
  }
  http.lane = admission.lane;
  http.caller = admission.caller;
  http.request.admitted = std::move(admission);
  return {};
}

Response Session::render(const Problem& problem, const Request& request) const {
  return options_.render_problem ? options_.render_problem(problem, request)
                                 : problem_response(problem, request.path, request.request_id);
}

std::string Session::new_request_id() { return random_.uuid_v7(clock_.now()).to_string(); }

}  // namespace coffer::http
