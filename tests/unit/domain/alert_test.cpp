// The times of alerts about a condition: at its beginning, daily, and at its end.
#include "domain/operations/alert.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "domain/operations/message.h"
#include "source_dir.h"

using namespace coffer;

namespace {

using enum AlertCondition;

/// Alerts over time, as in the store.
class Watch {
 public:
  /// The messages of a check now, such as "began payments_stuck".
  std::vector<std::string> look(const std::vector<Finding>& findings,
                                const std::set<AlertCondition>& unknown = {}) {
    std::vector<AlertState> newest;
    for (const auto& [condition, state] : states_) newest.push_back(state);
    std::vector<std::string> out;
    for (const AlertChange& change : alert_changes(newest, findings, unknown, now)) {
      const std::string word = apply(change);
      if (!word.empty()) out.push_back(word + " " + std::string(name(change.finding.condition)));
    }
    return out;
  }
  /// Checks every ten seconds for this time, and returns all messages.
  std::vector<std::string> looks_for(std::int64_t ms, const std::vector<Finding>& findings) {
    std::vector<std::string> out;
    for (const std::int64_t end_ms = now.ms + ms; now.ms < end_ms; now = now.plus_ms(10'000)) {
      for (std::string& each : look(findings)) out.push_back(std::move(each));
    }
    return out;
  }
  const AlertState& state(AlertCondition condition) const { return states_.at(condition); }

  Timestamp now{1'800'000'000'000};

 private:
  std::string apply(const AlertChange& change) {
    AlertState& state = states_[change.finding.condition];
    switch (change.step) {
      case AlertStep::watch:
        before_ = state;
        state = {change.finding.condition, change.opens_at, {}, {}, {}};
        return "";
      case AlertStep::forget:
        // The previous row is the newest again.
        state = before_;
        if (!state.told_at) states_.erase(change.finding.condition);
        return "";
      case AlertStep::open:
        state.told_at = now;
        return "began";
      case AlertStep::repeat:
        state.told_at = now;
        return "continues";
      case AlertStep::miss:
        state.gone_at = now;
        return "";
      case AlertStep::recover:
        state.gone_at.reset();
        return "";
      case AlertStep::close:
        state.closed_at = now;
        return "ended";
    }
    return "?";
  }

  std::map<AlertCondition, AlertState> states_;
  AlertState before_;
};

using Messages = std::vector<std::string>;

const std::vector<Finding> kNone;
const std::vector<Finding> kStuck = {{payments_stuck, 2, {}}};  // opens at once
const std::vector<Finding> kDown = {{providers_down, 1, {}}};   // opens after a minute

}  // namespace

TEST_CASE("alerts: a condition is told once, repeated daily, and its end is told") {
  Watch watch;
  CHECK(watch.look(kStuck) == Messages{"began payments_stuck"});
  CHECK(watch.looks_for(24 * kHourMs, kStuck).empty());
  CHECK(watch.looks_for(48 * kHourMs, kStuck) ==
        Messages{"continues payments_stuck", "continues payments_stuck"});
  const Timestamp gone_at = watch.now;
  CHECK(watch.looks_for(kAlertGoneMs, kNone).empty());
  CHECK(watch.look(kNone) == Messages{"ended payments_stuck"});
  CHECK(watch.state(payments_stuck).gone_at == gone_at);
  CHECK(watch.looks_for(48 * kHourMs, kNone).empty());
}

TEST_CASE("alerts: what may end without an operator must last") {
  Watch watch;
  CHECK(watch.looks_for(kMinuteMs - 10'000, kDown).empty());
  CHECK(watch.look(kNone).empty());
  CHECK(watch.looks_for(kMinuteMs, kDown).empty());
  CHECK(watch.look(kDown) == Messages{"began providers_down"});
}

TEST_CASE("alerts: a condition that is gone for less than five minutes is still the same one") {
  Watch watch;
  watch.look(kStuck);
  for (int i = 0; i < 100; ++i) {
    CHECK(watch.looks_for(kAlertGoneMs, kNone).empty());
    CHECK(watch.looks_for(10'000, kStuck).empty());
  }
}

TEST_CASE("alerts: however a condition flaps, there are at most two messages in 35 minutes") {
  for (const std::int64_t period_ms :
       {kMinuteMs / 3, 5 * kMinuteMs, 6 * kMinuteMs, 40 * kMinuteMs}) {
    INFO(period_ms);
    Watch watch;
    std::vector<std::int64_t> told_ms;
    const std::int64_t start_ms = watch.now.ms;
    while (watch.now.ms < start_ms + 12 * kHourMs) {
      const bool on = (watch.now.ms - start_ms) / period_ms % 2 == 0;
      for (std::size_t i = watch.look(on ? kStuck : kNone).size(); i > 0; --i) {
        told_ms.push_back(watch.now.ms);
      }
      watch.now = watch.now.plus_ms(10'000);
    }
    REQUIRE(told_ms.size() >= 1);
    for (std::size_t i = 2; i < told_ms.size(); ++i) {
      CHECK(told_ms[i] - told_ms[i - 2] >= kAlertGoneMs + kAlertGapMs);
    }
  }
}

TEST_CASE("alerts: after an end, the condition is told again when the gap is over, not forgotten") {
  Watch watch;
  watch.look(kStuck);
  watch.looks_for(kAlertGoneMs + 10'000, kNone);
  REQUIRE(watch.state(payments_stuck).closed_at);
  const Timestamp closed_at = *watch.state(payments_stuck).closed_at;
  watch.now = closed_at.plus_ms(10'000);
  CHECK(watch.look(kStuck).empty());
  CHECK(watch.state(payments_stuck).opens_at == closed_at.plus_ms(kAlertGapMs));
  watch.now = closed_at.plus_ms(kAlertGapMs - 1);
  CHECK(watch.look(kStuck).empty());
  watch.now = closed_at.plus_ms(kAlertGapMs);
  CHECK(watch.look(kStuck) == Messages{"began payments_stuck"});
}

TEST_CASE("alerts: a condition that cannot be judged neither ends nor begins") {
  Watch watch;
  const std::vector<Finding> damaged = {{ledger_damaged, 1, {}}};
  CHECK(watch.look(kNone, {ledger_damaged}).empty());
  CHECK(watch.look(damaged) == Messages{"began ledger_damaged"});
  for (int i = 0; i < 100; ++i) {
    watch.now = watch.now.plus_ms(kMinuteMs);
    CHECK(watch.look(kNone, {ledger_damaged}).empty());
  }
  CHECK_FALSE(watch.state(ledger_damaged).gone_at);
  CHECK(watch.look(kNone).empty());
  watch.now = watch.now.plus_ms(kAlertGoneMs);
  CHECK(watch.look(kNone) == Messages{"ended ledger_damaged"});
}

TEST_CASE("alerts: conditions do not affect each other, and the most urgent is told first") {
  Watch watch;
  CHECK(watch.look({{refunds_failed, 1, {}}, {deliveries_failed, 3, {}}}) ==
        Messages{"began refunds_failed", "began deliveries_failed"});
  CHECK(watch.looks_for(kAlertGoneMs, {{deliveries_failed, 4, {}}}).empty());
  CHECK(watch.look({{deliveries_failed, 4, {}}}) == Messages{"ended refunds_failed"});
}

TEST_CASE("alerts: what an operator decided, or waits for one, opens none") {
  Watch watch;
  const std::vector<Finding> decisions = {
      {approvals_waiting, 1, {}}, {wallets_under_review, 1, {}}, {connectors_paused, 1, {}}};
  CHECK(watch.looks_for(2 * kHourMs, decisions).empty());
}

TEST_CASE("alerts: attempts are an hour apart at most, and end before the repetition") {
  CHECK(message_delay_ms(1) == kMinuteMs);
  CHECK(message_delay_ms(2) == 5 * kMinuteMs);
  CHECK(message_delay_ms(3) == 30 * kMinuteMs);
  std::int64_t all_ms = 0;
  for (int attempt = 1; attempt < kMessageAttemptsMax; ++attempt) {
    CHECK(message_delay_ms(attempt) <= kHourMs);
    all_ms += message_delay_ms(attempt);
  }
  CHECK(all_ms >= 20 * kHourMs);
  CHECK(all_ms < kAlertRepeatMs);
}

TEST_CASE("alerts: the operating guide lists each condition with its sentence and time") {
  std::ifstream file(std::string(COFFER_SOURCE_DIR) + "/docs/operating.md");
  const std::string guide{std::istreambuf_iterator<char>(file), {}};
  REQUIRE_FALSE(guide.empty());
  for (std::size_t i = 0; i < terms<AlertCondition>().size(); ++i) {
    const AlertRule& rule = alert_rule(static_cast<AlertCondition>(i));
    const Term& term = terms<AlertCondition>()[i];
    const std::string after = !rule.after_ms ? "no alert"
                              : *rule.after_ms == 0
                                  ? "at once"
                                  : "after " + std::to_string(*rule.after_ms / kMinuteMs) + " min";
    std::string sentence(term.label);
    sentence.pop_back();
    const std::string row =
        "| `" + std::string(term.code) + "` | " + sentence + " | " + after + " |";
    INFO(row);
    CHECK(guide.find(row) != std::string::npos);
  }
}
