#include "http/wire/lanes.h"

#include <algorithm>

#include "base/check.h"

namespace coffer::http {
namespace {

std::size_t index_of(Lane lane) { return static_cast<std::size_t>(lane); }

/// Places in a queue for `caller`: callers without accepted credentials cannot use the last
/// quarter.
int room(const LaneLimits& limits, LaneCaller caller) {
  return caller.is_application ? limits.queue : limits.queue - limits.queue / 4;
}

}  // namespace

Lanes::Lanes(const LaneTable& limits) : limits_(limits) {}

Lanes::Entry Lanes::enter(Lane lane, LaneCaller caller, Connection& connection,
                          std::int64_t now_ms) {
  const LaneLimits& limits = limits_[index_of(lane)];
  State& state = lanes_[index_of(lane)];
  const Lock lock(state.mutex);
  const auto at = state.callers.try_emplace(caller.id).first;
  Caller& own = at->second;
  // `leave` gives each free place to a waiting request that may use it, so a place that is free now
  // is available to this request.
  if (state.stats.running < limits.width && own.running < limits.share) {
    ++state.stats.running;
    ++own.running;
    return Entry::run;
  }
  const bool share_full = own.waiting.size() >= static_cast<std::size_t>(limits.queue_share);
  if (share_full || state.stats.waiting >= room(limits, caller)) {
    ++state.stats.rejected;
    forget_idle(state, at);
    return share_full ? Entry::share_full : Entry::lane_full;
  }
  if (own.waiting.empty()) state.turns.push_back(caller.id);
  own.waiting.push_back({&connection, now_ms});
  ++state.stats.waiting;
  return Entry::wait;
}

Connection* Lanes::leave(Lane lane, LaneCaller caller) {
  State& state = lanes_[index_of(lane)];
  const Lock lock(state.mutex);
  const auto at = state.callers.find(caller.id);
  COFFER_CHECK(at != state.callers.end() && at->second.running > 0);
  --state.stats.running;
  --at->second.running;
  forget_idle(state, at);
  return state.stats.waiting == 0 ? nullptr : next(state, limits_[index_of(lane)]);
}

/// Keeps a few idle callers, so that a caller with consecutive requests does not allocate each
/// time.
void Lanes::forget_idle(State& state, Callers::iterator at) {
  constexpr std::size_t kKept = 64;
  const bool is_idle = at->second.running == 0 && at->second.waiting.empty();
  if (is_idle && state.callers.size() > kKept) state.callers.erase(at);
}

/// Takes the first waiting request of the caller whose turn it is.
Connection* Lanes::next(State& state, const LaneLimits& limits) {
  if (state.stats.running >= limits.width) return nullptr;
  for (std::size_t tried = 0, all = state.turns.size(); tried < all; ++tried) {
    const std::uint64_t id = state.turns.front();
    state.turns.pop_front();
    Caller& caller = state.callers.at(id);
    if (caller.running >= limits.share) {
      state.turns.push_back(id);
      continue;
    }
    Connection* connection = caller.waiting.front().connection;
    caller.waiting.pop_front();
    if (!caller.waiting.empty()) state.turns.push_back(id);
    ++caller.running;
    ++state.stats.running;
    --state.stats.waiting;
    return connection;
  }
  return nullptr;
}

std::vector<Connection*> Lanes::expire(std::int64_t before_ms) {
  std::vector<Connection*> out;
  for (State& state : lanes_) {
    const Lock lock(state.mutex);
    if (state.stats.waiting == 0) continue;
    const auto is_over = [&](std::uint64_t id) {
      const auto at = state.callers.find(id);
      auto& waiting = at->second.waiting;
      while (!waiting.empty() && waiting.front().since_ms < before_ms) {
        out.push_back(waiting.front().connection);
        waiting.pop_front();
        --state.stats.waiting;
        ++state.stats.rejected;
      }
      if (!waiting.empty()) return false;
      forget_idle(state, at);
      return true;
    };
    std::erase_if(state.turns, is_over);
  }
  return out;
}

LaneStats Lanes::stats(Lane lane) const {
  const State& state = lanes_[index_of(lane)];
  const Lock lock(state.mutex);
  return state.stats;
}

}  // namespace coffer::http
