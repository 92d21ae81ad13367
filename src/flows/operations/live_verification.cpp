#include "flows/operations/live_verification.h"

#include "base/limits/pace.h"
#include "base/telemetry/metrics.h"
#include "base/thread.h"
#include "flows/operations/file_keys.h"

namespace coffer::flows {
namespace {

constexpr std::int64_t kRowsMax = 4'000;
constexpr std::int64_t kMsMax = 20;

void count(const Context& context, const store::Verification& verification,
           const store::VerifiedRows& done) {
  if (context.metrics == nullptr) return;
  Metrics& metrics = *context.metrics;
  metrics.counter("coffer_verification_slices_total", "Slices of the verification.").add();
  metrics.counter("coffer_verification_rows_total", "Rows checked by the verification.")
      .add(static_cast<std::uint64_t>(done.rows));
  metrics.gauge("coffer_verification_position", "The newest entry set checked by the verification.")
      .set(static_cast<double>(verification.position()));
}

}  // namespace

Result<VerifiedSlice> verify_slice(const Context& context, store::Verification& verification) {
  const store::ReadersScope readers(store::Readers::verification);
  Pace pace;
  COFFER_TRY(const store::VerifiedRows done,
             context.read([&](store::Connection& db) -> Result<store::VerifiedRows> {
               COFFER_TRY_VOID(use_chain_keys(context.sealer, db));
               return verification.slice(db, kRowsMax, kMsMax);
             }));
  count(context, verification, done);
  return VerifiedSlice{done.round_over, pace.rest_ms()};
}

Result<std::vector<store::Violation>> verify_in_slices(const Context& context,
                                                       const ProgressFunction& progress) {
  store::Verification verification;
  for (;;) {
    progress({"checking in slices", verification.position(), 0, Progress::Unit::rows});
    COFFER_TRY(const VerifiedSlice slice, verify_slice(context, verification));
    if (slice.round_over) return verification.violations();
    rest(slice.rest_ms);
  }
}

}  // namespace coffer::flows
