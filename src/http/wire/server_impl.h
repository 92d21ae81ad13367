// Internals of http::Server, shared by http/server.cpp (workers) and server_impl_acceptor.cpp
// (acceptor).
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/platform/processors.h"
#include "base/platform/wake_up.h"
#include "base/thread.h"
#include "http/adapter.h"
#include "http/problem_json.h"
#include "http/server.h"
#include "http/tls.h"
#include "http/wire/connection_table.h"
#include "http/wire/lanes.h"
#include "http/wire/listener.h"
#include "http/wire/overload_responses.h"
#include "http/wire/poller.h"
#include "http/wire/request_fibers.h"
#include "http/wire/request_queue.h"
#include "http/wire/session.h"

namespace coffer::http {

// Tokens that belong to no connection: their slot number is out of range.
constexpr std::uint64_t kSpecialToken = std::uint64_t{0xffffffff} << 32;
constexpr std::uint64_t kQueueToken = kSpecialToken | 1;
constexpr std::uint64_t kStopToken = kSpecialToken | 2;
constexpr std::uint64_t kListenToken = kSpecialToken | 3;
constexpr std::uint64_t kOverflowToken = kSpecialToken | 4;
constexpr std::uint64_t kAcceptorToken = kSpecialToken | 5;

// A lack of descriptors or threads is logged at most once per this time.
constexpr std::int64_t kLogEveryMs = 60'000;

class Server::Impl {
 public:
  Impl(ServerOptions options, Random& random, Handler handler)
      : options_(std::move(options)),
        handler_(std::move(handler)),
        table_(options_.limits.connections_max, options_.limits.connections_per_network_max),
        session_(options_, random, shared_, uses_tls() ? &identity_ : nullptr),
        lanes_(options_.lanes),
        handshakes_(handshake_table()),
        fibers_([this] { return make_fiber(); }) {}

  ~Impl() { stop(0); }

  Result<void> start();
  Result<void> reload_tls();
  void stop(int drain_ms);
  int port() const { return listener_.port(); }
  int listen_fd() const { return listener_.fd(); }
  ServerStats stats() const;

 private:
  bool uses_tls() const {
    return !options_.tls_cert_file.empty() || !options_.tls_key_file.empty();
  }

  static LaneTable handshake_table();

  // Workers.
  bool start_worker();
  std::vector<Thread> take_workers();
  void call_workers(std::size_t count);
  bool wake_waiting();
  void run_worker();
  RequestFiber* next_fiber();
  std::unique_ptr<Adapter> make_adapter();
  std::unique_ptr<RequestFiber> make_fiber();
  RequestFiber* work(Adapter& adapter);
  Turn next_turn(bool& stopped);
  bool begin_waiting();
  void end_waiting();
  Connection* on_event(const Poller::Event& event);
  bool proceed(Connection& connection, Step step);
  bool drive(Connection& connection, Step step);
  void enter_handshake(Connection& connection);
  Step shake(Connection& connection);
  Step shed(Connection& connection, const Problem& problem);
  void serve_burst(Connection& first, Adapter& adapter);
  Connection* serve(Connection& connection, Adapter& adapter);
  Response handle(Request& request);

  // The acceptor.
  void accept_connections();
  void accept_some();
  void make_room(std::int64_t now);
  bool may_give_way(const Connection& connection, std::int64_t now) const;
  void serve_for_busy_workers();
  bool tend_queue(std::int64_t now);
  void enqueue(Connection& connection);
  void enqueue_ready(RequestFiber& fiber);
  void enforce_deadlines(std::int64_t now);
  void end_long_waits(std::int64_t now);
  void begin_drain(std::int64_t now);
  bool drain_step(std::int64_t now);

  void release_waiting();

  const ServerOptions options_;
  const Handler handler_;
  const SystemClock clock_;
  TlsIdentity identity_;
  Listener listener_;
  Poller shared_;
  Poller acceptor_poller_;
  WakeUp queue_wake_;
  WakeUp stop_wake_;
  WakeUp acceptor_wake_;
  ConnectionTable table_;
  Session session_;
  Lanes lanes_;
  Lanes handshakes_;
  RequestQueue queue_;
  RequestFibers fibers_;

  const std::size_t waiting_max_ = static_cast<std::size_t>(processors());
  mutable Mutex workers_mutex_;
  std::vector<Thread> workers_ COFFER_GUARDED_BY(workers_mutex_);
  std::int64_t next_threads_log_ms_ COFFER_GUARDED_BY(workers_mutex_) = 0;
  std::atomic<std::size_t> startable_{0};  // workers that can still be started
  std::atomic<std::size_t> waiting_{0};    // workers that wait for activity, or are about to
  std::atomic<bool> woken_{false};         // `queue_wake_` has an event that no thread has seen
  std::atomic<std::size_t> busy_{0};       // requests that are being served
  std::atomic<int> enqueuing_{0};  // threads in enqueue_ready(), beyond the end of a request
  std::atomic<std::int64_t> drain_until_ms_{0};  // 0: not draining
  std::atomic<bool> abort_{false};

  std::atomic<std::uint64_t> gave_way_{0};

  // Used by the acceptor only.
  OverloadResponses overload_responses_;
  std::vector<std::uint64_t> giving_way_;  // tokens found by the last search, the oldest last
  std::int64_t next_search_ms_ = 0;
  bool listening_ = false;
  bool draining_ = false;
  bool watching_queue_ = false;
  std::uint64_t taken_before_ = 0;
  std::int64_t watched_since_ms_ = 0;
  std::int64_t next_tick_ms_ = 0;
  std::int64_t close_idle_at_ms_ = 0;
  std::int64_t close_incomplete_at_ms_ = 0;
  std::int64_t next_exhausted_log_ms_ = 0;

  Mutex lifecycle_;
  bool started_ COFFER_GUARDED_BY(lifecycle_) = false;
  Thread acceptor_ COFFER_GUARDED_BY(lifecycle_);
};

}  // namespace coffer::http
