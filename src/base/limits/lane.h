// Lanes: what a request may take of the server, by what its handler waits for. A request that hangs
// holds a place in its own lane and nothing that the other lanes need.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace coffer {

enum class Lane {
  system,    // liveness, metrics, documents in memory: handlers that wait for nothing
  money,     // whatever sleeps until its commit: payments and every other write
  read,      // single reads and lists, each a bounded amount of work
  search,    // free text and wide filters
  exports,   // streamed statements
  outbound,  // handlers that wait for another machine: a provider, a name server, a key set
  password,  // scrypt: a processor and 16 MiB for each
  bulk,      // bodies over 64 KiB
  admin,     // commands of the admin page
};

constexpr std::size_t kLaneCount = 9;

/// `share` and `queue_share` are for one caller: an application, or an address that has not proved
/// to be one. The last quarter of each queue is kept for applications.
struct LaneLimits {
  std::string_view name;  // as in metrics
  int width = 0;          // requests at once
  int queue = 0;          // requests that wait, parked; beyond: 503 overloaded
  int share = 0;          // of the width
  int queue_share = 0;    // of the queue; beyond: 429 rate-limited
};

/// In the order of `Lane`.
using LaneTable = std::array<LaneLimits, kLaneCount>;

/// The limits of every lane. `money_width` is the setting `workers`. A caller may take the whole
/// width where requests end by themselves within milliseconds, because callers take turns; less
/// where a request may last.
constexpr LaneTable lane_table(int money_width, int processors) {
  const int half = (processors + 1) / 2;
  return {{
      {"system", 8, 1'024, 8, 768},
      {"money", money_width, 1'024, money_width, 768},
      {"read", 16, 512, 12, 384},
      {"search", 2, 64, 1, 32},
      {"exports", 4, 32, 2, 8},
      {"outbound", 8, 64, 4, 32},
      {"password", processors, 64, half, 16},
      {"bulk", 2, 32, 1, 8},
      {"admin", 4, 32, 2, 16},
  }};
}

/// Threads that let every lane run its whole width at once.
constexpr int total_width(const LaneTable& lanes) {
  int total = 0;
  for (const LaneLimits& lane : lanes) total += lane.width;
  return total;
}

/// How a lane stands, for metrics.
struct LaneStats {
  int running = 0;
  int waiting = 0;
  std::uint64_t refused = 0;  // by a full queue, a full share, or after waiting too long
};

/// Whose share of a lane a request draws on.
struct LaneCaller {
  std::uint64_t id = 0;
  bool is_application = false;  // its credentials have been accepted before
};

constexpr std::string_view name(Lane lane) {
  return lane_table(1, 1)[static_cast<std::size_t>(lane)].name;
}

}  // namespace coffer
