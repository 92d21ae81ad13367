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

// Maximum number of bytes read at once: ahead from pipelined requests, and of a body.
constexpr std::size_t kHeaderChunk = 4 * 1024;
constexpr std::size_t kBodyChunk = 16 * 1024;

constexpr const char* kStopping = "The server is stopping, and the request was not complete.";
constexpr const char* kTooManyBodies = "Too many request bodies at once.";
constexpr const char* kTooManyOfCaller = "Too many request bodies from this caller at once.";

bool is_whole(const Connection& connection) {
  const auto& http = connection.http;
  return http.head && !http.chunks &&
         connection.channel.input().size() >= http.head->content_length;
}

/// The remaining time for the body, which header and body share.
int body_ms(const Connection& connection, const ServerLimits& limits, std::int64_t now_ms) {
  if (connection.http.timer != Timer::header) return limits.body_ms;
  const std::int64_t began = connection.deadline_ms() - limits.header_ms;
  const std::int64_t left = began + limits.request_ms - now_ms;
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, limits.body_ms));
}

}  // namespace

Session::Session(const ServerOptions& options, Random& random, Poller& poller, TlsIdentity* tls)
    : options_(options),
      gate_limits_{options.limits.header_bytes_max, options.limits.header_count_max,
                   options.limits.target_bytes_max},
      poller_(poller),
      tls_(tls),
      responder_(options, random),
      large_bodies_(options.limits.large_bodies_bytes_max),
      unauthenticated_bodies_(options.limits.unauthenticated_bodies_bytes_max),
      unread_(options.limits.unread_bytes_max) {}

Next Session::advance(Connection& connection) {
  if (tls_ != nullptr && !connection.channel.tls()) {
    TlsSession session = tls_->accept(connection.channel.fd());
    if (!session) return Next::close;
    connection.channel.start_tls(std::move(session));
    connection.http.phase = Phase::handshake;
  }
  for (Next next = Next::on;;) {
    switch (connection.http.phase) {
      case Phase::handshake:
        return Next::handshake;
      case Phase::header:
        next = header(connection);
        break;
      case Phase::body:
        next = body(connection);
        break;
      case Phase::writing:
        next = writing(connection);
        break;
      case Phase::lingering:
        next = linger(connection);
    }
    if (next != Next::on) return next;
  }
}

Next Session::wait_for_rest(Connection& connection, Timer timer, int ms) {
  if (is_draining(Drain::close_incomplete)) {
    static_cast<void>(connection.channel.send(
        responder_.overload(kStopping, std::move(connection.http.request))));
    connection.channel.end_output();
    return Next::close;
  }
  if (connection.incomplete_since_ms() == 0) {
    connection.set_incomplete_since_ms(clock_.monotonic_ms());
  }
  return wait(connection, timer, ms);
}

Next Session::wait(Connection& connection, Timer timer, int ms) {
  // A deadline applies to a whole phase; single bytes do not extend it.
  if (connection.http.timer != timer) {
    connection.http.timer = timer;
    connection.set_deadline_ms(clock_.monotonic_ms() + ms);
  }
  return Next::park;
}

Next Session::handshake(Connection& connection) {
  switch (connection.channel.tls().handshake().state) {
    case IoState::done:
      connection.note_certificate();
      connection.http.phase = Phase::header;
      return advance(connection);
    case IoState::want_read:
      if (is_draining(Drain::close_incomplete)) return Next::close;
      wait(connection, Timer::header, options_.limits.header_ms);
      return Next::park;
    case IoState::want_write:
      // A handshake message exceeds the socket's buffer, which only a hostile peer causes.
    case IoState::closed:
    case IoState::failed:
      return Next::close;
  }
  return Next::close;
}

