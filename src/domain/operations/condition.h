// Conditions that need the attention of the operator: one table for the overview and for alerts.
// The store keeps the enum as integers: append, never reorder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "domain/tables/terms.h"

namespace coffer {

enum class AlertCondition {
  ledger_damaged,
  refunds_failed,
  disk_low,
  providers_down,
  payments_stuck,
  deliveries_failed,
  webhooks_failing,
  wallets_under_review,
  connectors_paused,
  notifications_failed,
  backup_failed,
  backup_missing,
  backup_old,
  clock_wrong,
  approvals_waiting,
  credentials_rotated,
  checkpoints_missing,
  money_unbooked,
  results_contradicted,
  clock_unknown,
  replica_missing,
  replica_lagging,
  log_unreachable,
  unmatched_aging,
  archive_behind,
  restore_unproven,
};

/// The labels are the sentences of alerts.
template <>
struct Terms<AlertCondition> {
  static constexpr auto rows = std::to_array<Term>(
      {{"ledger_damaged", "The verification of the ledger found errors."},
       {"refunds_failed", "Refunds have failed."},
       {"disk_low", "Less than 1 GiB of disk space is free."},
       {"providers_down", "Connectors do not respond."},
       {"payments_stuck", "A payment has been in progress for over 15 minutes."},
       {"deliveries_failed", "Webhook deliveries have failed."},
       {"webhooks_failing", "Webhook endpoints do not accept deliveries."},
       {"wallets_under_review", "Wallets are under review."},
       {"connectors_paused", "Connectors are paused."},
       {"notifications_failed", "Messages to recipients have failed."},
       {"backup_failed", "The last scheduled backup failed."},
       {"backup_missing", "There is no backup."},
       {"backup_old", "The last backup is too old."},
       {"clock_wrong", "The system clock is wrong or not synchronised."},
       {"approvals_waiting", "Commands wait for a second operator."},
       {"credentials_rotated", "Applications got new credentials."},
       {"checkpoints_missing", "The archive lacks the last checkpoint."},
       {"money_unbooked", "Money that arrived was neither booked nor returned."},
       {"results_contradicted", "Providers contradict the final status of payments."},
       {"clock_unknown", "Whether the system clock is synchronised is unknown."},
       {"replica_missing", "Followers of this ledger do not respond."},
       {"replica_lagging", "Followers of this ledger are not up to date."},
       {"log_unreachable", "The shared log does not respond in time."},
       {"unmatched_aging", "Lines of statements have no payment for over 3 days."},
       {"archive_behind", "The archive does not have the latest payments."},
       {"restore_unproven", "Whether a file can be restored from the archive is not proven."}});
};

/// A condition that holds.
struct Finding {
  AlertCondition condition = AlertCondition::ledger_damaged;
  std::int64_t count = 1;          // of the payments, webhooks, ... concerned
  std::optional<Timestamp> since;  // of the oldest of them, if known
  std::string reason = {};         // a sentence for the operator; empty if the condition says it
  friend bool operator==(const Finding&, const Finding&) = default;
};

/// The figures that the conditions depend on. A missing value is unknown; except for the clock, it
/// is known soon after the start, and until then causes no finding.
struct ConditionFacts {
  std::optional<bool> ledger_holds;
  std::int64_t refunds_failed = 0;
  std::int64_t money_unbooked = 0;  // payments and arrivals
  std::int64_t results_contradicted = 0;
  std::int64_t old_lines = 0;  // of statements, without a payment for longer than kUnmatchedOldMs
  std::optional<Timestamp> oldest_line;
  std::optional<std::int64_t> disk_free_bytes;
  std::int64_t breakers_open = 0;
  std::int64_t unsettled = 0;  // in progress for longer than kStuckMs
  std::optional<Timestamp> oldest_unsettled;
  std::int64_t deliveries_failed = 0;
  std::int64_t webhooks_failing = 0;
  std::int64_t reviews = 0;
  std::optional<Timestamp> oldest_review;
  std::int64_t approvals = 0;
  std::optional<Timestamp> oldest_approval;
  std::int64_t applications_rotated = 0;  // in the last 24 hours
  std::int64_t connectors_paused = 0;
  std::int64_t notifications_failed = 0;
  bool backup_failed = false;
  std::string backup_fault;  // why
  std::optional<Timestamp> last_backup;
  std::int64_t backup_every_ms = 0;  // 0: no schedule
  std::int64_t clock_behind_ms = 0;  // relative to the times in the file
  std::optional<bool> clock_synchronised;
  bool checkpoint_failed = false;           // the archive does not have it
  std::optional<Timestamp> archived_until;  // nullopt: no archive
  bool archive_failed = false;              // it cannot continue, or a snapshot is missing
  std::string archive_problem;              // what it does not have, and why; empty: nothing
  std::int64_t prove_every_ms = 0;          // 0: restores are not proven
  std::optional<Timestamp> proven_at;       // when a restore was last proven
  Timestamp archiving_since;
  std::string proof_fault;            // of the last one; empty: it succeeded
  std::int64_t replicas_missing = 0;  // of the setting `replicas`
  std::int64_t replicas_lagging = 0;
  bool log_is_slow = false;  // an append took over a second in the last minutes
};

/// A payment in progress for longer is stuck.
constexpr std::int64_t kStuckMs = 15 * kMinuteMs;
/// A line of a statement without a payment for longer needs an operator.
constexpr std::int64_t kUnmatchedOldMs = 3 * kDayMs;
constexpr std::int64_t kDiskLowBytes = std::int64_t{1} << 30;
/// A backup is old after two intervals of the schedule; without a schedule, after this time.
constexpr std::int64_t kBackupOldMs = 7 * kDayMs;
/// Payments that are not in the archive for longer need an operator.
constexpr std::int64_t kArchiveBehindMs = 5 * kMinuteMs;
/// Smaller differences are left to the clock's own synchronisation.
constexpr std::int64_t kClockBehindMs = 1'000;

/// A clause about the finding: `1 wallet under review`.
std::string summary(const Finding& finding);

/// The conditions that hold, the most urgent first.
std::vector<Finding> find_conditions(const ConditionFacts& facts, Timestamp now);

}  // namespace coffer
