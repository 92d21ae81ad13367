// HTTP/1.1 over one connection, in single steps: decides when to read, what to reject, when a
// request is complete, and what follows a response. Never blocks.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "http/adapter.h"
#include "http/message.h"
#include "http/server.h"
#include "http/wire/connection.h"
#include "http/wire/memory_budget.h"
#include "http/wire/poller.h"

namespace coffer::http {

/// What the owner of a connection must do next.
enum class Step {
  park,       // nothing to do before the next event or the deadline
  handshake,  // data for the TLS handshake may have arrived: call `handshake`
  serve,      // a complete request has arrived: call `take_head`
  close,      // release the connection
};

/// One for the whole server. Thread-safe, because the connections contain the state. Only the owner
/// of a connection may pass it to these functions.
class Session {
 public:
  Session(const ServerOptions& options, Random& random, Poller& poller, TlsIdentity* tls);

  /// Proceeds as far as possible without waiting.
  Step advance(Connection& connection);
  /// Performs a step of the TLS handshake, which can use a millisecond of processor time, and then
  /// proceeds.
  Step handshake(Connection& connection);
  /// After `serve`: returns the head of the request at the beginning of the input, and leaves the
  /// request there.
  RequestHead take_head(Connection& connection);
  /// Decides whether the connection stays open after the response to the last taken request, and
  /// which headers announce that. The result refers to `request_id`.
  ResponseFrame frame(Connection& connection, std::string_view request_id,
                      const Response& response);
  /// The response was sent or kept in the connection.
  Step after_response(Connection& connection);
  /// Responds to the complete request with `problem`, without a worker.
  Step shed(Connection& connection, const Problem& problem);
  /// Before the next of several pipelined requests: lets other connections take a turn, and
  /// continues when the client has read most of its responses.
  Step yield(Connection& connection);
  /// Closes the connection unless its request is complete or has just begun. Does not wait for the
  /// rest of an incomplete request; sends the response of `no_room` instead.
  Step give_way(Connection& connection);
  /// The response to a connection that gets no slot. Thread-safe.
  std::string no_room();
  /// The response to a request that fails outside its handler.
  Response render(const Problem& problem, const Request& request) const;

  /// From now on, every response closes its connection.
  void start_draining() { draining_.store(true, std::memory_order_release); }
  /// From now on, a connection that has received no byte of a request is closed when it advances.
  void close_idle() { closing_idle_.store(true, std::memory_order_release); }
  /// From now on, a connection whose request or handshake is incomplete is closed when it advances,
  /// after the response `overloaded`.
  void close_incomplete() { closing_incomplete_.store(true, std::memory_order_release); }

  std::uint64_t requests() const { return requests_.load(std::memory_order_relaxed); }
  std::uint64_t large_bodies_bytes() const { return large_bodies_.used(); }
  std::uint64_t rejected() const { return rejected_.load(std::memory_order_relaxed); }

 private:
  enum class Go { on, park, handshake, serve, close };

  Go step(Connection& connection);
  Go header(Connection& connection);
  Go admit(Connection& connection, RequestHead head);
  Go body(Connection& connection);
  std::optional<Problem> frame_chunks(Connection& connection);
  Go writing(Connection& connection);
  Go linger(Connection& connection);
  Go read_more(Connection& connection);
  Go settle(Connection& connection);
  Go reject(Connection& connection, const Problem& problem, const std::string& id);
  Go wait(Connection& connection, Timer timer, int ms);
  Go wait_for_rest(Connection& connection, Timer timer, int ms);
  bool is_closing_incomplete() const { return closing_incomplete_.load(std::memory_order_acquire); }
  int body_ms(const Connection& connection) const;

  std::optional<Problem> reserve_body(Connection& connection, const RequestHead& head,
                                      std::uint64_t bytes);
  Result<void> admit_body(Connection& connection, std::uint64_t body_bytes) const;
  /// A complete response `overloaded` that closes the connection. `request`: as far as it is known.
  std::string rejected_as(const char* reason, Request request);
  ResponseFrame frame_of(bool keep_alive, bool http_1_0, std::string_view id) const;
  std::string new_request_id();

  const ServerOptions& options_;
  const GateLimits gate_limits_;
  Random& random_;
  Poller& poller_;
  TlsIdentity* const tls_;
  const SystemClock clock_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> closing_idle_{false};
  std::atomic<bool> closing_incomplete_{false};
  MemoryBudget large_bodies_;
  MemoryBudget strangers_bodies_;
  MemoryBudget unread_;
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> rejected_{0};
};

}  // namespace coffer::http
