// Decides which requests run and which wait: a counter and a queue for each lane, without threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "base/limits/lane.h"
#include "base/mutex.h"

namespace coffer::http {

class Connection;

/// Callers with waiting requests take turns, one request each, so that a caller with a thousand
/// requests delays another by only one. Thread-safe: one short lock per lane.
class Lanes {
 public:
  explicit Lanes(const LaneTable& limits);

  enum class Entry {
    run,         // the caller of `enter` runs the request, then calls `leave`
    wait,        // queued; a later `leave` or `expire` returns it
    lane_full,   // the queue is full
    share_full,  // the caller's share of the queue is full
  };
  Entry enter(Lane lane, LaneCaller caller, Connection& connection, std::int64_t now_ms);
  /// A request of `caller` has ended. Returns the request that takes its place and runs now;
  /// nullptr if none may run.
  Connection* leave(Lane lane, LaneCaller caller);
  /// Removes and returns the requests that have waited since before `before_ms`, in any order.
  std::vector<Connection*> expire(std::int64_t before_ms);

  LaneStats stats(Lane lane) const;

 private:
  struct Waiting {
    Connection* connection;
    std::int64_t since_ms;
  };
  struct Caller {
    int running = 0;
    std::deque<Waiting> waiting;
  };
  using Callers = std::unordered_map<std::uint64_t, Caller>;
  struct State {
    mutable Mutex mutex;
    LaneStats stats COFFER_GUARDED_BY(mutex);
    Callers callers COFFER_GUARDED_BY(mutex);
    std::deque<std::uint64_t> turns COFFER_GUARDED_BY(mutex);  // callers with waiting requests
  };

  static void forget_idle(State& state, Callers::iterator at) COFFER_REQUIRES(state.mutex);
  static Connection* next(State& state, const LaneLimits& limits) COFFER_REQUIRES(state.mutex);

  const LaneTable limits_;
  std::array<State, kLaneCount> lanes_;
};

}  // namespace coffer::http
