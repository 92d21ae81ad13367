// Carrying payments to their providers: "attempt open" is on disk before a provider is called, and
// what it answered is on disk before anything else happens with the payment. After a crash the
// provider is asked; nothing is ever resent without knowing (docs/contract.md#off-ramp,
// domain/providers/provider_payment.h).
#pragma once

#include <optional>
#include <unordered_set>

#include "base/mutex.h"
#include "flows/context.h"
#include "store/providers/provider_payments.h"

namespace coffer::flows {

/// Jobs that some thread is working on, so that two threads of a lane never take the same. Thread
/// safe.
class JobClaims {
 public:
  bool claim(std::int64_t payment);
  void release(std::int64_t payment);
  int count() const;

 private:
  mutable Mutex mutex_;
  std::unordered_set<std::int64_t> payments_ COFFER_GUARDED_BY(mutex_);
};

struct ProviderRound {
  int done = 0;                       // completed steps of jobs
  std::optional<Timestamp> next_due;  // of the earliest job without a worker, if any
};

/// Takes up to `limit` due jobs of a lane one step forward: one commit opens the attempts, the
/// calls are made with no transaction open, one commit applies the answers.
Result<ProviderRound> run_provider_jobs(const Context& context, std::int64_t lane, int limit,
                                        JobClaims& claims);

}  // namespace coffer::flows
