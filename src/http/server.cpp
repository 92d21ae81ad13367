// Division of work:
//
// - A few workers, as many as there are processors, wait for activity on all connections at once
//   (`shared_`). The woken worker reads the received bytes. If they complete a request whose lane
//   has room, it serves the request immediately: at most one wake-up per request and no hand-over.
//   An incomplete request is parked again, so a slow client costs a few microseconds per packet,
//   never a worker.
// - A request whose lane is full waits in the lane (`lanes_`) and occupies no worker. The worker
//   that finishes a request of the lane serves it next.
// - A worker runs all this on a fiber (base/fibers/fiber.h). When a request waits for its commit,
//   the fiber stays with it and the worker goes on with another one. After the commit, any worker
//   continues the fiber: one commit wakes a few workers for all its requests (measured per payment
//   at 64 connections: 0.4 context switches instead of 2.0, and 0.86 of the CPU time).
// - The other workers rest. They exist because handlers also block, for example in a call to a
//   provider. There can be as many workers as all lanes together can use, so a lane never waits
//   for another. A worker is started when it is first needed (measured for an idle server: 2.6 MiB
//   less than with all of them).
// - The acceptor thread accepts, enforces deadlines, and takes over when no worker is waiting: it
//   then reads instead of them, queues complete requests that may run, and calls more workers if
//   the active ones make no progress with the queue, which means that they are blocked. Calling
//   them earlier would cost a context switch per quick request (measured per trivial GET: 1.4
//   switches and 14 us of CPU without this rule, 0.3 and 11 us with it).

#include "http/server.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <limits>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/platform/process.h"
#include "base/telemetry/log_scope.h"
#include "http/client_address.h"
#include "http/wire/server_impl.h"