Next Session::header(Connection& connection) {
  if (connection.channel.input().size() > 0) {
    connection.set_idle_since_ms(0);
    GateResult result =
        inspect_header(connection.channel.input(), gate_limits_, connection.http.progress);
    if (auto* rejection = std::get_if<Rejection>(&result)) {
      connection.http.request = request_of(rejection->head, connection.peer());
      return reject(connection, rejection->problem);
    }
    if (auto* head = std::get_if<RequestHead>(&result)) {
      connection.channel.consume(head->head_bytes);
      return admit(connection, std::move(*head));
    }
  }
  return read_more(connection);
}

Next Session::admit(Connection& connection, RequestHead head) {
  connection.http.request = request_of(head, connection.peer());
  if (!connection.is_admitted()) return reject(connection, overloaded(kTooManyConnections));
  connection.http.request.client_certificate = connection.certificate();
  if (const auto admitted = admit_body(connection, head.content_length); !admitted) {
    return reject(connection, admitted.error());
  }
  const std::uint64_t cap = connection.http.request.admitted->body_bytes_max;
  if (head.content_length > cap) return reject(connection, body_too_large(cap));
  const std::uint64_t known_bytes =
      head.chunked ? std::min<std::uint64_t>(cap, options_.limits.body_bytes_max)
                   : head.content_length;
  if (auto problem = reserve_body(connection, head, known_bytes)) {
    return reject(connection, *problem);
  }
  const std::size_t awaited = head.chunked ? 1 : head.content_length;
  if (head.expect_continue && connection.channel.input().size() < awaited &&
      !connection.channel.send("HTTP/1.1 100 Continue\r\n\r\n")) {
    return Next::close;
  }
  if (head.chunked) connection.http.chunks.emplace(cap);
  connection.http.head = std::move(head);
  connection.http.phase = Phase::body;
  return Next::on;
}

Next Session::body(Connection& connection) {
  if (connection.http.chunks) {
    if (const auto problem = frame_chunks(connection)) return reject(connection, *problem);
  }
  if (!is_whole(connection)) return read_more(connection);
  const bool is_large = connection.http.head->content_length > options_.limits.body_bytes_max;
  if (is_large) connection.http.lane = Lane::bulk;
  return Next::serve;
}

