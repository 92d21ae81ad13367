// Division of work:
//
// - One thread, the poller, accepts connections, waits for activity on all of them, reads what has
//   arrived, and enforces deadlines. An incomplete request costs a few microseconds per packet,
//   never a worker.
// - A complete request enters its lane (`lanes_`). If there is room, the next free worker takes it
//   (`workers_`). Otherwise it waits in the lane; the end of another request of the lane lets it
//   run.
// - The worker sends the response. The connection returns to the poller when it is parked.

#include "http/wire/server.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <limits>
#include <utility>

#include "base/platform/processors.h"
#include "base/platform/wake_up.h"
#include "base/telemetry/log.h"
#include "base/telemetry/log_scope.h"
#include "http/client_address.h"
#include "http/problem_json.h"
#include "http/wire/connection_table.h"
#include "http/wire/lanes.h"
#include "http/wire/listener.h"
#include "http/wire/session.h"
#include "http/wire/workers.h"

namespace coffer::http {
namespace {

// Tokens that belong to no connection: their slot number is out of range.
constexpr std::uint64_t kSpecialToken = std::uint64_t{0xffffffff} << 32;
constexpr std::uint64_t kListenToken = kSpecialToken | 1;
constexpr std::uint64_t kWakeToken = kSpecialToken | 2;

constexpr int kTickMs = 200;
constexpr int kDrainTickMs = 10;
constexpr int kBusyTickMs = 1;  // while requests wait for a worker
constexpr int kAcceptBatch = 64;
// A lack of descriptors is logged at most once per this time.
constexpr std::int64_t kExhaustedLogEveryMs = 60'000;
// A client in the middle of a series of requests sends the next one within this time. A response
// serves it better than a closed connection.
constexpr std::int64_t kIdleGraceMs = 250;
// A request of which the rest has not arrived within this time after the start of a stop delays the
// stop no longer.
constexpr std::int64_t kIncompleteGraceMs = 1'000;
// The client of a connection that was opened or had a response within this time may be about to
// send.
constexpr std::int64_t kInUseMs = 100;
// A search for connections to close scans all of them, so it returns a batch. After a search
// without a result, the next one waits for this long.
constexpr std::size_t kSearchBatch = 64;
constexpr std::int64_t kSearchMs = 5;

// TLS handshakes have one lane, of the same type as the lanes of requests.
constexpr Lane kHandshake{};

constexpr const char* kLaneFull = "More requests are waiting than can be served.";
constexpr const char* kShareFull = "Too many requests from this caller are waiting.";
constexpr const char* kWaitedTooLong = "The request waited too long for its turn.";

/// Handshakes use at most half of the processors; addresses take turns.
LaneTable handshake_table() {
  const int width = (processors() + 1) / 2;
  LaneTable table{};
  table[static_cast<std::size_t>(kHandshake)] = {"handshake", width, 1'024, width, 384};
  return table;
}

LaneCaller address_of(const Connection& connection) {
  return {std::hash<std::string>()(network_of(connection.peer()))};
}

}  // namespace

class Server::Impl {
 public:
  Impl(ServerOptions options, Random& random, Handler handler)
      : options_(std::move(options)),
        handler_(std::move(handler)),
        table_(options_.limits.connections_max, options_.limits.connections_per_network_max),
        session_(options_, random, poller_, uses_tls() ? &identity_ : nullptr),
        lanes_(options_.lanes),
        handshakes_(handshake_table()),
        workers_(options_.workers,
                 {[this] { return make_adapter(); },
                  [this](Connection& connection, Adapter& adapter) { serve(connection, adapter); },
                  [this] { wake_.signal(); }}) {}

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

  // The poller.
  void poll();
  void on_event(const Poller::Event& event);
  void tick(std::int64_t now);
  void accept_some();
  void make_room(std::int64_t now);
  bool begin_drain(std::int64_t now);
  bool drain(std::int64_t now);

  // The owner of a connection, on the poller or a worker.
  bool proceed(Connection& connection, Next next);
  void hand_over(Connection& connection, Next next) {
    if (proceed(connection, next)) workers_.push(connection);
  }

  // Workers.
  std::unique_ptr<Adapter> make_adapter();
  void serve(Connection& connection, Adapter& adapter);
  Response handle(Request& request);

