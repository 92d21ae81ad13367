// The listener: cpp-httplib behind coffer's parking stage and header gate.
//
// Slow, idle and incomplete connections are parked and occupy no worker. A request reaches a worker
// only after its header has passed the gate and its body is complete, so a worker never waits for a
// client to send. The lane of a request (base/limits/lane.h) limits the workers that it can use.
// Threads: the workers, and the poller, which accepts, reads and enforces deadlines.
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

/// Decides about a request from its method, path, query, peer and `RequestHead::fields`; other
/// members of `head` are empty. `body_bytes` is the size of the body, or 0 while it is unknown
/// (chunked); the function is called again if the body turns out to be large. A Problem rejects the
/// request and closes its connection. Runs on workers and on the poller, so it must not wait for
/// other threads.
using Admit = std::function<Result<Admission>(const Request& head, std::uint64_t body_bytes)>;

struct ServerLimits {
  int header_ms = 5'000;    // from the first byte (or from accept) to the end of the header
  int body_ms = 10'000;     // from the end of the header to the end of the body
  int request_ms = 11'000;  // header and body share this deadline
  /// Between requests on a kept connection. Longer than the idle timeout of common proxies (nginx
  /// 60 s, Caddy 2 min, load balancers of clouds up to 10 min), so that a proxy never sends a
  /// request on a connection that is being closed. Clients are told a shorter time.
  int idle_ms = 660'000;
  int write_ms = 10'000;  // without progress while writing, or below 16 KiB/s for longer than this
  int linger_ms = 1'000;  // time for a client to receive a rejection while it is still sending
  /// If a new connection exceeds this number, the connection that has been idle for longest is
  /// closed. If none is idle, a connection whose request has been incomplete for longer than
  /// `incomplete_ms` gets 503 overloaded, the oldest first. Otherwise, the new connection gets it.
  std::size_t connections_max = 4'096;
  int incomplete_ms = 500;
  std::size_t connections_per_network_max = 2'048;  // 0 = no limit; does not apply to loopback
  std::size_t requests_per_connection_max = 100'000;
  int lane_wait_ms = 10'000;  // waiting time in the queue of a lane; beyond: 503 overloaded
  std::size_t header_bytes_max = 16 * 1024;
  std::size_t header_count_max = 64;
  std::size_t target_bytes_max = 8'192;
  /// Larger bodies run in the lane `bulk`. Without `ServerOptions::admit`, they are rejected.
  std::size_t body_bytes_max = 64 * 1024;
  /// Memory for all bodies over `body_bytes_max`. A caller can use a quarter of it. Beyond: 503
  /// overloaded, or 429 rate-limited for the caller's share.
  std::size_t large_bodies_bytes_max = 64 * 1024 * 1024;
  /// Memory for bodies up to `body_bytes_max` that arrive in parts from callers without accepted
  /// credentials. The same rules apply.
  std::size_t unauthenticated_bodies_bytes_max = 16 * 1024 * 1024;
  /// Memory for responses that clients have not read, and for the already received parts of their
  /// next requests. The kernel's buffers are not included, with at most 32 KiB per connection. A
  /// caller can use a quarter; beyond, its next such connection is closed.
  std::size_t unread_bytes_max = 64 * 1024 * 1024;
};

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;              // 0 selects a free port
  int listen_fd = -1;        // a listening socket to take over; -1: the server binds its own
  std::size_t workers = 64;  // maximum; with too few, lanes wait for each other
  LaneTable lanes = lane_table(64, 2);
  Admit admit;  // if empty, all requests belong to one caller and to the lane `system`
  std::string tls_cert_file;  // set both or neither
  std::string tls_key_file;
  std::string tls_client_ca_file;  // CAs of client certificates; empty: none are requested
  ServerLimits limits;
  /// Renders rejections of the server itself, for paths with their own error format. The request
  /// has its ID, and its peer, path and `RequestHead::fields` as far as they could be read.
  /// Default: problem_response.
  std::function<Response(const Problem&, const Request&)> render_problem;
};

/// Figures for health, metrics and tests.
struct ServerStats {
  std::size_t connections = 0;
  std::size_t parked = 0;
  std::size_t queued = 0;  // complete requests that wait for their lane or a worker
  std::size_t busy = 0;
  std::size_t workers = 0;  // threads started so far
  std::uint64_t requests = 0;
  std::uint64_t rejected = 0;            // error responses of the gate and of overload
  std::uint64_t evicted = 0;             // connections closed to make room for new ones
  std::uint64_t large_bodies_bytes = 0;  // reserved for large request bodies
  std::array<LaneStats, kLaneCount> lanes{};
};

/// Called on a worker, on a fiber, for every request that passed the gate. After a wait for a
/// commit it may continue on another worker (base/fibers/fiber.h). Must not throw.
using Handler = std::function<Response(Request&)>;

class Server {
 public:
  /// `random` creates request IDs. It and the handler must outlive the server.
  Server(ServerOptions options, Random& random, Handler handler);
  ~Server();  // stops
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Binds, listens and starts the threads. A Problem contains the reason: `validation-failed` for
  /// the certificate or its key, `unexpected-error` for the address (in use, no permission).
  Result<void> start();
  int port() const;
  /// The listening socket, which the server owns.
  int listen_fd() const;
  /// Reads certificate and key again (SIGHUP). On a Problem, the old pair stays in use.
  Result<void> reload_tls();
  /// Graceful shutdown: stops listening; responds (with `Connection: close`) to all requests
  /// already received and to those that clients complete within a second on open connections; and
  /// closes connections that stay idle for a moment. After `drain_ms`, closes all others. Waits for
  /// running handlers. Idempotent.
  void stop(int drain_ms);
  ServerStats stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coffer::http
