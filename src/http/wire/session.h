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
#include "http/message.h"
#include "http/wire/adapter.h"
#include "http/wire/connection.h"
#include "http/wire/memory_budget.h"
#include "http/wire/poller.h"
#include "http/wire/server.h"

namespace coffer::http {

inline constexpr const char* kTooManyConnections = "Too many connections.";

/// What the owner of a connection must do next.
enum class Next {
  on,         // continue; only within Session
  park,       // nothing to do before the next event or the deadline
  handshake,  // data for the TLS handshake may have arrived: call `handshake`
  serve,      // a complete request has arrived: call `take`
  close,      // release the connection
};

/// Responses of the server itself, and how those of handlers are sent. Thread-safe.
class Responder {
 public:
  Responder(const ServerOptions& options, Random& random) : options_(options), random_(random) {}

  /// The response to a request that fails outside its handler.
  Response render(const Problem& problem, const Request& request) const;
  /// A complete response that closes the connection. `request`: as far as it is known; gets an ID
  /// if it has none.
  std::string reject(const Problem& problem, Request request);
  /// The same, `overloaded`.
  std::string overload(const char* reason, Request request);
  ResponseFrame frame(bool keep_alive, bool http_1_0, std::string_view id) const;
  std::string new_request_id() { return random_.uuid_v7(clock_.now()).to_string(); }
  void count_rejection() { rejected_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t rejected() const { return rejected_.load(std::memory_order_relaxed); }

 private:
  const ServerOptions& options_;
  Random& random_;
  const SystemClock clock_;
  std::atomic<std::uint64_t> rejected_{0};
};

/// The stages of a shutdown; each includes the previous ones.
enum class Drain {
  none,
  announce,          // every response closes its connection
  close_idle,        // connections that have received no byte of a request are closed
  close_incomplete,  // and those whose request or handshake is incomplete, with `overloaded`
};

/// One for the whole server. Thread-safe, because the connections contain the state. Only the owner
/// of a connection may pass it to these functions.
class Session {
 public:
  Session(const ServerOptions& options, Random& random, Poller& poller, TlsIdentity* tls);

  /// Proceeds as far as possible without waiting.
  Next advance(Connection& connection);
  /// Performs a step of the TLS handshake, which can use a millisecond of processor time, and then
  /// proceeds.
  Next handshake(Connection& connection);
  /// After `serve`: the complete request, which is removed from the connection. Once its response
  /// was sent or kept in the connection, `advance` proceeds.
  Request take(Connection& connection);
  /// Decides whether the connection stays open after the response to the last taken request, and
  /// which headers announce that. The result refers to `request_id`.
  ResponseFrame frame(Connection& connection, std::string_view request_id,
                      const Response& response);
  /// Responds to the complete request with `problem`, without a worker. Does not return `serve`: if
  /// further requests have arrived, the connection waits for its next turn.
  Next shed(Connection& connection, const Problem& problem);
  /// Closes the connection unless its request is complete or has just begun. Does not wait for the
  /// rest of an incomplete request; responds `overloaded` instead.
  Next give_way(Connection& connection);
  Responder& responder() { return responder_; }
  /// From now on; applies when a connection advances.
  void drain(Drain stage) { drain_.store(stage, std::memory_order_release); }
  void add_to(ServerStats& stats) const;

 private:
  Next header(Connection& connection);
  Next admit(Connection& connection, RequestHead head);
  Next body(Connection& connection);
  std::optional<Problem> frame_chunks(Connection& connection);
  Next writing(Connection& connection);
  Next linger(Connection& connection);
  Next read_more(Connection& connection);
  Next settle(Connection& connection);
  Next yield(Connection& connection);
  Next reject(Connection& connection, const Problem& problem);
  Next wait(Connection& connection, Timer timer, int ms);
  Next wait_for_rest(Connection& connection, Timer timer, int ms);
  bool is_draining(Drain stage) const { return drain_.load(std::memory_order_acquire) >= stage; }

  std::optional<Problem> reserve_body(Connection& connection, const RequestHead& head,
                                      std::uint64_t bytes);
  Result<void> admit_body(Connection& connection, std::uint64_t body_bytes) const;

  const ServerOptions& options_;
  const GateLimits gate_limits_;
  Poller& poller_;
  TlsIdentity* const tls_;
  const SystemClock clock_;
  Responder responder_;
  std::atomic<Drain> drain_{Drain::none};
  MemoryBudget large_bodies_;
  MemoryBudget unauthenticated_bodies_;
  MemoryBudget unread_;
  std::atomic<std::uint64_t> requests_{0};
};

}  // namespace coffer::http
