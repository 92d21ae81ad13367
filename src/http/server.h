// The listener: cpp-httplib behind coffer's own parking stage and header gate.
//
// Slow, idle and half-sent connections are parked and cost no worker. A request reaches a worker
// only when its header has passed the gate and its body is complete, so a worker never waits for a
// client to send. What a request may take
// of the workers depends on its lane (base/limits/lane.h). Threads: the workers, and an acceptor
// that also enforces deadlines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/limits/lane.h"
#include "base/random.h"
#include "base/result.h"
#include "http/message.h"

namespace coffer::http {

/// Decides about a request by its method, path, query, peer and `RequestHead::fields`; `head` has
/// nothing else. `body_bytes` is what the body takes: 0 while it is not known, for a chunked one;
/// asked again when that turns out to be large. A Problem refuses the request and closes its
/// connection. Called on workers and on the acceptor: waits for nothing that others can hold.
using Admit = std::function<Result<Admission>(const Request& head, std::uint64_t body_bytes)>;

struct ServerLimits {
  int header_ms = 5'000;    // from the first byte (or from accept) to the end of the header
  int body_ms = 10'000;     // from the end of the header to the end of the body
  int request_ms = 11'000;  // both together: who uses up the one deadline has less of the other
  int idle_ms = 30'000;     // between requests on a keep-alive connection
  int write_ms = 10'000;  // without progress while writing, or below 16 KiB/s for longer than this
  int linger_ms = 1'000;  // for a client to take note of a refusal while it is still sending
  /// Beyond, the connection that has been idle for longest gives way; 503 overloaded without one.
  std::size_t connections_max = 4'096;
  std::size_t connections_per_address_max = 2'048;  // 0 = no limit; loopback is never limited by it
  std::size_t requests_per_connection_max = 100'000;
  int lane_wait_ms = 10'000;  // in the queue of a lane; beyond: 503 overloaded
  std::size_t header_bytes_max = 16 * 1024;
  std::size_t header_count_max = 64;
  std::size_t target_bytes_max = 2'048;
  /// Larger bodies run in the lane `bulk`, and without `ServerOptions::admit` are refused.
  std::size_t body_bytes_max = 64 * 1024;
  /// Bodies over `body_bytes_max` share this much memory, of which a caller has at most a quarter;
  /// beyond: 503 overloaded, or 429 rate-limited where it is the caller's share.
  std::size_t large_bodies_bytes_max = 64 * 1024 * 1024;
  /// Bodies that arrive in parts, of callers that are no known application, share this much memory
  /// in the same way.
  std::size_t strangers_bodies_bytes_max = 16 * 1024 * 1024;
  /// Responses that clients have not taken, and what has been read of their next requests; the
  /// kernel's buffers come on top, with at most 32 KiB for each such connection. A caller has at
  /// most a quarter; beyond, the next such connection is cut.
  std::size_t unread_bytes_max = 64 * 1024 * 1024;
};

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;  // 0 picks a free one
  int listen_fd =
      -1;  // an already listening socket (systemd socket activation); -1: bind ourselves
  std::size_t workers = 64;  // enough for every lane in use, or lanes wait for each other
  LaneTable lanes = lane_table(64, 2);
  Admit admit;  // without: every request is one of a single caller in the lane `system`
  std::string tls_cert_file;  // both or neither
  std::string tls_key_file;
  ServerLimits limits;
  /// Renders what the server itself refuses, for paths with an error shape of their own; called
  /// with the problem, the path (empty when it could not be read) and the request id. Default:
  /// problem_response.
  std::function<Response(const Problem&, std::string_view, std::string_view)> render_problem;
};

/// Numbers for health, metrics and tests.
struct ServerStats {
  std::size_t connections = 0;
  std::size_t parked = 0;
  std::size_t queued = 0;  // complete requests that wait for their lane or a worker
  std::size_t busy = 0;
  std::uint64_t requests = 0;
  std::uint64_t refused = 0;   // answered by the gate or shed
  std::uint64_t gave_way = 0;  // idle connections closed to make room for new ones
  std::array<LaneStats, kLaneCount> lanes{};
};

/// Called on a worker thread for every request that passed the gate; must not throw.
using Handler = std::function<Response(Request&)>;

class Server {
 public:
  /// `random` mints request ids; it and the handler must outlive the server.
  Server(ServerOptions options, Random& random, Handler handler);
  ~Server();  // stops
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Binds, listens and starts the threads. A Problem names the reason: `validation-failed` for the
  /// certificate or its key, `unexpected-error` for the address (in use, no permission).
  Result<void> start();
  int port() const;
  /// Reads certificate and key again (SIGHUP); on a Problem the old pair stays in use.
  Result<void> reload_tls();
  /// Graceful: stops listening, answers every request already received and those that clients with
  /// an open connection still send (with `Connection: close`), closes connections that stay idle
  /// for a moment, and after `drain_ms` the rest. Handlers that run are waited for. Idempotent.
  void stop(int drain_ms);
  ServerStats stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coffer::http
