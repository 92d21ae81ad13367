// Lanes limit the resources of requests by what their handlers wait for. A request that hangs
// occupies a place in its own lane and nothing that other lanes need.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace coffer {

enum class Lane {
  system,    // liveness, metrics, documents in memory: handlers that never wait
  money,     // handlers that wait for a commit: payments and every other write
  read,      // single reads and lists, each with a bounded amount of work
  search,    // free text and wide filters
  exports,   // streamed statements
  outbound,  // handlers that wait for another machine: a provider, a name server, a key set
  password,  // scrypt: one processor and 16 MiB each
  bulk,      // bodies over 64 KiB
  admin,     // commands of the admin page
};

constexpr std::size_t kLaneCount = 9;

/// `share` and `queue_share` apply to each caller: an application, or an address without accepted
/// credentials. The last quarter of each queue is reserved for applications.
struct LaneLimits {
  std::string_view name;  // as in metrics
  int width = 0;          // concurrent requests
  int queue = 0;          // waiting requests; beyond: 503 overloaded
  int share = 0;          // of the width, per caller
  int queue_share = 0;    // of the queue, per caller; beyond: 429 rate-limited
};

/// In the order of `Lane`.
using LaneTable = std::array<LaneLimits, kLaneCount>;

/// The limits of every lane. `money_width` is the setting `workers`. A caller may use the whole
/// width of a lane whose requests end within milliseconds, because callers take turns. In a lane
/// whose requests may take long, its share is smaller. One address cannot fill the queue of
/// `system`, so health checks from other addresses still find room.
constexpr LaneTable lane_table(int money_width, int processors) {
  const int half = (processors + 1) / 2;
  return {{
      {"system", 8, 1'024, 8, 384},
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

/// The number of threads with which every lane can run at its whole width.
constexpr int total_width(const LaneTable& lanes) {
  int total = 0;
  for (const LaneLimits& lane : lanes) total += lane.width;
  return total;
}

/// Current state of a lane, for metrics.
struct LaneStats {
  int running = 0;
  int waiting = 0;
  std::uint64_t rejected = 0;  // because of a full queue, a full share, or a timeout
};

/// The caller to whom a request in a lane is counted.
struct LaneCaller {
  std::uint64_t id = 0;
  bool is_application = false;  // its credentials were accepted earlier
};

constexpr std::string_view name(Lane lane) {
  return lane_table(1, 1)[static_cast<std::size_t>(lane)].name;
}

}  // namespace coffer
