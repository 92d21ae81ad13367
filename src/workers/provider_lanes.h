// Threads that submit payments to providers: one lane for all drivers that respond immediately, and
// a separate lane for every other connector, so that a slow provider does not delay the others.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/telemetry/worker_thread.h"
#include "flows/context.h"
#include "flows/providers/run_provider_jobs.h"

namespace coffer::workers {

class ProviderLanes {
 public:
  /// `context` must outlive the lanes.
  explicit ProviderLanes(const flows::Context& context);
  ~ProviderLanes();  // stops
  ProviderLanes(const ProviderLanes&) = delete;
  ProviderLanes& operator=(const ProviderLanes&) = delete;

  void start();
  /// Call after a commit with work for a lane. Thread-safe.
  void wake();
  /// Returns when the calls in progress have ended.
  void stop();

  /// Runs everything that is due now on the calling thread and returns the number of steps. For
  /// tests with a manual clock; not together with `start`.
  int run_due();

 private:
  struct Lane {
    flows::JobClaims claims;
    std::vector<std::unique_ptr<WorkerThread>> threads;
  };
  std::int64_t dispatch();  // runs the first lane and wakes the others
  std::int64_t step(std::int64_t lane, int limit, flows::JobClaims& claims);
  Lane& lane(std::int64_t key);

  const flows::Context& context_;
  flows::JobClaims at_once_;
  std::map<std::int64_t, std::unique_ptr<Lane>> lanes_;  // for the dispatcher's thread
  std::unique_ptr<WorkerThread> dispatcher_;
};

}  // namespace coffer::workers
