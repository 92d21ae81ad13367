// Requests, counted by route.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "api/pipeline/route.h"

namespace coffer {
class Counter;
class Histogram;
class Metrics;  // base/telemetry/metrics.h
}  // namespace coffer

namespace coffer::api {

/// One line per route of the table, and one for everything that matches none: what a client sends
/// never becomes a label. Safe from every worker thread; after the first request of a kind it takes
/// no lock.
class Traffic {
 public:
  /// Without `metrics` nothing is counted; they outlive this, as `routes` do.
  Traffic(Metrics* metrics, const std::vector<Route>& routes);
  ~Traffic();
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  /// A request that was answered with `status` after so many microseconds. `route` is one of the
  /// table, or nullptr where none matched.
  void note(const Route* route, int status, std::int64_t us) const;

 private:
  struct Line;
  void note_refusal(const Route* route, int status) const;

  Metrics* const metrics_;
  const std::vector<Route>& routes_;
  std::vector<std::unique_ptr<Line>> lines_;  // as the routes; the last is for what matches none
};

/// The same families, for what is served beside the table of routes. Takes a lock. `route` and
/// `method` are constant words.
void count_request(Metrics& metrics, std::string_view method, std::string_view route, int status,
                   std::int64_t us);
/// A wrong secret at a sign-in: `surface` is `api` or `admin`.
void count_sign_in_failure(Metrics& metrics, std::string_view surface);

}  // namespace coffer::api
