// HTTP/1.1 over one connection, one step at a time: when to read, what to refuse, when a request is
// whole, what follows a response. Never blocks.
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

/// For a client that may try again at once.
Problem overloaded(std::string detail);

/// What the owner of a connection has to do next.
enum class Step {
  park,       // nothing to do before the next event or the deadline
  handshake,  // something may have come for the TLS handshake: `handshake`
  serve,      // a whole request is there: `take_head`
  close,      // release it
};

/// One for the whole server; thread safe, the state is in the connections. All functions are for
/// the owner of the connection they are given.
class Session {
 public:
  Session(const ServerOptions& options, Random& random, Poller& poller, TlsIdentity* tls);

  /// Goes as far as it can without waiting.
  Step advance(Connection& connection);
  /// A step of the TLS handshake, which can take a millisecond of a processor, and what it allows.
  Step handshake(Connection& connection);
  /// After `serve`: the head of the request at the beginning of the input, which stays there.
  RequestHead take_head(Connection& connection);
  /// Decides whether the connection stays open after the response to the request just taken, and
  /// how the response has to say so. What it returns refers to `request_id`.
  ResponseFrame frame(Connection& connection, std::string_view request_id,
                      const Response& response);
  /// The response was given to the connection, sent or kept.
  Step after_response(Connection& connection);
  /// Answers the whole request that is there with `problem`, without a worker.
  Step shed(Connection& connection, const Problem& problem);
  /// Before the next of several requests that came at once: others have their turn, and the client
  /// takes most of the responses that it has got.
  Step yield(Connection& connection);
  /// Closes the connection unless something of a request is there.
  Step give_way(Connection& connection);
  /// What a connection is told that gets no slot. Any thread.
  std::string no_room();

  /// From now on every response closes its connection.
  void start_draining() { draining_.store(true, std::memory_order_release); }
  /// From now on connections without a byte of a request close when they are advanced.
  void close_idle() { closing_idle_.store(true, std::memory_order_release); }

  std::uint64_t requests() const { return requests_.load(std::memory_order_relaxed); }
  std::uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

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
  Go refuse(Connection& connection, const Refusal& refusal);
  Go wait(Connection& connection, Timer timer, int ms);
  int body_ms(const Connection& connection) const;

  std::optional<Problem> reserve_body(Connection& connection, const RequestHead& head,
                                      std::uint64_t bytes);
  Result<void> admit_body(Connection& connection, std::uint64_t body_bytes) const;
  Response render(const Problem& problem, std::string_view path, std::string_view id) const;
  std::string new_request_id();

  const ServerOptions& options_;
  const GateLimits gate_limits_;
  Random& random_;
  Poller& poller_;
  TlsIdentity* const tls_;
  const SystemClock clock_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> closing_idle_{false};
  MemoryBudget large_bodies_;
  MemoryBudget strangers_bodies_;
  MemoryBudget unread_;
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> refused_{0};
};

}  // namespace coffer::http
