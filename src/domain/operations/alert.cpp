#include "domain/operations/alert.h"

#include <algorithm>

#include "base/check.h"

namespace coffer {
namespace {

// In the order of the enum. A condition that may end without an operator's action must last for
// some time before its alert opens. Decisions of operators, and work that waits for one, open no
// alert.
constexpr auto kRules = std::to_array<AlertRule>({
    {AlertCondition::ledger_damaged, 0, "coffer verify"},
    {AlertCondition::refunds_failed, 0, "coffer payment list --status refund_failed"},
    {AlertCondition::disk_low, kMinuteMs, "coffer doctor"},
    {AlertCondition::providers_down, kMinuteMs, "coffer connector list"},
    {AlertCondition::payments_stuck, 0, "coffer payment list --status processing"},
    {AlertCondition::deliveries_failed, 0, "coffer webhook list"},
    {AlertCondition::webhooks_failing, 5 * kMinuteMs, "coffer webhook list"},
    {AlertCondition::wallets_under_review, std::nullopt, "coffer wallet list --status Pending"},
    {AlertCondition::connectors_paused, std::nullopt, "coffer connector list"},
    {AlertCondition::notifications_failed, 0, "coffer notification list --state failed"},
    {AlertCondition::backup_failed, 0, "coffer overview"},
    {AlertCondition::backup_missing, 60 * kMinuteMs, "coffer backup"},
    {AlertCondition::backup_old, 0, "coffer backup"},
    {AlertCondition::clock_wrong, 5 * kMinuteMs, "coffer doctor"},
    {AlertCondition::approvals_waiting, std::nullopt, "coffer approval list"},
    {AlertCondition::credentials_rotated, std::nullopt, "coffer application list"},
    {AlertCondition::checkpoints_missing, 5 * kMinuteMs, "coffer healthcheck"},
    {AlertCondition::money_unbooked, 0, "coffer payment list --open unbooked; coffer arrival list"},
    {AlertCondition::results_contradicted, 0, "coffer payment list --open contradicted"},
    {AlertCondition::clock_unknown, std::nullopt, "coffer doctor"},
    {AlertCondition::replica_missing, kMinuteMs, "coffer doctor"},
    {AlertCondition::replica_lagging, kMinuteMs, "coffer doctor"},
    {AlertCondition::log_unreachable, 0, "coffer doctor"},
    {AlertCondition::unmatched_aging, 0, "coffer reconcile list --state unmatched"},
    {AlertCondition::archive_behind, kMinuteMs, "coffer archive status"},
    {AlertCondition::restore_unproven, 0, "coffer archive prove"},
});
static_assert(in_enum_order(kRules, &AlertRule::condition) &&
              kRules.size() == Terms<AlertCondition>::rows.size());

/// The next step of an open alert, or of one that is not open yet.
std::optional<AlertStep> next_step(const AlertState& alert, bool holds, Timestamp now) {
  if (!alert.told_at) {
    if (!holds) return AlertStep::forget;
    return now >= alert.opens_at ? std::optional(AlertStep::open) : std::nullopt;
  }
  if (!holds) {
    if (!alert.gone_at) return AlertStep::miss;
    const bool ended = now.ms - alert.gone_at->ms >= kAlertGoneMs;
    return ended ? std::optional(AlertStep::close) : std::nullopt;
  }
  if (alert.gone_at) return AlertStep::recover;
  const bool long_ago = now.ms - alert.told_at->ms >= kAlertRepeatMs;
  return long_ago ? std::optional(AlertStep::repeat) : std::nullopt;
}

const AlertState* find(const std::vector<AlertState>& states, AlertCondition condition) {
  const auto at = std::ranges::find(states, condition, &AlertState::condition);
  return at == states.end() ? nullptr : &*at;
}

}  // namespace

const AlertRule& alert_rule(AlertCondition condition) {
  return kRules.at(static_cast<std::size_t>(condition));
}

std::vector<AlertChange> alert_changes(const std::vector<AlertState>& newest,
                                       const std::vector<Finding>& findings,
                                       const std::set<AlertCondition>& unknown, Timestamp now) {
  std::vector<AlertChange> out;
  const auto judge = [&](const AlertState& alert, const Finding& finding, bool holds) {
    if (const auto step = next_step(alert, holds, now)) out.push_back({*step, finding, {}});
  };
  for (const Finding& finding : findings) {
    const auto after_ms = alert_rule(finding.condition).after_ms;
    if (!after_ms) continue;
    const AlertState* before = find(newest, finding.condition);
    if (before != nullptr && !before->closed_at) {
      judge(*before, finding, true);
      continue;
    }
    Timestamp opens_at = now.plus_ms(*after_ms);
    if (before != nullptr) opens_at = std::max(opens_at, before->closed_at->plus_ms(kAlertGapMs));
    out.push_back({AlertStep::watch, finding, opens_at});
    judge({finding.condition, opens_at, {}, {}, {}}, finding, true);
  }
  for (const AlertState& alert : newest) {
    const bool found = std::ranges::any_of(
        findings, [&](const Finding& each) { return each.condition == alert.condition; });
    if (found || alert.closed_at || unknown.contains(alert.condition)) continue;
    judge(alert, {alert.condition, 0, std::nullopt}, false);
  }
  return out;
}

}  // namespace coffer
