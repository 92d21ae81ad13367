// Counts requests by route.
#pragma once

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

/// One line per route of the table, and one for all requests without a route, so client input never
/// becomes a label. Thread-safe; takes no lock after the first request of a kind.
class Traffic {
 public:
  /// Without `metrics`, nothing is counted. `metrics` and `routes` must outlive this object.
  Traffic(Metrics* metrics, const std::vector<Route>& routes);
  ~Traffic();
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  /// Counts a request with response `status` that took `us` microseconds. `route` is a row of the
  /// table, or nullptr if none matched.
  void note(const Route* route, int status, std::int64_t us) const;

 private:
  struct Line;
  void note_rejection(const Route* route, int status) const;

  Metrics* const metrics_;
  const std::vector<Route>& routes_;
  // In the order of the routes; the last is for requests without a route.
  std::vector<std::unique_ptr<Line>> lines_;
};

/// Counts in the same families, for responses outside the route table. Takes a lock. `route` and
/// `method` are constants.
void count_request(Metrics& metrics, std::string_view method, std::string_view route, int status,
                   std::int64_t us);
/// Counts a wrong secret at a sign-in. `surface` is `api` or `admin`.
void count_sign_in_failure(Metrics& metrics, std::string_view surface);

}  // namespace coffer::api
