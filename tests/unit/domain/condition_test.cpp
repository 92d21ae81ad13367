// Conditions that need the operator's attention, and their thresholds.
#include "domain/operations/condition.h"

#include <catch2/catch.hpp>

using namespace coffer;

namespace {

constexpr Timestamp kNow{1'800'000'000'000};

/// Figures under which nothing needs attention.
ConditionFacts healthy() {
  ConditionFacts facts;
  facts.ledger_holds = true;
  facts.disk_free_bytes = kDiskLowBytes;
  facts.last_backup = kNow;
  facts.clock_synchronised = true;
  return facts;
}

std::vector<AlertCondition> found(const ConditionFacts& facts) {
  std::vector<AlertCondition> out;
  for (const Finding& each : find_conditions(facts, kNow)) out.push_back(each.condition);
  return out;
}

using List = std::vector<AlertCondition>;

}  // namespace

TEST_CASE(
    "conditions: a healthy system has none, and a figure that is not known yet counts for none") {
  CHECK(found(healthy()).empty());
  ConditionFacts facts = healthy();
  facts.ledger_holds.reset();
  facts.disk_free_bytes.reset();
  CHECK(found(facts).empty());
}

TEST_CASE("conditions: each figure has its condition") {
  struct Row {
    AlertCondition condition;
    void (*change)(ConditionFacts&);
  };
  using Facts = ConditionFacts;
  const Row rows[] = {
      {AlertCondition::ledger_damaged, [](Facts& facts) { facts.ledger_holds = false; }},
      {AlertCondition::refunds_failed, [](Facts& facts) { facts.refunds_failed = 2; }},
      {AlertCondition::money_unbooked, [](Facts& facts) { facts.money_unbooked = 1; }},
      {AlertCondition::results_contradicted, [](Facts& facts) { facts.results_contradicted = 1; }},
      {AlertCondition::unmatched_aging, [](Facts& facts) { facts.old_lines = 1; }},
      {AlertCondition::disk_low, [](Facts& facts) { facts.disk_free_bytes = kDiskLowBytes - 1; }},
      {AlertCondition::providers_down, [](Facts& facts) { facts.breakers_open = 1; }},
      {AlertCondition::deliveries_failed, [](Facts& facts) { facts.deliveries_failed = 1; }},
      {AlertCondition::webhooks_failing, [](Facts& facts) { facts.webhooks_failing = 1; }},
      {AlertCondition::approvals_waiting, [](Facts& facts) { facts.approvals = 3; }},
      {AlertCondition::credentials_rotated, [](Facts& facts) { facts.applications_rotated = 1; }},
      {AlertCondition::wallets_under_review, [](Facts& facts) { facts.reviews = 1; }},
      {AlertCondition::connectors_paused, [](Facts& facts) { facts.connectors_paused = 1; }},
      {AlertCondition::notifications_failed, [](Facts& facts) { facts.notifications_failed = 1; }},
      {AlertCondition::backup_failed, [](Facts& facts) { facts.backup_failed = true; }},
      {AlertCondition::backup_missing, [](Facts& facts) { facts.last_backup.reset(); }},
      {AlertCondition::clock_wrong, [](Facts& facts) { facts.clock_synchronised = false; }},
      {AlertCondition::clock_wrong,
       [](Facts& facts) { facts.clock_behind_ms = kClockBehindMs + 1; }},
      {AlertCondition::clock_unknown, [](Facts& facts) { facts.clock_synchronised.reset(); }},
      {AlertCondition::checkpoints_missing, [](Facts& facts) { facts.checkpoint_failed = true; }},
      {AlertCondition::archive_behind, [](Facts& facts) { facts.archive_failed = true; }},
      {AlertCondition::archive_behind,
       [](Facts& facts) { facts.archived_until = kNow.plus_ms(-kArchiveBehindMs - 1); }},
      {AlertCondition::restore_unproven,
       [](Facts& facts) {
         facts.prove_every_ms = kHourMs;
         facts.proven_at = kNow;
         facts.proof_fault = "An object is damaged.";
       }},
      {AlertCondition::replica_missing, [](Facts& facts) { facts.replicas_missing = 1; }},
      {AlertCondition::replica_lagging, [](Facts& facts) { facts.replicas_lagging = 2; }},
      {AlertCondition::log_unreachable, [](Facts& facts) { facts.log_is_slow = true; }},
  };
  for (const Row& row : rows) {
    INFO(name(row.condition));
    ConditionFacts facts = healthy();
    row.change(facts);
    CHECK(found(facts) == List{row.condition});
  }
}

