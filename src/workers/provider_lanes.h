// Threads that submit payments to providers: one lane for all drivers that respond immediately, and
// a separate lane for every other connector, so that a slow provider does not delay the others.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/worker_thread.h"
#include "flows/context.h"
#include "flows/providers/run_provider_jobs.h"

namespace coffer::workers {

class ProviderLanes {
 public:
  /// `context` outlives the lanes.
  explicit ProviderLanes(const flows::Context& context);
  ~ProviderLanes();  // stops
  ProviderLanes(const ProviderLanes&) = delete;
  ProviderLanes& operator=(const ProviderLanes&) = delete;

  void start();
  /// A commit has left work for some lane. From any thread.
  void wake();
  /// Returns when the calls in progress have ended.
  void stop();

  /// Without threads: everything that is due now, on this thread; how many steps were taken. For
  /// tests under a manual clock, and for nothing that `start` runs beside.
  int run_due();

 private:
  struct Lane {
    flows::JobClaims claims;
    std::vector<std::unique_ptr<WorkerThread>> threads;
  };
  std::int64_t dispatch();  // the first lane, and whom else to wake
  std::int64_t step(std::int64_t lane, int limit, flows::JobClaims& claims);
  Lane& lane(std::int64_t key);

  const flows::Context& context_;
  flows::JobClaims at_once_;
  std::map<std::int64_t, std::unique_ptr<Lane>> lanes_;  // of the dispatcher's thread
  std::unique_ptr<WorkerThread> dispatcher_;
};

}  // namespace coffer::workers
