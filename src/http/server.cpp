// Who does what:
//
// - A few workers, as many as there are processors, wait for activity on all connections at once
//   (`shared_`). Whoever is woken reads what has arrived, and if that completes a request, serves
//   it on the spot: at most one wake-up per request and no hand-over. A request that is not
//   complete is parked again, so a slow client costs a few microseconds per packet, never a worker.
// - The other workers rest. They are there because handlers block in the commit queue.
// - The steward thread accepts, enforces deadlines, and steps in when no worker is left waiting: it
//   reads in their place, queues what is complete, sheds what the queue cannot take, and wakes
//   resting workers if those at work do not get on with the queue, which means that they are
//   blocked. Waking them earlier would make quick requests cost a context switch each (measured
//   per trivial GET: 1.4 switches and 14 us of CPU without this rule, 0.3 and 11 us with it).

#include "http/server.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <exception>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/platform/processors.h"
#include "base/platform/wake_up.h"
#include "base/telemetry/log_scope.h"
#include "base/thread.h"
#include "http/adapter.h"
#include "http/problem_json.h"
#include "http/tls.h"
#include "http/wire/connection_table.h"
#include "http/wire/conversation.h"
#include "http/wire/doorman.h"
#include "http/wire/listener.h"
#include "http/wire/poller.h"
#include "http/wire/request_queue.h"

namespace coffer::http {
namespace {

constexpr int kTickMs = 200;
constexpr int kDrainTickMs = 10;
constexpr int kAcceptBatch = 64;
// After so many requests of one connection in a row the others get their turn.
constexpr int kBurst = 16;
// A client in the middle of a series sends its next request within this time, and it is better told
// to go elsewhere by a response than by a closed connection.
constexpr std::int64_t kIdleGraceMs = 250;
constexpr std::int64_t kLogEveryMs = 60'000;

// Tokens that are no connection's: their slot number is out of range.
constexpr std::uint64_t kSpecial = std::uint64_t{0xffffffff} << 32;
constexpr std::uint64_t kQueueToken = kSpecial | 1;
constexpr std::uint64_t kStopToken = kSpecial | 2;
constexpr std::uint64_t kListenToken = kSpecial | 3;
constexpr std::uint64_t kOverflowToken = kSpecial | 4;
constexpr std::uint64_t kStewardToken = kSpecial | 5;

}  // namespace

class Server::Impl {
 public:
  Impl(ServerOptions options, Random& random, Handler handler)
      : options_(std::move(options)),
        handler_(std::move(handler)),
        table_(options_.limits.connections_max, options_.limits.connections_per_address_max),
        conversation_(options_, random, shared_, uses_tls() ? &identity_ : nullptr),
        queue_(options_.limits.queue_max) {}

  ~Impl() { stop(0); }

  Result<void> start();
  Result<void> reload_tls();
  void stop(int drain_ms);
  int port() const { return listener_.port(); }
  ServerStats stats() const;

 private:
  bool uses_tls() const {
    return !options_.tls_cert_file.empty() || !options_.tls_key_file.empty();
  }

  // Workers.
  void work();
  Connection* next_request(bool& stopped);
  bool begin_waiting();
  void end_waiting();
  Connection* on_event(const Poller::Event& event);
  bool drive(Connection& connection, Step step);
  void serve(Connection& connection, Adapter& adapter);
  Response handle(Request& request);

  // The steward.
  void steward();
  void accept_some();
  void serve_for_busy_workers();
  bool tend_queue();
  void enqueue(Connection& connection);
  void enforce_deadlines(std::int64_t now);
  void begin_drain(std::int64_t now);
  bool drain_step(std::int64_t now);

  void release(Connection& connection);

  const ServerOptions options_;
  const Handler handler_;
  const SystemClock clock_;
  TlsIdentity identity_;
  Listener listener_;
  Poller shared_;
  Poller steward_poller_;
  WakeUp queue_wake_;
  WakeUp stop_wake_;
  WakeUp steward_wake_;
  ConnectionTable table_;
  Conversation conversation_;
  RequestQueue queue_;

  const std::size_t waiting_max_ = static_cast<std::size_t>(processors());
  std::atomic<std::size_t> waiting_{0};          // workers that wait for activity, or are about to
  std::atomic<std::size_t> busy_{0};             // workers inside the handler or writing
  std::atomic<std::int64_t> drain_until_ms_{0};  // 0: not draining
  std::atomic<bool> abort_{false};

