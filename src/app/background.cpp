#include "app/background.h"

#include <algorithm>

#include "base/platform/process.h"
#include "base/telemetry/clock_sync.h"
#include "base/telemetry/log.h"
#include "flows/operations/backup_plan.h"
#include "flows/operations/backups.h"
#include "flows/operations/live_verification.h"
#include "flows/settlement/settle_payment.h"
#include "outbound/operations/messenger.h"
#include "store/identity/approvals.h"
#include "store/identity/tenants.h"
#include "store/operations/copies.h"
#include "store/operations/figures.h"
#include "store/providers/arrivals.h"
#include "store/providers/provider_payments.h"
#include "store/reconciliation/bank_lines.h"
#include "store/replication/leader.h"

namespace coffer {
namespace {

constexpr int kSettleBatch = 256;
constexpr std::int64_t kHousekeepingMs = 200;
constexpr std::int64_t kStoreUsesEveryMs = kMinuteMs;
constexpr std::int64_t kVerifyEveryMs = kHourMs;
constexpr std::int64_t kVerifyAgainMs =
    1'000;  // if no reader was free, or the slice was interrupted
constexpr std::int64_t kProofAgeMaxMs = 2'000;
constexpr std::int64_t kBatchAgeMaxMs = 5'000;
constexpr std::int64_t kRoundAgeMaxMs = 30'000;
constexpr std::int64_t kRotationNoticeMs = kDayMs;

flows::BackupPlan backup_plan(const Config& config) {
  return {.folder = config.backup_dir,
          .every_ms = config.backup_every_h * kHourMs,
          .keep = config.backup_keep,
          .floor_bytes = config.disk_floor_bytes()};
}

}  // namespace

Background::Background(const Config& config, const Clock& clock, api::Services& services,
                       const outbound::ConnectorRegistry& connectors, http::Client& client,
                       outbound::Resolver& resolver, Archiving& archiving)
    : config_(config),
      clock_(clock),
      services_(services),
      context_(services.flows),
      connectors_(connectors),
      providers_(context_),
      deliveries_(context_, config.webhook_senders, config.webhook_in_flight),
      messages_(context_,
                [this] {
                  return context_.read([this](store::Connection& db) {
                    return condition_facts(db, store::read_backlog(db));
                  });
                }),
      archiving_(archiving),
      checkpoints_(context_, archiving.head_keeper()) {
  if (context_.database.leader() != nullptr) {
    leadership_.emplace(config_, context_, client, resolver);
  }
  if (config.backup_dir.empty()) return;
  backups_.emplace("backups", [this, plan = backup_plan(config_)] {
    return flows::run_backup_plan(context_, plan, [this] { return draining_.load(); });
  });
}

void Background::start() {
  started_ = true;
  flows::drop_left_copies(context_);
  settlement_.start();
  providers_.start();
  deliveries_.start();
  messages_.start();
  housekeeping_.start();
  prober_.start();
  head_signer_.start();
  verifier_.start();
  if (backups_) backups_->start();
  if (leadership_) leadership_->start();
  if (archiving_.writes()) archiving_.start([this] { return draining_.load(); });
  starting_ = false;
}

void Background::stop() {
  if (!started_) return;
  housekeeping_.stop();
  store_secret_uses();
  if (backups_) backups_->stop();
  if (leadership_) leadership_->stop();
  archiving_.stop();
  head_signer_.stop();
  verifier_.stop();
  prober_.stop();
  settlement_.stop();
  providers_.stop();
  deliveries_.stop();
  if (context_.messenger != nullptr) context_.messenger->cut_after(0);
  messages_.stop();
}

int Background::settle_once() {
  const auto round = flows::settle_due_payments(context_, kSettleBatch);
  return (round ? round->settled : 0) + providers_.run_due();
}

void Background::wake(store::Signal signal) {
  switch (signal) {
    case store::Signal::settlement:
      settlement_.wake();
      break;
    case store::Signal::providers:
      providers_.wake();
      break;
    case store::Signal::webhooks:
      deliveries_.wake();
      break;
    case store::Signal::notifications:
      messages_.wake();
      break;
  }
}

api::Health Background::health() const {
  const store::CommitStats stats = context_.queue.stats();
  const std::int64_t now = clock_.monotonic_ms();
  // A request renews the test write, so an idle server without monitoring writes nothing.
  if (now - stats.last_commit_ms > kProofAgeMaxMs) prober_.wake();
  const bool stuck = stats.busy_since_ms != 0 && now - stats.busy_since_ms > kBatchAgeMaxMs;
  const std::int64_t round_ms = settling_since_ms_;
  const bool settles = round_ms == 0 || now - round_ms <= kRoundAgeMaxMs;
  api::Health health{{{"writer", !stuck},
                      {"database", context_.database.in_place()},
                      {"disk", !stats.storage_full},
                      {"settlement", settles},
                      {"invariants", invariants_hold_ && !operator_found_faults_},
                      {"serving", !starting_ && !draining_}}};
  if (stats.clock_behind_ms > 0) {
    health.details.emplace_back("clock", "The system clock is " +
                                             std::to_string(stats.clock_behind_ms / 1'000) +
                                             " s behind the timestamps of the records.");
  }
  if (const store::Leader* leader = context_.database.leader()) {
    const store::LogPosition at = leader->position();
    health.leads = {at.seq, at.epoch};
  }
  if (checkpoints_.has_failed()) {
    health.details.emplace_back("checkpoints", "The archive does not have the last checkpoint.");
  }
  return health;
}

ConditionFacts Background::condition_facts(store::Connection& db,
                                           const store::Backlog& backlog) const {
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
  const auto lines =
      store::old_bank_lines(db, context_.queue.now().plus_ms(-kUnmatchedOldMs), store::kCountMax);
  facts.old_lines = lines.count;
  facts.oldest_line = lines.oldest;
  facts.disk_free_bytes = static_cast<std::int64_t>(context_.database.free_bytes());
  facts.breakers_open = number_of([this](const store::ConnectorLabel& row) {
    return connectors_.breaker(row.key).kind != State::closed;
  });
  facts.unsettled = store::payments_in_progress_since(db, context_.queue.now().plus_ms(-kStuckMs));
  facts.oldest_unsettled = backlog.oldest_unsettled;
  facts.deliveries_failed = backlog.dead_letters;
  facts.webhooks_failing = backlog.endpoints_failing;
  facts.reviews = backlog.reviews.count;
  facts.oldest_review = backlog.reviews.created;
  const auto approvals = store::waiting_approvals(db, context_.queue.now());
  facts.approvals = approvals.count;
  facts.oldest_approval = approvals.oldest;
  facts.applications_rotated =
      store::count_rotated_applications(db, context_.queue.now().plus_ms(-kRotationNoticeMs));
  facts.connectors_paused =
      number_of([](const store::ConnectorLabel& row) { return row.is_paused(); });
  facts.notifications_failed = backlog.notifications_failed;
  if (const auto failure = store::backup_failure(db)) {
    facts.backup_failed = true;
    facts.backup_fault = failure->reason;
  }
  if (backlog.last_backup) facts.last_backup = backlog.last_backup->at;
  if (!config_.backup_dir.empty()) facts.backup_every_ms = config_.backup_every_h * kHourMs;
  facts.clock_behind_ms = context_.queue.stats().clock_behind_ms;
  facts.clock_synchronised = clock_is_synchronised();
  if (leadership_) leadership_->add_facts(facts);
  facts.checkpoint_failed = checkpoints_.has_failed();
  if (archiving_.writes()) archiving_.add_facts(db, facts);
  return facts;
}

std::int64_t Background::settlement_step() {
  // Keeps its value if a round ends with an exception or hangs, so that /healthz reports it.
  if (settling_since_ms_ == 0) settling_since_ms_ = clock_.monotonic_ms();
  const auto round = flows::settle_due_payments(context_, kSettleBatch);
  settling_since_ms_ = 0;
  if (!round) return 1'000;  // overloaded or disk full: the jobs wait in their rows
  if (round->settled == kSettleBatch) return 0;
  if (!round->next_due) return WorkerThread::kWhenWoken;
  return std::max<std::int64_t>(0, round->next_due->ms - context_.queue.now().ms);
}

std::int64_t Background::housekeeping_step() {
  context_.database.interrupt_stale_readers();
  if (context_.database.close_idle_readers() > 0) return_free_memory();
  context_.database.watch_place();
  context_.queue.watch_clock();
  // A refusal to act on a row shows that the file was changed, so verification looks for more.
  if (const auto seen = store::foreign_changes(); seen != foreign_changes_) {
    foreign_changes_ = seen;
    if (invariants_hold_) context_.queue.set_balances(store::BalanceState::unverified);
    verifier_.wake();
  }
  if (clock_.monotonic_ms() - uses_stored_ms_ >= kStoreUsesEveryMs) store_secret_uses();
  return kHousekeepingMs;
}

void Background::store_secret_uses() {
  uses_stored_ms_ = clock_.monotonic_ms();
  const auto uses = services_.authenticator.take_uses();
  if (uses.empty()) return;
  const auto stored = context_.queue.run([&](store::WriteTx& tx) -> Result<void> {
    for (const store::SecretUse& use : uses) store::put_secret_use(tx, use);
    return {};
  });
  if (!stored) {
    log_warning("identity", "the last uses of API keys could not be stored",
                {{"problem", stored.error().detail}});
  }
}

std::int64_t Background::probe_step() {
  if (const auto proof = context_.queue.probe(); !proof) {
    log_warning("store", "test write rejected", {{"problem", proof.error().detail}});
  }
  return WorkerThread::kWhenWoken;
}

/// Verifies a slice. A round of slices runs at start and hourly.
std::int64_t Background::verify_step() {
  if (draining_) return WorkerThread::kWhenWoken;
  const auto slice = flows::verify_slice(context_, verification_);
  if (!slice) {
    // Any other problem means that the keys of the file can no longer be opened.
    if (slice.error().slug == Slug::overloaded) return kVerifyAgainMs;
    invariants_hold_ = false;
    judge_balances();
    log_error("store", "verification failed", {{"problem", slice.error().detail}});
    return kVerifyEveryMs;
  }
  const std::vector<store::Violation>& violations = verification_.violations();
  if (!violations.empty()) invariants_hold_ = false;
  if (!slice->round_over) {
    if (!violations.empty()) judge_balances();
    return slice->rest_ms;
  }
  for (const store::Violation& violation : violations) {
    log_error("store", "invariant violated",
              {{"invariant", violation.invariant}, {"detail", violation.detail}});
  }
  invariants_hold_ = violations.empty();
  verified_at_ms_ = clock_.now().ms;
  judge_balances();
  return_free_memory();
  return kVerifyEveryMs;
}

void Background::note_verification(bool holds) {
  operator_found_faults_ = !holds;
  judge_balances();
}

/// If a verification has found faults, the writer compares each balance before it uses it.
void Background::judge_balances() {
  using store::BalanceState;
  const bool damaged = !invariants_hold_ || operator_found_faults_;
  const auto found = verified_at_ms_ == 0 ? BalanceState::unverified : BalanceState::sound;
  context_.queue.set_balances(damaged ? BalanceState::damaged : found);
}

}  // namespace coffer
