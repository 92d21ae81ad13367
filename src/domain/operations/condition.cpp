#include "domain/operations/condition.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace coffer {
namespace {

constexpr std::int64_t kProofsMissed = 3;

using Found = std::optional<Finding>;

/// A finding if `count` is not zero.
Found counted(AlertCondition condition, std::int64_t count, std::optional<Timestamp> since = {}) {
  if (count == 0) return std::nullopt;
  return Finding{condition, count, since};
}

Found when(bool holds, AlertCondition condition, std::optional<Timestamp> since = {},
           const std::string& reason = {}) {
  if (!holds) return std::nullopt;
  return Finding{condition, 1, since, reason};
}

Found stuck_payments(const ConditionFacts& facts, Timestamp now) {
  const bool old = facts.oldest_unsettled && now.ms - facts.oldest_unsettled->ms > kStuckMs;
  return counted(AlertCondition::payments_stuck, old ? facts.unsettled : 0, facts.oldest_unsettled);
}

Found old_backup(const ConditionFacts& facts, Timestamp now) {
  const bool is_enough = facts.archived_until && facts.backup_every_ms == 0;
  if (!facts.last_backup || is_enough) return std::nullopt;
  const std::int64_t limit_ms =
      facts.backup_every_ms > 0 ? 2 * facts.backup_every_ms : kBackupOldMs;
  return when(now.ms - facts.last_backup->ms > limit_ms, AlertCondition::backup_old,
              facts.last_backup);
}

Found late_archive(const ConditionFacts& facts, Timestamp now) {
  const bool late = facts.archived_until && now.ms - facts.archived_until->ms > kArchiveBehindMs;
  return when(late || facts.archive_failed, AlertCondition::archive_behind, facts.archived_until,
              facts.archive_problem);
}

Found unproven_restore(const ConditionFacts& facts, Timestamp now) {
  const Timestamp since = facts.proven_at.value_or(facts.archiving_since);
  const bool late =
      facts.prove_every_ms > 0 && now.ms - since.ms > kProofsMissed * facts.prove_every_ms;
  return when(late || !facts.proof_fault.empty(), AlertCondition::restore_unproven, facts.proven_at,
              facts.proof_fault);
}

/// The clause for one and for several; `#` is replaced by the count.
struct Clause {
  AlertCondition condition;
  std::string_view one;
  std::string_view several = {};  // empty: the same
};
constexpr auto kClauses = std::to_array<Clause>({
    {AlertCondition::ledger_damaged, "errors in the ledger"},
    {AlertCondition::refunds_failed, "# failed refund", "# failed refunds"},
    {AlertCondition::disk_low, "less than 1 GiB of disk space free"},
    {AlertCondition::providers_down, "# connector does not respond", "# connectors do not respond"},
    {AlertCondition::payments_stuck, "# payment stuck for more than 15 minutes",
     "# payments stuck for more than 15 minutes"},
    {AlertCondition::deliveries_failed, "# failed delivery", "# failed deliveries"},
    {AlertCondition::webhooks_failing, "# webhook failing", "# webhooks failing"},
    {AlertCondition::wallets_under_review, "# wallet under review", "# wallets under review"},
    {AlertCondition::connectors_paused, "# connector paused", "# connectors paused"},
    {AlertCondition::notifications_failed, "# failed notification", "# failed notifications"},
    {AlertCondition::backup_failed, "last scheduled backup failed"},
    {AlertCondition::backup_missing, "no backup"},
    {AlertCondition::backup_old, "last backup too old"},
    {AlertCondition::clock_wrong, "clock wrong or not synchronised"},
    {AlertCondition::approvals_waiting, "# command awaits approval", "# commands await approval"},
    {AlertCondition::credentials_rotated, "# application got new credentials",
     "# applications got new credentials"},
    {AlertCondition::checkpoints_missing, "last checkpoint not in the archive"},
    {AlertCondition::money_unbooked, "# payment arrived and is neither booked nor returned",
     "# payments arrived and are neither booked nor returned"},
    {AlertCondition::results_contradicted, "# payment whose final status its provider contradicts",
     "# payments whose final status their provider contradicts"},
    {AlertCondition::clock_unknown, "not known whether the clock is synchronised"},
    {AlertCondition::replica_missing, "# follower does not respond", "# followers do not respond"},
    {AlertCondition::replica_lagging, "# follower not up to date", "# followers not up to date"},
    {AlertCondition::log_unreachable, "shared log slow or unreachable"},
    {AlertCondition::unmatched_aging, "# line of a statement without a payment for over 3 days",
     "# lines of statements without a payment for over 3 days"},
    {AlertCondition::archive_behind, "archive behind"},
    {AlertCondition::restore_unproven, "restore from the archive not proven"},
});
static_assert(kClauses.size() == Terms<AlertCondition>::rows.size());

}  // namespace

std::string summary(const Finding& finding) {
  const auto found = std::ranges::find(kClauses, finding.condition, &Clause::condition);
  const bool several = finding.count != 1 && !found->several.empty();
  std::string out(several ? found->several : found->one);
  if (const auto at = out.find('#'); at != std::string::npos) {
    out.replace(at, 1, std::to_string(finding.count));
  }
  return out;
}

std::vector<Finding> find_conditions(const ConditionFacts& facts, Timestamp now) {
  using enum AlertCondition;
  const bool wrong_clock =
      facts.clock_behind_ms > kClockBehindMs || !facts.clock_synchronised.value_or(true);
  const Found rows[] = {
      when(!facts.ledger_holds.value_or(true), ledger_damaged),
      counted(results_contradicted, facts.results_contradicted),
      counted(refunds_failed, facts.refunds_failed),
      counted(money_unbooked, facts.money_unbooked),
      counted(unmatched_aging, facts.old_lines, facts.oldest_line),
      when(facts.disk_free_bytes.value_or(kDiskLowBytes) < kDiskLowBytes, disk_low),
      counted(providers_down, facts.breakers_open),
      stuck_payments(facts, now),
      counted(deliveries_failed, facts.deliveries_failed),
      counted(webhooks_failing, facts.webhooks_failing),
      when(facts.backup_failed, backup_failed, {}, facts.backup_fault),
      when(!facts.last_backup && !facts.backup_failed && !facts.archived_until, backup_missing),
      old_backup(facts, now),
      late_archive(facts, now),
      unproven_restore(facts, now),
      when(wrong_clock, clock_wrong),
      when(!facts.clock_synchronised && !wrong_clock, clock_unknown),
      when(facts.checkpoint_failed, checkpoints_missing),
      when(facts.log_is_slow, log_unreachable),
      counted(replica_missing, facts.replicas_missing),
      counted(replica_lagging, facts.replicas_lagging),
      counted(approvals_waiting, facts.approvals, facts.oldest_approval),
      counted(credentials_rotated, facts.applications_rotated),
      counted(wallets_under_review, facts.reviews, facts.oldest_review),
      counted(connectors_paused, facts.connectors_paused),
      counted(notifications_failed, facts.notifications_failed),
  };
  std::vector<Finding> out;
  for (const Found& row : rows) {
    if (row) out.push_back(*row);
  }
  return out;
}

}  // namespace coffer