  void release_waiting();

  const ServerOptions options_;
  const Handler handler_;
  const SystemClock clock_;
  TlsIdentity identity_;
  Listener listener_;
  Poller poller_;
  WakeUp wake_;  // of the poller
  ConnectionTable table_;
  Session session_;
  Lanes lanes_;
  Lanes handshakes_;
  Workers workers_;

  std::atomic<std::size_t> busy_{0};             // requests that are being served
  std::atomic<std::int64_t> drain_until_ms_{0};  // 0: not draining
  std::atomic<bool> abort_{false};
  std::atomic<std::uint64_t> evicted_{0};

  // Used by the poller only.
  std::vector<std::uint64_t> to_close_;  // tokens found by the last search, the first one last
  std::int64_t next_search_ms_ = 0;
  bool listening_ = false;
  bool draining_ = false;
  std::int64_t next_tick_ms_ = 0;
  std::int64_t close_idle_at_ms_ = 0;
  std::int64_t close_incomplete_at_ms_ = 0;
  std::int64_t next_exhausted_log_ms_ = 0;

  Mutex lifecycle_;
  bool started_ COFFER_GUARDED_BY(lifecycle_) = false;
  Thread thread_ COFFER_GUARDED_BY(lifecycle_);
};

// --- The poller ---------------------------------------------------------------------------------

void Server::Impl::poll() {
  wake_without_preempting();  // more requests arrive until it runs
  std::array<Poller::Event, 64> events;
  for (;;) {
    const int idle_ms = draining_ ? kDrainTickMs : kTickMs;
    const int wait_ms = workers_.tend(clock_.monotonic_ms()) ? kBusyTickMs : idle_ms;
    const std::size_t count = poller_.wait(events, wait_ms);
    for (std::size_t i = 0; i < count; ++i) {
      if (events[i].token == kListenToken) {
        accept_some();
      } else if (events[i].token == kWakeToken) {
        wake_.clear();
      } else {
        on_event(events[i]);
      }
    }
    const std::int64_t now = clock_.monotonic_ms();
    if (now >= next_tick_ms_) tick(now);
    if (drain_until_ms_.load() != 0 && drain(now)) return;
  }
}

void Server::Impl::on_event(const Poller::Event& event) {
  Connection* connection = table_.find(event.token);
  if (connection == nullptr) return;
  const auto claimed = connection->claim(event.token, event.hang_up, event.is_dead);
  if (claimed != Connection::Claim::owned) return;
  const Next next = event.is_dead ? Next::close : session_.advance(*connection);
  if (proceed(*connection, next)) workers_.push_before_tend(*connection);
}

/// Enforces deadlines.
void Server::Impl::tick(std::int64_t now) {
  next_tick_ms_ = now + kTickMs;
  const std::size_t used = table_.used();
  for (std::size_t i = 0; i < used; ++i) {
    Connection& connection = table_.at(i);
    if (connection.deadline_ms() > now || !connection.claim_parked()) continue;
    if (connection.deadline_ms() <= now) {
      if (connection.http.timer == Timer::idle) connection.channel.end_output();
      table_.release(connection);
    } else {
      hand_over(connection, Next::park);  // it was used again in the meantime
    }
  }
  for (Connection* connection : handshakes_.expire(now - options_.limits.header_ms)) {
    table_.release(*connection);
  }
  for (Connection* connection : lanes_.expire(now - options_.limits.lane_wait_ms)) {
    hand_over(*connection, session_.shed(*connection, overloaded(kWaitedTooLong)));
  }
  table_.close_rejected(now);
  if (!listening_ && !draining_) listening_ = poller_.add_level(listener_.fd(), kListenToken);
}

void Server::Impl::accept_some() {
  for (int i = 0; i < kAcceptBatch && listening_; ++i) {
    Listener::Accepted accepted = listener_.accept();
    if (accepted.kind == Listener::Accepted::Kind::none) return;
    const std::int64_t now = clock_.monotonic_ms();
    if (accepted.kind == Listener::Accepted::Kind::exhausted) {
      // Stop listening until the next tick: the backlog waits, and this thread does not spin.
      poller_.remove(listener_.fd());
      listening_ = false;
      if (now >= next_exhausted_log_ms_) {
        next_exhausted_log_ms_ = now + kExhaustedLogEveryMs;
        log_warning("http", "no file descriptor is left for a new connection",
                    {{"connections", table_.count()}});
      }
      return;
    }
    if (table_.is_full()) make_room(now);
    Connection* connection =
        table_.open(accepted.fd, std::move(accepted.peer), now, now + options_.limits.header_ms);
    if (connection == nullptr) {
      // Under TLS, a response requires a handshake, for which there is no capacity.
      table_.reject(
          accepted.fd,
          uses_tls() ? std::string() : session_.responder().overload(kTooManyConnections, {}), now);
    } else if (!poller_.add_edge(accepted.fd, connection->token()) && connection->claim_parked()) {
      table_.release(*connection);
    }
  }
}

/// Closes an idle connection, otherwise one whose request is incomplete. If there is neither, the
/// new connection is rejected as overload.
void Server::Impl::make_room(std::int64_t now) {
  const std::int64_t idle_before_ms = now - kInUseMs;
  const std::int64_t incomplete_before_ms = now - options_.limits.incomplete_ms;
  // Connections found earlier may be in use by now, so a second search may be necessary.
  for (int searches = 0; table_.is_full();) {
    if (to_close_.empty()) {
      if (now < next_search_ms_ || ++searches > 2) return;
      to_close_ = table_.first_to_close(kSearchBatch, idle_before_ms, incomplete_before_ms);
      if (to_close_.empty()) next_search_ms_ = now + kSearchMs;
      continue;
    }
    const std::uint64_t token = to_close_.back();
    to_close_.pop_back();
    Connection* connection = table_.find(token);
    if (!connection->may_give_way(idle_before_ms, incomplete_before_ms)) continue;
    if (connection->claim(token, false) != Connection::Claim::owned) continue;
    const Next next = session_.give_way(*connection);
    if (next == Next::close) evicted_.fetch_add(1, std::memory_order_relaxed);
    hand_over(*connection, next);
  }
}

bool Server::Impl::begin_drain(std::int64_t now) {
  close_idle_at_ms_ = now + std::min(kIdleGraceMs, (drain_until_ms_.load() - now) / 2);
  close_incomplete_at_ms_ = now + kIncompleteGraceMs;
  if (listening_) poller_.remove(listener_.fd());
  listening_ = false;
  // In this order, so that clients of rejected connections get `Connection: close` in later
  // responses.
  session_.drain(Drain::announce);
  listener_.close();
  return true;
}

/// Returns true when the poller has nothing left to do.
bool Server::Impl::drain(std::int64_t now) {
  if (!draining_) draining_ = begin_drain(now);
  if (now >= close_incomplete_at_ms_) {
    session_.drain(Drain::close_incomplete);
  } else if (now >= close_idle_at_ms_) {
    session_.drain(Drain::close_idle);
  }
  const bool is_over = now >= drain_until_ms_.load();
  const std::size_t used = table_.used();
  for (std::size_t i = 0; i < used; ++i) {
    Connection& connection = table_.at(i);
    if (!connection.claim_parked()) continue;
    if (is_over) {
      table_.release(connection);
    } else {
      connection.channel.look_again();  // a request may have arrived whose event was not seen yet
      hand_over(connection, session_.advance(connection));
    }
  }
  if (!is_over) return table_.count() == 0;
  abort_.store(true);
  release_waiting();
  return busy_.load() == 0;  // until then, blocked workers may have to be replaced
}

// --- The owner of a connection ------------------------------------------------------------------

/// Performs `next`. Returns true if there is work for a worker, whose place in the lane is taken.
/// If it returns false, another thread may already own the connection.
bool Server::Impl::proceed(Connection& connection, Next next) {
  for (;;) {
    switch (next) {
      case Next::close:
        table_.release(connection);
        return false;
      case Next::on:
      case Next::park:
        if (connection.park()) return false;
        next = session_.advance(connection);
        break;
      case Next::handshake:
        switch (handshakes_.enter(kHandshake, address_of(connection), connection,
                                  clock_.monotonic_ms())) {
          case Lanes::Entry::run:
            return true;
          case Lanes::Entry::wait:
            return false;
          case Lanes::Entry::lane_full:
          case Lanes::Entry::share_full:
            next = Next::close;
        }
        break;
      case Next::serve: {
        const auto& http = connection.http;
        switch (lanes_.enter(http.lane, http.caller, connection, clock_.monotonic_ms())) {
          case Lanes::Entry::run:
            return true;
          case Lanes::Entry::wait:
            return false;
          case Lanes::Entry::lane_full:
            next = session_.shed(connection, overloaded(kLaneFull));
            break;
          case Lanes::Entry::share_full:
            next =
                session_.shed(connection, Problem(Slug::rate_limited, kShareFull).retry_after(1));
        }
      }
    }
  }
}

// --- Workers ------------------------------------------------------------------------------------

std::unique_ptr<Adapter> Server::Impl::make_adapter() {
  return std::make_unique<Adapter>(
      options_.limits, abort_, [this](Request& request) { return handle(request); },
      [this](Connection& connection, std::string_view id, const Response& response) {
        return session_.frame(connection, id, response);
      });
}

void Server::Impl::serve(Connection& connection, Adapter& adapter) {
  if (connection.http.phase == Phase::handshake) {
    const LaneCaller caller = address_of(connection);
    const Next next = session_.handshake(connection);
    if (Connection* other = handshakes_.leave(kHandshake, caller)) workers_.push(*other);
    return hand_over(connection, next);
  }
  // In this order, because the poller sets `abort_` and then reads `busy_`.
  busy_.fetch_add(1);
  const bool aborted = abort_.load();
  Request request = session_.take(connection);
  const Lane lane = connection.http.lane;
  const LaneCaller caller = connection.http.caller;
  const std::string id = request.request_id;  // the handler may use up the request
  const LogScope scope("request_id", id);
  const bool ok = !aborted && !connection.is_dead() && adapter.serve(connection, request);
  Connection* const other = lanes_.leave(lane, caller);
  busy_.fetch_sub(1);
  if (other != nullptr) workers_.push(*other);
  hand_over(connection, ok ? session_.advance(connection) : Next::close);
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
  return session_.responder().render(Problem(Slug::unexpected_error), request);
}

// --- Life ---------------------------------------------------------------------------------------

/// Releases requests that no worker will serve.
void Server::Impl::release_waiting() {
  for (Connection* connection : workers_.remove_requests()) table_.release(*connection);
  for (Lanes* lanes : {&lanes_, &handshakes_}) {
    for (Connection* connection : lanes->expire(std::numeric_limits<std::int64_t>::max())) {
      table_.release(*connection);
    }
  }
}

Result<void> Server::Impl::start() {
  const Lock lock(lifecycle_);
  COFFER_CHECK(!started_ && options_.workers > 0);
  COFFER_TRY_VOID(reload_tls());
  COFFER_TRY_VOID(options_.listen_fd >= 0 ? listener_.adopt(options_.listen_fd)
                                          : listener_.bind(options_.host, options_.port));
  // OpenSSL writes to sockets with write(), which has no flag against SIGPIPE.
  std::signal(SIGPIPE, SIG_IGN);
  poller_.add_level(wake_.fd(), kWakeToken);
  listening_ = poller_.add_level(listener_.fd(), kListenToken);
  started_ = true;
  workers_.start();
  thread_ = Thread("http-poller", [this] { poll(); });
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
  wake_.signal();
  thread_.join();
  workers_.stop();
  // For requests that workers parked or queued after the poller's last check.
  release_waiting();
  for (std::size_t i = 0; i < table_.used(); ++i) {
    if (table_.at(i).claim_parked()) table_.release(table_.at(i));
  }
}

ServerStats Server::Impl::stats() const {
  ServerStats stats;
  stats.connections = table_.count();
  stats.queued = workers_.waiting();
  for (std::size_t i = 0; i < kLaneCount; ++i) {
    stats.lanes[i] = lanes_.stats(static_cast<Lane>(i));
    stats.queued += static_cast<std::size_t>(stats.lanes[i].waiting);
  }
  stats.evicted = evicted_.load(std::memory_order_relaxed);
  stats.busy = busy_.load(std::memory_order_relaxed);
  const std::size_t active = stats.queued + stats.busy;
  stats.parked = stats.connections > active ? stats.connections - active : 0;
  session_.add_to(stats);
  stats.workers = workers_.count();
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