/// Frames the received part of a chunked body; returns the reason if it is rejected.
std::optional<Problem> Session::frame_chunks(Connection& connection) {
  auto& http = connection.http;
  ChunkFramer& chunks = *http.chunks;
  connection.channel.join_chunks(chunks);
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

Next Session::read_more(Connection& connection) {
  const ServerLimits& limits = options_.limits;
  if (!connection.channel.may_be_readable()) {
    if (connection.http.phase == Phase::body) {
      const int ms = body_ms(connection, limits, clock_.monotonic_ms());
      return wait_for_rest(connection, Timer::body, ms);
    }
    if (connection.channel.input().size() > 0) {
      return wait_for_rest(connection, Timer::header, limits.header_ms);
    }
    if (is_draining(Drain::close_idle)) {
      connection.channel.end_output();
      return Next::close;
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
  const bool is_body = connection.http.phase == Phase::body;
  switch (connection.channel.receive(is_body ? kBodyChunk : kHeaderChunk)) {
    case IoState::done:
    case IoState::want_read:
    case IoState::want_write:
      return Next::on;
    case IoState::closed:
    case IoState::failed:
      return Next::close;  // an incomplete request can no longer become complete
  }
  return Next::close;
}

Next Session::writing(Connection& connection) {
  switch (connection.channel.flush()) {
    case IoState::done:
      // The next pipelined request is taken only after the client has read the previous responses,
      // so that unread data stays in the client's buffers.
      if (connection.channel.input().size() == 0 || connection.channel.is_writable())
        return settle(connection);
      break;
    case IoState::want_read:
    case IoState::want_write:
      break;
    case IoState::closed:
    case IoState::failed:
      return Next::close;
  }
  auto& http = connection.http;
  const std::int64_t now = clock_.monotonic_ms();
  if (http.waits_since_ms == 0) {
    http.waits_since_ms = now;
    if (!http.sent_at_first_wait) http.sent_at_first_wait = connection.channel.sent_total();
    const auto grant = http.unread.take(
        unread_, http.caller, connection.channel.unsent() + connection.channel.input().size());
    if (grant != MemoryBudget::Grant::given) return Next::close;
  }
  if (is_below_floor(connection.channel.sent_total() - *http.sent_at_first_wait,
                     http.waited_ms + now - http.waits_since_ms, options_.limits.write_ms)) {
    return Next::close;
  }
  if (!http.watches_writing) {
    http.watches_writing = true;
    if (!poller_.watch_writing(connection.channel.fd(), connection.token())) return Next::close;
  }
  if (http.timer == Timer::writing && http.sent_before != connection.channel.sent_total()) {
    http.timer = Timer::none;
  }
  http.sent_before = connection.channel.sent_total();
  return wait(connection, Timer::writing, options_.limits.write_ms);
}

Next Session::settle(Connection& connection) {
  auto& http = connection.http;
  http.unread.give_back();
  if (http.waits_since_ms != 0) {
    http.waited_ms += clock_.monotonic_ms() - std::exchange(http.waits_since_ms, 0);
  }
  http.timer = Timer::none;
  if (http.keep_alive) {
    http.phase = Phase::header;
    return Next::on;
  }
  connection.channel.end_output();
  // Closing with unread input would send a reset, which can overtake the response.
  const bool may_get_more = http.linger || connection.channel.input().size() > 0;
  if (!may_get_more && !connection.channel.may_be_readable()) return Next::close;
  http.phase = Phase::lingering;
  connection.set_answered(true);
  connection.set_idle_since_ms(clock_.monotonic_ms());
  return Next::on;
}

Next Session::linger(Connection& connection) {
  connection.channel.consume(connection.channel.input().size());
  if (!connection.channel.may_be_readable()) {
    return wait(connection, Timer::lingering, options_.limits.linger_ms);
  }
  if (connection.http.discarded > kReceiveBufferBytes) connection.channel.read_much(0);
  const IoResult result = connection.channel.discard();
  connection.http.discarded += result.bytes;
  const bool ended = result.state == IoState::closed || result.state == IoState::failed;
  return ended || connection.http.discarded > kDiscardMax ? Next::close : Next::on;
}

/// Rejects the request of the connection.
Next Session::reject(Connection& connection, const Problem& problem) {
  connection.set_incomplete_since_ms(0);
  connection.http.keep_alive = false;
  connection.http.linger = true;
  connection.http.phase = Phase::writing;
  Request request = std::exchange(connection.http.request, {});
  const std::string bytes = responder_.reject(problem, std::move(request));
  return connection.channel.send(bytes) ? Next::on : Next::close;
}

Request Session::take(Connection& connection) {
  auto& http = connection.http;
  COFFER_CHECK(is_whole(connection));
  const RequestHead head = *std::exchange(http.head, std::nullopt);
  Request request = std::exchange(http.request, {});
  request.body = connection.channel.take_input(head.content_length);
  connection.set_incomplete_since_ms(0);
  if (request.request_id.empty()) request.request_id = responder_.new_request_id();
  http.progress = {};
  http.phase = Phase::writing;
  http.http_1_0 = head.http_1_0;
  http.keep_alive = head.keep_alive;
  ++http.served;
  requests_.fetch_add(1, std::memory_order_relaxed);
  return request;
}

ResponseFrame Session::frame(Connection& connection, std::string_view request_id,
                             const Response& response) {
  auto& http = connection.http;
  http.body.give_back();  // before the client can learn that it may send the next large body
  if (http.served >= options_.limits.requests_per_connection_max) http.keep_alive = false;
  if (http.http_1_0 && response.stream) http.keep_alive = false;  // closing ends the body
  if (http.keep_alive && is_draining(Drain::announce)) {
    // A request that was partly sent before the stop is completed and gets a response.
    if (connection.channel.may_be_readable()) connection.channel.receive(kHeaderChunk);
    http.keep_alive = connection.channel.input().size() > 0;
  }
  return responder_.frame(http.keep_alive, http.http_1_0, request_id);
}

Next Session::shed(Connection& connection, const Problem& problem) {
  const Request request = take(connection);
  responder_.count_rejection();
  const Response response = responder_.render(problem, request);
  const ResponseFrame as = frame(connection, request.request_id, response);
  const std::string bytes = to_bytes(response, as, request.method == "HEAD");
  if (!connection.channel.send(bytes)) return Next::close;
  const Next next = advance(connection);
  return next == Next::serve ? yield(connection) : next;
}

/// Before the next of several pipelined requests: lets other connections take a turn, and continues
/// when the client has read most of its responses.
Next Session::yield(Connection& connection) {
  connection.http.watches_writing = true;
  if (!poller_.watch_writing(connection.channel.fd(), connection.token())) return Next::close;
  wait(connection, Timer::writing, options_.limits.write_ms);
  return Next::park;
}

Next Session::give_way(Connection& connection) {
  connection.channel.look_again();  // its event may still be pending
  const Next next = advance(connection);
  if (next != Next::park && next != Next::handshake) return next;
  const std::int64_t since_ms = connection.incomplete_since_ms();
  if (since_ms != 0) {
    if (since_ms > clock_.monotonic_ms() - options_.limits.incomplete_ms) return next;
    static_cast<void>(connection.channel.send(
        responder_.overload(kTooManyConnections, std::move(connection.http.request))));
  } else if (next == Next::park && connection.http.phase == Phase::writing) {
    return next;
  }
  connection.channel.end_output();
  return Next::close;
}

/// Reserves memory for a body that is large, or that is incomplete and without accepted
/// credentials; returns the reason on failure.
std::optional<Problem> Session::reserve_body(Connection& connection, const RequestHead& head,
                                             std::uint64_t bytes) {
  auto& http = connection.http;
  const bool is_large = bytes > options_.limits.body_bytes_max;
  const bool is_there = !head.chunked && connection.channel.input().size() >= bytes;
  if (!is_large && (is_there || http.caller.is_application)) return std::nullopt;
  switch (http.body.take(is_large ? large_bodies_ : unauthenticated_bodies_, http.caller, bytes)) {
    case MemoryBudget::Grant::full:
      return overloaded(kTooManyBodies);
    case MemoryBudget::Grant::share_full:
      return Problem(Slug::rate_limited, kTooManyOfCaller).retry_after(1);
    case MemoryBudget::Grant::given:
      break;
  }
  if (is_large) {
    connection.channel.read_much(bytes);
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

void Session::add_to(ServerStats& stats) const {
  stats.requests = requests_.load(std::memory_order_relaxed);
  stats.rejected = responder_.rejected();
  stats.large_bodies_bytes = large_bodies_.used();
}

// --- Responses ----------------------------------------------------------------------------------

Response Responder::render(const Problem& problem, const Request& request) const {
  return options_.render_problem ? options_.render_problem(problem, request)
                                 : problem_response(problem, request.path, request.request_id);
}

std::string Responder::reject(const Problem& problem, Request request) {
  count_rejection();
  if (request.request_id.empty()) request.request_id = new_request_id();
  return to_bytes(render(problem, request), frame(false, false, request.request_id), false);
}

std::string Responder::overload(const char* reason, Request request) {
  return reject(overloaded(reason), std::move(request));
}

ResponseFrame Responder::frame(bool keep_alive, bool http_1_0, std::string_view id) const {
  // A client that follows the announced time never uses a connection while it is being closed.
  constexpr int kMarginMaxS = 5;
  const int idle_s = options_.limits.idle_ms / 1000;
  const int announced_s = idle_s - std::min(kMarginMaxS, (idle_s + 1) / 2);
  return {id, keep_alive, http_1_0, announced_s, clock_.now().ms / 1000};
}

}  // namespace coffer::http
