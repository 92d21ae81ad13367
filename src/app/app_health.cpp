#include <algorithm>

#include "app/app.h"
#include "base/telemetry/clock_sync.h"
#include "store/identity/approvals.h"
#include "store/identity/tenants.h"
#include "store/operations/copies.h"
#include "store/operations/figures.h"
#include "store/providers/arrivals.h"
#include "store/providers/provider_payments.h"

namespace coffer {
namespace {

constexpr std::int64_t kProofAgeMaxMs = 2'000;
constexpr std::int64_t kBatchAgeMaxMs = 5'000;
constexpr std::int64_t kRoundAgeMaxMs = 30'000;
constexpr std::int64_t kRotationNoticeMs = kDayMs;

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
                      {"database", database_->in_place()},
                      {"disk", !stats.storage_full},
                      {"settlement", settles},
                      {"invariants", invariants_hold_ && !operator_found_faults_},
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

ConditionFacts App::condition_facts(store::Connection& db, const store::Backlog& backlog) const {
  using State = outbound::BreakerState::Kind;
  ConditionFacts facts;
  const auto number_of = [&](auto&& holds) {
    return std::ranges::count_if(backlog.connectors, holds);
  };
  // Unknown until the first verification: a restart must not end an alert about the ledger.
  if (!invariants_hold_ || operator_found_faults_) {
    facts.ledger_holds = false;
  } else if (verified_at_ms_ != 0) {
    facts.ledger_holds = true;
  }
  facts.refunds_failed = store::refunds_failed(db);
  facts.money_unbooked = store::count_open_items(db, OpenItem::unbooked, store::kCountMax) +
                         store::count_open_arrivals(db, store::kCountMax);
  facts.results_contradicted =
      store::count_open_items(db, OpenItem::contradicted, store::kCountMax);
  facts.disk_free_bytes = static_cast<std::int64_t>(database_->free_bytes());
  facts.breakers_open = number_of([this](const store::ConnectorLabel& row) {
    return connectors_->breaker(row.key).kind != State::closed;
  });
  facts.unsettled = store::payments_in_progress_since(db, queue_->now().plus_ms(-kStuckMs));
  facts.oldest_unsettled = backlog.oldest_unsettled;
  facts.deliveries_failed = backlog.dead_letters;
  facts.webhooks_failing = backlog.endpoints_failing;
  facts.reviews = backlog.reviews.count;
  facts.oldest_review = backlog.reviews.created;
  const auto approvals = store::waiting_approvals(db, queue_->now());
  facts.approvals = approvals.count;
  facts.oldest_approval = approvals.oldest;
  facts.applications_rotated =
      store::count_rotated_applications(db, queue_->now().plus_ms(-kRotationNoticeMs));
  facts.connectors_paused =
      number_of([](const store::ConnectorLabel& row) { return row.is_paused(); });
  facts.notifications_failed = backlog.notifications_failed;
  facts.backup_failed = store::backup_failure(db).has_value();
  if (backlog.last_backup) facts.last_backup = backlog.last_backup->at;
  if (!config_.backup_dir.empty()) facts.backup_every_ms = config_.backup_every_h * kHourMs;
  facts.clock_behind_ms = queue_->stats().clock_behind_ms;
  facts.clock_synchronised = clock_is_synchronised();
  if (checkpoints_) {
    facts.checkpoint_faults = static_cast<std::int64_t>(checkpoints_->faults().size());
  }
  return facts;
}

std::optional<http::ServerStats> App::server_stats() const {
  return server_ ? std::optional(server_->stats()) : std::nullopt;
}

std::optional<http::ServerStats> App::admin_server_stats() const {
  return admin_server_ ? std::optional(admin_server_->stats()) : std::nullopt;
}

}  // namespace coffer