namespace coffer::http {
namespace {

// After this many consecutive requests from one event, other connections get a turn.
constexpr int kBurst = 16;

// TLS handshakes have one lane, of the same type as the lanes of requests.
constexpr Lane kHandshake{};

LaneCaller stranger(const Connection& connection) {
  return {std::hash<std::string>()(network_of(connection.peer()))};
}

constexpr const char* kLaneFull = "More requests are waiting than can be served.";
constexpr const char* kShareFull = "Too many requests from this caller are waiting.";

}  // namespace

/// Handshakes use at most half of the processors; addresses take turns.
LaneTable Server::Impl::handshake_table() {
  const int width = (processors() + 1) / 2;
  LaneTable table{};
  table[static_cast<std::size_t>(kHandshake)] = {"handshake", width, 1'024, width, 384};
  return table;
}

/// Returns false if all workers are running, the server is stopping, or the system has no more
/// threads.
bool Server::Impl::start_worker() {
  const Lock lock(workers_mutex_);
  if (startable_.load() == 0) return false;
  try {
    if (workers_.size() >= waiting_max_ && !has_spare_memory()) {
      throw std::system_error(ENOMEM, std::generic_category());
    }
    workers_.emplace_back("http-" + std::to_string(workers_.size()), [this] { run_worker(); });
  } catch (const std::system_error& error) {
    if (const std::int64_t now = clock_.monotonic_ms(); now >= next_threads_log_ms_) {
      next_threads_log_ms_ = now + kLogEveryMs;
      log_warning("http", "cannot start another worker thread",
                  {{"workers", workers_.size()}, {"error", error.what()}});
    }
    return false;
  }
  startable_.fetch_sub(1);
  return true;
}

/// Prevents new workers and returns the running ones.
std::vector<Thread> Server::Impl::take_workers() {
  const Lock lock(workers_mutex_);
  startable_.store(0);
  return std::exchange(workers_, {});
}

/// Finds workers for at most `count` waiting turns.
void Server::Impl::call_workers(std::size_t count) {
  std::size_t missing = queue_.wake_resting(count);
  while (missing > 0 && start_worker()) --missing;
}

/// Wakes a waiting worker for the turns in the queue. Returns false if no worker waits. An event
/// that no worker has seen yet is enough for all turns queued until then: the worker that sees it
/// wakes the next one while it leaves turns behind. So a commit that completes many requests costs
/// few system calls.
bool Server::Impl::wake_waiting() {
  if (waiting_.load() == 0) return false;
  if (!woken_.exchange(true)) queue_wake_.signal();
  return true;
}

/// The worker's own stack only switches between fibers, unless there is no memory for one.
void Server::Impl::run_worker() {
  wake_without_preempting();  // a commit completes many requests at a time
  for (RequestFiber* fiber = next_fiber(); fiber != nullptr;) {
    if (!fiber->fiber.resume()) {
      fiber = next_fiber();
      continue;
    }
    RequestFiber* const next = fiber->next;
    fibers_.put_back(*fiber);
    fiber = next;
  }
}

/// A fiber for the next requests. Without memory for its stack, serves them on the stack of the
/// worker, which every wait then blocks, until a fiber can continue.
RequestFiber* Server::Impl::next_fiber() {
  if (RequestFiber* const fiber = fibers_.take()) return fiber;
  const auto adapter = make_adapter();
  return work(*adapter);
}

std::unique_ptr<Adapter> Server::Impl::make_adapter() {
  return std::make_unique<Adapter>(
      options_.limits, abort_, [this](Request& request) { return handle(request); },
      [this](Connection& connection, const RequestHead& head, const Response& response) {
        return session_.frame(connection, head.request_id, response);
      });
}

std::unique_ptr<RequestFiber> Server::Impl::make_fiber() {
  return std::make_unique<RequestFiber>(
      make_adapter(), [this](Adapter& own) { return work(own); },
      [this](RequestFiber& fiber) { enqueue_ready(fiber); });
}

/// The body of every fiber: serves requests until another fiber can continue, and returns that one;
/// nullptr when the server has stopped.
RequestFiber* Server::Impl::work(Adapter& adapter) {
  for (bool stopped = false; !stopped;) {
    const Turn turn = next_turn(stopped);
    if (turn.fiber != nullptr) return turn.fiber;
    if (turn.connection != nullptr) serve_burst(*turn.connection, adapter);
  }
  return nullptr;
}

Turn Server::Impl::next_turn(bool& stopped) {
  if (const Turn turn = queue_.pop()) {
    if (queue_.size() > 0) wake_waiting();
    Connection* const connection = turn.connection;
    if (connection == nullptr || connection->http.phase != Phase::handshake) return turn;
    return proceed(*connection, shake(*connection)) ? turn : Turn();
  }
  if (!begin_waiting()) return {};
  std::array<Poller::Event, 1> events;
  const std::size_t count = shared_.wait(events, -1);
  end_waiting();
  if (count == 0) return {};
  if (events[0].token == kStopToken) {
    stopped = true;
    return {};
  }
  return {on_event(events[0]), nullptr};
}

/// Returns false if the queue must be checked again; rests first if enough other workers wait.
bool Server::Impl::begin_waiting() {
  if (waiting_.fetch_add(1) >= waiting_max_) {
    end_waiting();
    queue_.rest();
    return false;
  }
  if (queue_.size() == 0) return true;
  end_waiting();  // something was queued before the acceptor could see this worker waiting
  return false;
}

/// The last waiting worker wakes the acceptor, which does not watch the connections while a worker
/// waits.
void Server::Impl::end_waiting() {
  if (waiting_.fetch_sub(1) == 1) acceptor_poller_.arm(shared_, kOverflowToken);
}

/// The event's connection if it has a complete request, owned by the caller; otherwise nullptr.
Connection* Server::Impl::on_event(const Poller::Event& event) {
  if (event.token == kQueueToken) woken_.store(false);  // then the caller looks into the queue
  Connection* connection = table_.find(event.token);    // nullptr for kQueueToken
  if (connection == nullptr) return nullptr;
  const auto claimed = connection->claim(event.token, event.hang_up, event.is_dead);
  if (claimed != Connection::Claim::owned) return nullptr;
  if (event.is_dead) {
    table_.release(*connection);
    return nullptr;
  }
  return proceed(*connection, session_.advance(*connection)) ? connection : nullptr;
}

/// Performs `step`. Returns true if there is a request to run now, whose place in the lane is
/// taken. If it returns false, another thread may already own the connection.
bool Server::Impl::proceed(Connection& connection, Step step) {
  while (drive(connection, step)) {
    const auto& http = connection.http;
    switch (lanes_.enter(http.lane, http.caller, connection, clock_.monotonic_ms())) {
      case Lanes::Entry::run:
        return true;
      case Lanes::Entry::wait:
        return false;
      case Lanes::Entry::lane_full:
        step = shed(connection, overloaded(kLaneFull));
        break;
      case Lanes::Entry::share_full:
        step = shed(connection, Problem(Slug::rate_limited, kShareFull).retry_after(1));
        break;
    }
  }
  return false;
}

/// If further requests follow the rejected one, the connection waits for its next turn.
Step Server::Impl::shed(Connection& connection, const Problem& problem) {
  const Step step = session_.shed(connection, problem);
  return step == Step::serve ? session_.yield(connection) : step;
}

/// Parks or releases according to `step`; returns true if there is a request to serve instead.
bool Server::Impl::drive(Connection& connection, Step step) {
  for (;;) {
    switch (step) {
      case Step::serve:
        return true;
      case Step::close:
        table_.release(connection);
        return false;
      case Step::handshake:
        enter_handshake(connection);
        return false;
      case Step::park:
        if (connection.park()) return false;
        step = session_.advance(connection);
    }
  }
}

/// Workers perform handshakes in turn; the acceptor never does. If too many are waiting, the
/// connection is closed.
void Server::Impl::enter_handshake(Connection& connection) {
  switch (handshakes_.enter(kHandshake, stranger(connection), connection, clock_.monotonic_ms())) {
    case Lanes::Entry::run:
      return enqueue(connection);
    case Lanes::Entry::wait:
      return;
    case Lanes::Entry::lane_full:
    case Lanes::Entry::share_full:
      return table_.release(connection);
  }
}

/// For a connection that has a handshake place, which passes to another connection afterwards.
Step Server::Impl::shake(Connection& connection) {
  const LaneCaller caller = stranger(connection);
  const Step step = session_.handshake(connection);
  if (Connection* next = handshakes_.leave(kHandshake, caller)) {
    enqueue(*next);
    call_workers(1);
  }
  return step;
}

/// Serves consecutive requests of a connection or a lane.
void Server::Impl::serve_burst(Connection& first, Adapter& adapter) {
  Connection* connection = &first;
  for (int served = 0; connection != nullptr && served < kBurst; ++served) {
    connection = serve(*connection, adapter);
  }
  if (connection == nullptr) return;
  enqueue(*connection);
  call_workers(1);  // the acceptor does not know about this request
}

/// The next request to serve: the one that takes this request's place in the lane, or the next one
/// of the same connection.
Connection* Server::Impl::serve(Connection& connection, Adapter& adapter) {
  // In this order, because the acceptor sets `abort_` and then reads `busy_`.
  busy_.fetch_add(1);
  const bool aborted = abort_.load();
  const RequestHead head = session_.take_head(connection);
  const Lane lane = connection.http.lane;
  const LaneCaller caller = connection.http.caller;
  const LogScope scope("request_id", head.request_id);
  const bool ok = !aborted && !connection.is_dead() && adapter.serve(connection, head);
  Connection* const next = lanes_.leave(lane, caller);
  busy_.fetch_sub(1);
  const Step step = ok ? session_.after_response(connection) : Step::close;
  if (!proceed(connection, step)) return next;
  if (next != nullptr) {
    enqueue(*next);
    call_workers(1);
  }
  return &connection;
}

Response Server::Impl::handle(Request& request) {
  const std::string id = request.request_id;
  try {
    return handler_(request);
  } catch (const std::exception& error) {
    // The pipeline catches exceptions of its handlers; this one comes from the pipeline itself.
    log_error("http", "handler failed", {{"request_id", id}, {"error", error.what()}});
  } catch (...) {
    log_error("http", "handler failed", {{"request_id", id}});
  }
  request.request_id = id;
  return session_.render(Problem(Slug::unexpected_error), request);
}

/// Releases requests that no worker will serve.
void Server::Impl::release_waiting() {
  for (Connection* connection : queue_.remove_requests()) table_.release(*connection);
  for (Lanes* lanes : {&lanes_, &handshakes_}) {
    for (Connection* connection : lanes->expire(std::numeric_limits<std::int64_t>::max())) {
      table_.release(*connection);
    }
  }
}

// --- Life ---------------------------------------------------------------------------------------

Result<void> Server::Impl::start() {
  const Lock lock(lifecycle_);
  COFFER_CHECK(!started_ && options_.workers > 0);
  COFFER_TRY_VOID(reload_tls());
  COFFER_TRY_VOID(options_.listen_fd >= 0 ? listener_.adopt(options_.listen_fd)
                                          : listener_.bind(options_.host, options_.port));
  // OpenSSL writes to sockets with write(), which has no flag against SIGPIPE.
  std::signal(SIGPIPE, SIG_IGN);
  shared_.add_edge(queue_wake_.fd(), kQueueToken);
  shared_.add_level(stop_wake_.fd(), kStopToken);
  acceptor_poller_.add_level(acceptor_wake_.fd(), kAcceptorToken);
  acceptor_poller_.add_once(shared_, kOverflowToken);
  listening_ = acceptor_poller_.add_level(listener_.fd(), kListenToken);
  started_ = true;
  startable_.store(options_.workers);
  for (std::size_t i = 0; i < waiting_max_ && start_worker(); ++i) {
  }
  acceptor_ = Thread("http-acceptor", [this] { accept_connections(); });
  return {};
}

Result<void> Server::Impl::reload_tls() {
  if (!uses_tls()) return {};
  return identity_.load(options_.tls_cert_file, options_.tls_key_file, options_.tls_client_ca_file);
}

void Server::Impl::stop(int drain_ms) {
  const Lock lock(lifecycle_);
  if (!started_) return;
  started_ = false;
  drain_until_ms_.store(clock_.monotonic_ms() + drain_ms);
  acceptor_wake_.signal();
  acceptor_.join();
  stop_wake_.signal();
  queue_.close();
  for (Thread& worker : take_workers()) worker.join();
  // The thread that made the last fiber ready may not have finished waking a worker.
  while (enqueuing_.load() > 0) yield_processor();
  // For requests that workers parked or queued after the acceptor's last check.
  release_waiting();
  for (std::size_t i = 0; i < table_.used(); ++i) {
    if (table_.at(i).claim_parked()) table_.release(table_.at(i));
  }
}

ServerStats Server::Impl::stats() const {
  ServerStats stats;
  stats.connections = table_.count();
  stats.queued = queue_.size();
  for (std::size_t i = 0; i < kLaneCount; ++i) {
    stats.lanes[i] = lanes_.stats(static_cast<Lane>(i));
    stats.queued += static_cast<std::size_t>(stats.lanes[i].waiting);
  }
  stats.gave_way = gave_way_.load(std::memory_order_relaxed);
  stats.busy = busy_.load(std::memory_order_relaxed);
  const std::size_t active = stats.queued + stats.busy;
  stats.parked = stats.connections > active ? stats.connections - active : 0;
  stats.requests = session_.requests();
  stats.rejected = session_.rejected();
  stats.large_bodies_bytes = session_.large_bodies_bytes();
  const Lock lock(workers_mutex_);
  stats.workers = workers_.size();
  return stats;
}

Server::Server(ServerOptions options, Random& random, Handler handler)
    : impl_(std::make_unique<Impl>(std::move(options), random, std::move(handler))) {}

Server::~Server() = default;

Result<void> Server::start() { return impl_->start(); }
int Server::port() const { return impl_->port(); }
int Server::listen_fd() const { return impl_->listen_fd(); }
Result<void> Server::reload_tls() { return impl_->reload_tls(); }
void Server::stop(int drain_ms) { impl_->stop(drain_ms); }
ServerStats Server::stats() const { return impl_->stats(); }

}  // namespace coffer::http
