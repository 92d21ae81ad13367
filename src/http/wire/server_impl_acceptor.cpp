#include <algorithm>
#include <array>
#include <utility>

#include "base/log.h"
#include "http/wire/server_impl.h"

namespace coffer::http {
namespace {

constexpr int kTickMs = 200;
constexpr int kDrainTickMs = 10;
constexpr int kWatchTickMs = 1;
// If no turn is taken for this time, the active workers are blocked. Usually longer than a worker
// waits for a processor on a busy machine.
constexpr std::int64_t kStuckMs = 2;
constexpr int kAcceptBatch = 64;
// A client in the middle of a series of requests sends the next one within this time. A response
// serves it better than a closed connection.
constexpr std::int64_t kIdleGraceMs = 250;
// A request of which the rest has not arrived within this time after the start of a stop delays the
// stop no longer.
constexpr std::int64_t kIncompleteGraceMs = 1'000;
// The client of a connection that was opened or had a response within this time may be about to
// send.
constexpr std::int64_t kOpenedMs = 100;
constexpr std::int64_t kAnsweredMs = 100;
// Each search scans all connections, so it returns a batch of those that can be closed. After a
// search without a result, the next one waits for this long.
constexpr std::size_t kSearchBatch = 64;
// Smaller, because another network may have most of the incomplete requests afterwards.
constexpr std::size_t kIncompleteBatch = 8;
constexpr std::int64_t kSearchMs = 5;

constexpr const char* kWaitedTooLong = "The request waited too long for its turn.";

}  // namespace

void Server::Impl::accept_connections() {
  std::array<Poller::Event, 8> events;
  for (;;) {
    const int idle_tick_ms = draining_ ? kDrainTickMs : kTickMs;
    const int tick_ms = tend_queue(clock_.monotonic_ms()) ? kWatchTickMs : idle_tick_ms;
    const std::size_t count = acceptor_poller_.wait(events, tick_ms);
    for (std::size_t i = 0; i < count; ++i) {
      switch (events[i].token) {
        case kListenToken:
          accept_some();
          break;
        case kOverflowToken:
          serve_for_busy_workers();
          break;
        case kAcceptorToken:
          acceptor_wake_.clear();
          break;
      }
    }
    const std::int64_t now = clock_.monotonic_ms();
    if (now >= next_tick_ms_) {
      next_tick_ms_ = now + kTickMs;
      enforce_deadlines(now);
      end_long_waits(now);
      overload_responses_.close_due(now);
      serve_for_busy_workers();  // a safety net: work should have woken the acceptor
      if (!listening_ && !draining_) {
        listening_ = acceptor_poller_.add_level(listener_.fd(), kListenToken);
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
      // Stop listening until the next tick: the backlog waits, and this thread does not spin.
      acceptor_poller_.remove(listener_.fd());
      listening_ = false;
      if (now >= next_exhausted_log_ms_) {
        next_exhausted_log_ms_ = now + kLogEveryMs;
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
      overload_responses_.send(accepted.fd, uses_tls() ? std::string() : session_.no_room(), now);
    } else if (!shared_.add_edge(accepted.fd, connection->token()) && connection->claim_parked()) {
      table_.release(*connection);
    }
  }
}

/// Closes the connection that has been idle for longest, otherwise one whose request is incomplete.
/// If there is neither, the new connection is rejected as overload.
void Server::Impl::make_room(std::int64_t now) {
  // Connections found earlier may be in use by now, so a second search may be necessary. Its
  // results are current.
  for (int searches = 0; table_.is_full();) {
    if (giving_way_.empty()) {
      if (now < next_search_ms_ || ++searches > 2) return;
      giving_way_ = table_.idle_for_longest(kSearchBatch, now - kOpenedMs, now - kAnsweredMs);
      if (giving_way_.empty()) {
        const std::int64_t before_ms = now - options_.limits.incomplete_ms;
        giving_way_ = table_.incomplete_for_longest(kIncompleteBatch, before_ms);
      }
      if (giving_way_.empty()) next_search_ms_ = now + kSearchMs;
      continue;
    }
    const std::uint64_t token = giving_way_.back();
    giving_way_.pop_back();
    Connection* connection = table_.find(token);
    if (!may_give_way(*connection, now)) continue;
    if (connection->claim(token, false) != Connection::Claim::owned) continue;
    const Step step = session_.give_way(*connection);
    if (step == Step::close) gave_way_.fetch_add(1, std::memory_order_relaxed);
    if (proceed(*connection, step)) enqueue(*connection);
  }
}

bool Server::Impl::may_give_way(const Connection& connection, std::int64_t now) const {
  const auto since_before = [](std::int64_t since_ms, std::int64_t before_ms) {
    return since_ms != 0 && since_ms <= before_ms;
  };
  const std::int64_t in_use_ms = connection.is_answered() ? kAnsweredMs : kOpenedMs;
  return since_before(connection.idle_since_ms(), now - in_use_ms) ||
         since_before(connection.incomplete_since_ms(), now - options_.limits.incomplete_ms);
}

void Server::Impl::serve_for_busy_workers() {
  std::array<Poller::Event, 64> events;
  while (waiting_.load() == 0) {
    const std::size_t count = shared_.wait(events, 0);
    if (count == 0) {
      // No further events until more data arrives; a worker that waits again takes over.
      acceptor_poller_.arm(shared_, kOverflowToken);
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (Connection* connection = on_event(events[i])) enqueue(*connection);
    }
    // An event of the queue may have been meant for a worker that has begun to wait.
    if (queue_.size() > 0) wake_waiting();
  }
}

/// Calls more workers if the queue makes no progress: a few at a time, because the active ones may
/// only be waiting for a processor. Call it again soon while it returns true.
bool Server::Impl::tend_queue(std::int64_t now) {
  const std::uint64_t taken = queue_.taken();
  const bool is_stuck = watching_queue_ && taken == taken_before_;
  if (!is_stuck) watched_since_ms_ = now;
  taken_before_ = taken;
  watching_queue_ = queue_.size() > 0 && (queue_.resting() > 0 || startable_.load() > 0);
  if (watching_queue_ && now - watched_since_ms_ >= kStuckMs) {
    call_workers(waiting_max_);
    watched_since_ms_ = now;
  }
  return watching_queue_;
}

/// Queues a request or handshake that has its place in its lane, so the queue is bounded by the
/// width of the lanes.
void Server::Impl::enqueue(Connection& connection) {
  queue_.push({&connection, nullptr});
  // A worker counts itself as waiting and then checks the queue; this code does it in the reverse
  // order. Therefore, either the worker sees the request, or this code sees the worker.
  wake_waiting();
}

/// Queues a fiber that can continue, whose request has its place in its lane. Called by other
/// threads, so the acceptor learns of it and wakes a resting worker if the active ones are blocked.
void Server::Impl::enqueue_ready(RequestFiber& fiber) {
  ++enqueuing_;
  const bool is_first = queue_.push({nullptr, &fiber});
  if (!wake_waiting() && is_first) acceptor_wake_.signal();
  --enqueuing_;
}

void Server::Impl::enforce_deadlines(std::int64_t now) {
  const std::size_t used = table_.used();
  for (std::size_t i = 0; i < used; ++i) {
    Connection& connection = table_.at(i);
    if (connection.deadline_ms() > now || !connection.claim_parked()) continue;
    if (connection.deadline_ms() <= now) {
      if (connection.http.timer == Timer::idle) connection.end_output();
      table_.release(connection);
    } else if (proceed(connection, Step::park)) {  // it was used again in the meantime
      enqueue(connection);
    }
  }
}

void Server::Impl::end_long_waits(std::int64_t now) {
  for (Connection* connection : handshakes_.expire(now - options_.limits.header_ms)) {
    table_.release(*connection);
  }
  for (Connection* connection : lanes_.expire(now - options_.limits.lane_wait_ms)) {
    const Step step = shed(*connection, overloaded(kWaitedTooLong));
    if (proceed(*connection, step)) enqueue(*connection);
  }
}

bool Server::Impl::drain_step(std::int64_t now) {
  if (!draining_) begin_drain(now);
  if (now >= close_idle_at_ms_) session_.close_idle();
  if (now >= close_incomplete_at_ms_) session_.close_incomplete();
  const bool is_over = now >= drain_until_ms_.load();
  const std::size_t used = table_.used();
  for (std::size_t i = 0; i < used; ++i) {
    Connection& connection = table_.at(i);
    if (!connection.claim_parked()) continue;
    if (is_over) {
      table_.release(connection);
    } else {
      connection.look_again();  // a request may have arrived whose event no worker has seen yet
      if (proceed(connection, session_.advance(connection))) enqueue(connection);
    }
  }
  if (!is_over) return table_.count() == 0;
  abort_.store(true);
  release_waiting();
  return busy_.load() == 0;  // until then, fibers that can continue need this thread
}

void Server::Impl::begin_drain(std::int64_t now) {
  draining_ = true;
  close_idle_at_ms_ = now + std::min(kIdleGraceMs, (drain_until_ms_.load() - now) / 2);
  close_incomplete_at_ms_ = now + kIncompleteGraceMs;
  if (listening_) acceptor_poller_.remove(listener_.fd());
  listening_ = false;
  // In this order, so that clients of rejected connections get `Connection: close` in later
  // responses.
  session_.start_draining();
  listener_.close();
}

}  // namespace coffer::http
