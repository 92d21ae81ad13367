#include "app/app.h"

namespace coffer {
namespace {

constexpr std::int64_t kProofAgeMaxMs = 2'000;
constexpr std::int64_t kBatchAgeMaxMs = 5'000;
constexpr std::int64_t kRoundAgeMaxMs = 30'000;

}  // namespace

api::Health App::health() const {
  const store::CommitStats stats = queue_->stats();
  const std::int64_t now = clock_.monotonic_ms();
  // A request renews the test write, so an idle server without monitoring writes nothing.
  if (prober_ && now - stats.last_commit_ms > kProofAgeMaxMs) prober_->wake();
  const bool stuck = stats.busy_since_ms != 0 && now - stats.busy_since_ms > kBatchAgeMaxMs;
  const std::int64_t round_ms = settling_since_ms_;
  const bool settles = round_ms == 0 || now - round_ms <= kRoundAgeMaxMs;
  api::Health health{{{"writer", !stuck},
                      {"disk", !stats.storage_full},
                      {"settlement", settles},
                      {"invariants", invariants_hold_},
                      {"serving", !starting_ && !draining_}}};
  if (stats.clock_behind_ms > 0) {
    health.details.emplace_back("clock", "The system clock is " +
                                             std::to_string(stats.clock_behind_ms / 1'000) +
                                             " s behind the timestamps of the records.");
  }
  if (checkpoints_ && !checkpoints_->faults().empty()) {
    health.details.emplace_back("checkpoints", "A witness does not have the last checkpoint.");
  }
  return health;
}

std::optional<http::ServerStats> App::server_stats() const {
  return server_ ? std::optional(server_->stats()) : std::nullopt;
}

std::optional<http::ServerStats> App::admin_server_stats() const {
  return admin_server_ ? std::optional(admin_server_->stats()) : std::nullopt;
}

}  // namespace coffer
