// Alerts: messages to the operator when a condition begins, once a day while it lasts, and when it
// has ended. Pure rules; the store keeps the enums as integers: append, never reorder.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "domain/operations/condition.h"
#include "domain/tables/terms.h"

namespace coffer {

/// The label starts the subject of an e-mail.
enum class AlertKind { began, continues, ended };
template <>
struct Terms<AlertKind> {
  static constexpr auto rows =
      std::to_array<Term>({{"began", ""}, {"continues", "Still: "}, {"ended", "Ended: "}});
};

struct AlertRule {
  AlertCondition condition;
  std::optional<std::int64_t> after_ms;  // how long the condition lasts before its alert opens;
                                         // nullopt: the overview shows it, and no alert opens
  std::string_view next;                 // the command to run next
};
const AlertRule& alert_rule(AlertCondition condition);

/// An open alert ends when its condition has been gone for this time.
constexpr std::int64_t kAlertGoneMs = 5 * kMinuteMs;
/// After an alert has ended, the next one of the same condition opens after this time or later.
constexpr std::int64_t kAlertGapMs = 30 * kMinuteMs;
constexpr std::int64_t kAlertRepeatMs = 86'400'000;
/// Ended alerts are deleted after this time.
constexpr std::int64_t kAlertDays = 90;

/// The newest stored alert of a condition.
struct AlertState {
  AlertCondition condition = AlertCondition::ledger_damaged;
  Timestamp opens_at;
  std::optional<Timestamp> told_at;    // the last message `began` or `continues`
  std::optional<Timestamp> gone_at;    // start of the condition's absence
  std::optional<Timestamp> closed_at;  // when the message `ended` was created
};

enum class AlertStep {
  watch,    // a condition begins: add a row that is not open yet
  forget,   // a condition ended before its alert opened
  open,     // message: began
  repeat,   // message: continues
  miss,     // the condition of an open alert is gone
  recover,  // the condition of an open alert is back
  close,    // message: ended
};

struct AlertChange {
  AlertStep step = AlertStep::watch;
  Finding finding;     // the condition; its figures unless it is gone
  Timestamp opens_at;  // of `watch`
  friend bool operator==(const AlertChange&, const AlertChange&) = default;
};

/// The changes that follow from the current findings, in the order to apply them. `unknown` lists
/// the conditions that cannot be evaluated at present; their alerts do not change.
std::vector<AlertChange> alert_changes(const std::vector<AlertState>& newest,
                                       const std::vector<Finding>& findings,
                                       const std::set<AlertCondition>& unknown, Timestamp now);

}  // namespace coffer
