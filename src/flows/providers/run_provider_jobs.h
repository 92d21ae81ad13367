// Executes payments at their providers. An open attempt is on disk before a provider is called, and
// the response is on disk before the payment's next step. After a crash, coffer queries the
// provider; it never resubmits a payment without knowing its state (docs/contract.md#off-ramp,
// domain/providers/provider_payment.h).
#pragma once

#include <optional>
#include <unordered_set>

#include "base/mutex.h"
#include "flows/context.h"
#include "store/providers/provider_payments.h"

namespace coffer::flows {

/// Jobs in progress, so that two threads of a lane never take the same job. Thread-safe.
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

/// Advances up to `limit` due jobs of a lane by one step: one commit opens the attempts, the calls
/// are made without an open transaction, and one commit applies the responses.
Result<ProviderRound> run_provider_jobs(const Context& context, std::int64_t lane, int limit,
                                        JobClaims& claims);

}  // namespace coffer::flows