  // The steward's own.
  Doorman doorman_;
  bool listening_ = false;
  bool draining_ = false;
  bool watching_queue_ = false;
  std::uint64_t taken_before_ = 0;
  std::int64_t next_tick_ms_ = 0;
  std::int64_t close_idle_at_ms_ = 0;
  std::int64_t logged_exhausted_ms_ = -kLogEveryMs;

  Mutex lifecycle_;
  bool started_ COFFER_GUARDED_BY(lifecycle_) = false;
  std::vector<Thread> workers_ COFFER_GUARDED_BY(lifecycle_);
  Thread steward_thread_ COFFER_GUARDED_BY(lifecycle_);
};

// --- Workers ------------------------------------------------------------------------------------

void Server::Impl::work() {
  Adapter adapter(
      options_.limits, abort_, [this](Request& request) { return handle(request); },
      [this](Connection& connection, const RequestHead& head, const Response& response) {
        return conversation_.frame(connection, head.request_id, response);
      });
  bool stopped = false;
  while (!stopped) {
    if (Connection* connection = next_request(stopped)) serve(*connection, adapter);
  }
}

Connection* Server::Impl::next_request(bool& stopped) {
  if (Connection* connection = queue_.pop()) return connection;
  if (!begin_waiting()) return nullptr;
  std::array<Poller::Event, 1> events;
  const std::size_t count = shared_.wait(events, -1);
  end_waiting();
  if (count == 0) return nullptr;
  if (events[0].token == kStopToken) {
    stopped = true;
    return nullptr;
  }
  return on_event(events[0]);
}

/// False: look at the queue again, after a rest if enough others wait.
bool Server::Impl::begin_waiting() {
  if (waiting_.fetch_add(1) >= waiting_max_) {
    end_waiting();
    queue_.rest();
    return false;
  }
  if (queue_.size() == 0) return true;
  end_waiting();  // something was queued before the steward could see this worker waiting
  return false;
}

/// The last one to leave rouses the steward, which looks away for as long as somebody is counted.
void Server::Impl::end_waiting() {
  if (waiting_.fetch_sub(1) == 1) steward_poller_.arm(shared_, kOverflowToken);
}

/// A connection with a complete request, owned by the caller; nullptr when there is none.
Connection* Server::Impl::on_event(const Poller::Event& event) {
  Connection* connection = table_.find(event.token);  // nullptr also for kQueueToken
  if (connection == nullptr) return nullptr;
  if (connection->claim(event.token, event.hang_up) != Connection::Claim::owned) return nullptr;
  return drive(*connection, conversation_.advance(*connection)) ? connection : nullptr;
}

/// Parks or releases as `step` says; true when there is a request to serve instead.
bool Server::Impl::drive(Connection& connection, Step step) {
  for (;;) {
    switch (step) {
      case Step::serve:
        return true;
      case Step::close:
        release(connection);
        return false;
      case Step::park:
        if (connection.park()) return false;
        step = conversation_.advance(connection);
    }
  }
}

void Server::Impl::serve(Connection& connection, Adapter& adapter) {
  for (int served = 0; served < kBurst; ++served) {
    busy_.fetch_add(1, std::memory_order_relaxed);
    const RequestHead head = conversation_.take_head(connection);
    const LogScope scope("request_id", head.request_id);
    const bool ok = adapter.serve(connection, head);
    busy_.fetch_sub(1, std::memory_order_relaxed);
    const Step step = ok ? conversation_.after_response(connection) : Step::close;
    if (!drive(connection, step)) return;
  }
  enqueue(connection);
  queue_.wake_resting();  // the steward does not know of this one
}

Response Server::Impl::handle(Request& request) {
  const std::string id = request.request_id;
  try {
    return handler_(request);
  } catch (const std::exception& error) {
    // The pipeline catches what its handlers throw; this is what it threw itself.
    log_error("http", "handler failed", {{"request_id", id}, {"error", error.what()}});
  } catch (...) {
    log_error("http", "handler failed", {{"request_id", id}});
  }
  const Problem problem(Slug::unexpected_error);
  return options_.render_problem ? options_.render_problem(problem, request.path, id)
                                 : problem_response(problem, request.path, id);
}

void Server::Impl::release(Connection& connection) {
  conversation_.forget(connection);
  table_.release(connection);
}

// --- The steward --------------------------------------------------------------------------------

void Server::Impl::steward() {
  std::array<Poller::Event, 8> events;
  for (;;) {
    const bool look_again = tend_queue();
    if (look_again) ::sched_yield();  // to the workers, who may be about to take something
    const int tick_ms = draining_ ? kDrainTickMs : kTickMs;
    const std::size_t count = steward_poller_.wait(events, look_again ? 0 : tick_ms);
    for (std::size_t i = 0; i < count; ++i) {
      switch (events[i].token) {
        case kListenToken:
          accept_some();
          break;
        case kOverflowToken:
          serve_for_busy_workers();
          break;
        case kStewardToken:
          steward_wake_.clear();
          break;
      }
    }
    const std::int64_t now = clock_.monotonic_ms();
    if (now >= next_tick_ms_) {
      next_tick_ms_ = now + kTickMs;
      enforce_deadlines(now);
      doorman_.close_due(now);
      serve_for_busy_workers();  // a belt: it should have been roused if there is anything to do
      if (!listening_ && !draining_) {
        listening_ = steward_poller_.add_level(listener_.fd(), kListenToken);
      }
    }
    if (drain_until_ms_.load() != 0 && drain_step(now)) return;
  }
}

void Server::Impl::accept_some() {
  for (int i = 0; i < kAcceptBatch && listening_; ++i) {
    Listener::Accepted accepted = listener_.accept();
    if (accepted.kind == Listener::Accepted::Kind::none) return;
    const std::int64_t now = clock_.monotonic_ms();
    if (accepted.kind == Listener::Accepted::Kind::exhausted) {
      // Deaf until the next tick: the backlog waits, and this thread does not spin.
      steward_poller_.remove(listener_.fd());
      listening_ = false;
      if (now - logged_exhausted_ms_ >= kLogEveryMs) {
        logged_exhausted_ms_ = now;
        log_warning("http", "no descriptor left to accept a connection",
                    {{"connections", table_.count()}});
      }
      return;
    }
    Connection* connection =
        table_.open(accepted.fd, std::move(accepted.peer), now + options_.limits.header_ms);
    if (connection == nullptr) {
      // Under TLS nothing can be said before the handshake, and there is no room for that.
      doorman_.turn_away(accepted.fd, uses_tls() ? std::string() : conversation_.no_room(), now);
    } else if (!shared_.add_edge(accepted.fd, connection->token()) && connection->claim_parked()) {
      release(*connection);
    }
  }
}

void Server::Impl::serve_for_busy_workers() {
  std::array<Poller::Event, 64> events;
  while (waiting_.load() == 0) {
    const std::size_t count = shared_.wait(events, 0);
    if (count == 0) {
      // Silent until more arrives; a worker that comes back to wait takes over by itself.
      steward_poller_.arm(shared_, kOverflowToken);
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (Connection* connection = on_event(events[i])) enqueue(*connection);
    }
  }
}

/// Called until it returns false: wakes resting workers when the queue stands still.
bool Server::Impl::tend_queue() {
  if (queue_.size() == 0 || queue_.resting() == 0) return watching_queue_ = false;
  const std::uint64_t taken = queue_.taken();
  if (watching_queue_ && taken == taken_before_) {
    queue_.wake_resting();
    return watching_queue_ = false;
  }
  taken_before_ = taken;
  return watching_queue_ = true;
}

/// Queues a complete request or, when the queue is full, answers it right here.
void Server::Impl::enqueue(Connection& connection) {
  while (!queue_.push(connection)) {
    if (!drive(connection, conversation_.shed(connection))) return;
  }
  // A worker counts itself as waiting and then looks at the queue; here it is the other way round.
  // So either it sees the request or this sees the worker.
  if (waiting_.load() > 0) queue_wake_.signal();
}

void Server::Impl::enforce_deadlines(std::int64_t now) {
  const std::size_t used = table_.used();
  for (std::size_t i = 0; i < used; ++i) {
    Connection& connection = table_.at(i);
    if (connection.deadline_ms() > now || !connection.claim_parked()) continue;
    if (connection.deadline_ms() <= now) {
      if (connection.http.timer == Timer::idle) connection.end_output();
      release(connection);
    } else if (drive(connection, Step::park)) {  // it was used again meanwhile
      enqueue(connection);
    }
  }
}

bool Server::Impl::drain_step(std::int64_t now) {
  if (!draining_) begin_drain(now);
  if (now >= close_idle_at_ms_) conversation_.close_idle();
  const bool is_over = now >= drain_until_ms_.load();
  const std::size_t used = table_.used();
  for (std::size_t i = 0; i < used; ++i) {
    Connection& connection = table_.at(i);
    if (!connection.claim_parked()) continue;
    if (is_over) {
      release(connection);
    } else {
      connection.look_again();  // a request may be there whose event no worker has seen yet
      if (drive(connection, conversation_.advance(connection))) enqueue(connection);
    }
  }
  if (is_over) {
    abort_.store(true);
    while (Connection* connection = queue_.pop()) release(*connection);
  }
  return is_over || table_.count() == 0;
}

void Server::Impl::begin_drain(std::int64_t now) {
  draining_ = true;
  close_idle_at_ms_ = now + std::min(kIdleGraceMs, (drain_until_ms_.load() - now) / 2);
  if (listening_) steward_poller_.remove(listener_.fd());
  listening_ = false;
  // In this order: who finds the door closed can rely on `Connection: close` in what still comes.
  conversation_.start_draining();
  listener_.close();
}

// --- Life ---------------------------------------------------------------------------------------

Result<void> Server::Impl::start() {
  const Lock lock(lifecycle_);
  COFFER_CHECK(!started_ && options_.workers > 0);
  if (uses_tls()) COFFER_TRY_VOID(identity_.load(options_.tls_cert_file, options_.tls_key_file));
  COFFER_TRY_VOID(options_.listen_fd >= 0 ? listener_.adopt(options_.listen_fd)
                                          : listener_.bind(options_.host, options_.port));
  // OpenSSL writes to sockets with write(), which has no flag against the signal.
  std::signal(SIGPIPE, SIG_IGN);
  shared_.add_edge(queue_wake_.fd(), kQueueToken);
  shared_.add_level(stop_wake_.fd(), kStopToken);
  steward_poller_.add_level(steward_wake_.fd(), kStewardToken);
  steward_poller_.add_once(shared_, kOverflowToken);
  listening_ = steward_poller_.add_level(listener_.fd(), kListenToken);
  started_ = true;
  for (std::size_t i = 0; i < options_.workers; ++i) {
    workers_.emplace_back("http-" + std::to_string(i), [this] { work(); });
  }
  steward_thread_ = Thread("http-steward", [this] { steward(); });
  return {};
}

Result<void> Server::Impl::reload_tls() {
  if (!uses_tls()) return {};
  return identity_.load(options_.tls_cert_file, options_.tls_key_file);
}

void Server::Impl::stop(int drain_ms) {
  const Lock lock(lifecycle_);
  if (!started_) return;
  started_ = false;
  drain_until_ms_.store(clock_.monotonic_ms() + drain_ms);
  steward_wake_.signal();
  steward_thread_.join();
  stop_wake_.signal();
  queue_.close();
  for (Thread& worker : workers_) worker.join();
  workers_.clear();
  // What workers parked or queued after the steward's last look.
  while (Connection* connection = queue_.pop()) release(*connection);
  for (std::size_t i = 0; i < table_.used(); ++i) {
    if (table_.at(i).claim_parked()) release(table_.at(i));
  }
}

ServerStats Server::Impl::stats() const {
  ServerStats stats;
  stats.connections = table_.count();
  stats.queued = queue_.size();
  stats.busy = busy_.load(std::memory_order_relaxed);
  const std::size_t active = stats.queued + stats.busy;
  stats.parked = stats.connections > active ? stats.connections - active : 0;
  stats.requests = conversation_.requests();
  stats.refused = conversation_.refused();
  return stats;
}

Server::Server(ServerOptions options, Random& random, Handler handler)
    : impl_(std::make_unique<Impl>(std::move(options), random, std::move(handler))) {}

Server::~Server() = default;

Result<void> Server::start() { return impl_->start(); }
int Server::port() const { return impl_->port(); }
Result<void> Server::reload_tls() { return impl_->reload_tls(); }
void Server::stop(int drain_ms) { impl_->stop(drain_ms); }
ServerStats Server::stats() const { return impl_->stats(); }

}  // namespace coffer::http