TEST_CASE("conditions: a payment is stuck after 15 minutes, and all in progress are counted") {
  ConditionFacts facts = healthy();
  facts.unsettled = 3;
  facts.oldest_unsettled = kNow.plus_ms(-kStuckMs);
  CHECK(found(facts).empty());
  facts.oldest_unsettled = kNow.plus_ms(-kStuckMs - 1);
  CHECK(find_conditions(facts, kNow) ==
        std::vector<Finding>{{AlertCondition::payments_stuck, 3, facts.oldest_unsettled}});
}

TEST_CASE("conditions: a backup is old after two intervals, or after a week without a schedule") {
  ConditionFacts facts = healthy();
  facts.backup_every_ms = 3'600'000;
  facts.last_backup = kNow.plus_ms(-7'200'000);
  CHECK(found(facts).empty());
  facts.last_backup = kNow.plus_ms(-7'200'001);
  CHECK(found(facts) == List{AlertCondition::backup_old});
  facts.backup_every_ms = 0;
  CHECK(found(facts).empty());
  facts.last_backup = kNow.plus_ms(-kBackupOldMs - 1);
  CHECK(found(facts) == List{AlertCondition::backup_old});
  facts.last_backup.reset();
  facts.backup_failed = true;  // reported by another condition
  CHECK(found(facts) == List{AlertCondition::backup_failed});
}

TEST_CASE(
    "conditions: a restore is unproven after three periods, from the start on if it never was") {
  ConditionFacts facts = healthy();
  facts.prove_every_ms = kHourMs;
  facts.archiving_since = kNow.plus_ms(-3 * kHourMs);
  CHECK(found(facts).empty());
  facts.archiving_since = kNow.plus_ms(-3 * kHourMs - 1);
  CHECK(found(facts) == List{AlertCondition::restore_unproven});
  facts.proven_at = kNow.plus_ms(-3 * kHourMs);
  CHECK(found(facts).empty());
  facts.prove_every_ms = 0;
  facts.proven_at.reset();
  CHECK(found(facts).empty());
}

TEST_CASE("conditions: an archive is a backup, unless backups are scheduled") {
  ConditionFacts facts = healthy();
  facts.archived_until = kNow;
  facts.last_backup.reset();
  CHECK(found(facts).empty());
  facts.last_backup = kNow.plus_ms(-kBackupOldMs - 1);
  CHECK(found(facts).empty());
  facts.backup_every_ms = kHourMs;
  CHECK(found(facts) == List{AlertCondition::backup_old});
}

TEST_CASE("conditions: the most urgent first") {
  ConditionFacts facts = healthy();
  facts.reviews = 1;
  facts.deliveries_failed = 1;
  facts.ledger_holds = false;
  CHECK(found(facts) == List{AlertCondition::ledger_damaged, AlertCondition::deliveries_failed,
                             AlertCondition::wallets_under_review});
}

TEST_CASE("conditions: each is a clause, with its count where there are several") {
  for (const auto& row : Terms<AlertCondition>::rows) {
    INFO(row.code);
    const auto condition = *parse_term<AlertCondition>(row.code);
    const std::string one = summary({condition, 1, std::nullopt});
    CHECK_FALSE(one.empty());
    CHECK(one.find('#') == std::string::npos);
    CHECK(one.find('_') == std::string::npos);
    CHECK_FALSE(one.ends_with('.'));
  }
  CHECK(summary({AlertCondition::wallets_under_review, 1, std::nullopt}) ==
        "1 wallet under review");
  CHECK(summary({AlertCondition::wallets_under_review, 2, std::nullopt}) ==
        "2 wallets under review");
  CHECK(summary({AlertCondition::clock_wrong, 1, std::nullopt}) ==
        "clock wrong or not synchronised");
}

TEST_CASE("conditions: what is wrong with a backup, an archive or a proof is the reason") {
  struct Row {
    std::string ConditionFacts::*reason;
    void (*change)(ConditionFacts&);
  };
  const Row rows[] = {
      {&ConditionFacts::backup_fault, [](ConditionFacts& facts) { facts.backup_failed = true; }},
      {&ConditionFacts::archive_problem,
       [](ConditionFacts& facts) { facts.archive_failed = true; }},
      {&ConditionFacts::archive_problem,
       [](ConditionFacts& facts) { facts.archived_until = kNow.plus_ms(-kArchiveBehindMs - 1); }},
      {&ConditionFacts::proof_fault, [](ConditionFacts&) {}},
  };
  for (const Row& row : rows) {
    ConditionFacts facts = healthy();
    row.change(facts);
    facts.*row.reason = "The disk is full.";
    const auto all = find_conditions(facts, kNow);
    REQUIRE(all.size() == 1);
    CHECK(all[0].reason == "The disk is full.");
  }
}
