// Random sequences of all operations of integrators, the operator and providers, compared with a
// model: after every operation the result, all balances and every invariant. Also checks that a
// mistake on either side is detected.
//
// Runs COFFER_SEEDS seeds starting at COFFER_SEED (by default as many as fit into the budget) with
// COFFER_OPERATIONS operations each (150). tests/property/run.sh runs the full size.
#include <catch2/catch.hpp>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "property/player.h"

using namespace coffer;
using namespace coffer::property;

namespace ledger_test {
namespace {

constexpr std::int64_t kBudgetMs = 10'000;
constexpr std::uint64_t kOperations = 150;
/// A mistake must be found within this many operations.
constexpr int kFoundWithin = 20'000;

int operations() {
  return static_cast<int>(number_from_environment("COFFER_OPERATIONS", kOperations));
}

/// The error and its place, or empty.
std::string play(Player& player, int count) {
  int operation = 0;
  try {
    while (operation < count) {
      ++operation;
      player.step();
    }
    player.finish();
  } catch (const std::exception& error) {
    return "operation " + std::to_string(operation) + ": " + error.what();
  }
  return {};
}

/// The number of operations until the mistake is found, over as many seeds as necessary, and the
/// finding.
struct Finding {
  int operations = 0;
  std::string what;
};
Finding find(WrongRule wrong) {
  Finding out;
  for (std::uint64_t seed = 1; out.operations < kFoundWithin; ++seed) {
    Player player(seed, wrong);
    for (std::uint64_t i = 0; i < kOperations; ++i) {
      ++out.operations;
      try {
        player.step();
      } catch (const Disagreement& difference) {
        out.what = difference.what();
        return out;
      }
    }
  }
  return out;
}

// Damage that is done to the file in the middle of a run, bypassing the store.
const std::vector<std::string> kDamages{
    // Entries without a posting.
    "INSERT INTO entries SELECT max(entry) + 1, account, 1, balance_after + 1, counterparty, 0 "
    "FROM entries",
    "UPDATE accounts SET balance = balance + 1 WHERE account = (SELECT min(account) FROM accounts)",
    // Sums that add up, but do not match the entries.
    "UPDATE accounts SET balance = balance + CASE account WHEN (SELECT min(account) FROM accounts) "
    "THEN 5"
    " ELSE -5 END WHERE account IN (SELECT account FROM accounts WHERE asset = 1 AND kind = 0 "
    "LIMIT 2)",
    "UPDATE accounts SET held = held + 1 WHERE kind = 0",
    "UPDATE journal SET at = at + 1 WHERE journal = (SELECT max(journal) FROM journal)",
    // A hold of a payment with one leg, which stores none.
    "INSERT INTO holds SELECT max(payment), (SELECT min(account) FROM accounts), 1, 1 FROM payments"
    " WHERE type = 0",
    "UPDATE payments SET version = version + 1 WHERE payment = (SELECT max(payment) FROM payments)",
    "UPDATE payments SET refunded_amount = refunded_amount + 1 WHERE payment ="
    " (SELECT min(payment) FROM refunds WHERE journal IS NOT NULL)",
    "UPDATE refunds SET amount = amount + 1 WHERE refund ="
    " (SELECT min(refund) FROM refunds WHERE journal IS NOT NULL)",
    "UPDATE limit_use SET day_amount = day_amount + 1",
    "UPDATE limit_use SET month_payments = month_payments + 1",
    "DELETE FROM events WHERE sequence = (SELECT max(sequence) - 3 FROM events)",
    "PRAGMA ignore_check_constraints = ON; UPDATE payments SET settle_at = 1 WHERE payment ="
    " (SELECT min(payment) FROM payments WHERE status = 2)",
};

constexpr int kDamagedAfter = 60;

/// A seed whose file then has something for each damage: a refund and a limit.
std::uint64_t seed_of_damages() {
  for (std::uint64_t seed = 7;; ++seed) {
    Player player(seed);
    for (int i = 0; i < kDamagedAfter; ++i) player.step();
    if (player.deeds().contains("ended p2p_own refunded") && !player.world().limits().empty()) {
      return seed;
    }
  }
}

}  // namespace

TEST_CASE("property: the ledger matches the model after every operation") {
  std::map<std::string, int> deeds;
  std::int64_t done = 0;
  for_each_seed("ledger", kBudgetMs, [&](std::uint64_t seed) {
    Player player(seed);
    const std::string wrong = play(player, operations());
    if (!wrong.empty()) FAIL(wrong);
    done += operations();
    for (const auto& [what, count] : player.deeds()) deeds[what] += count;
  });
  std::cout << "ledger: " << done << " operations\n";
  for (const auto& [what, count] : deeds) std::cout << "ledger: " << count << " " << what << '\n';
}

TEST_CASE("property: the random operations cover everything that can happen to a payment") {
  std::map<std::string, int> deeds;
  // A refund that fails is rare: it needs an accepted quote, a late failure and a rejected refund.
  constexpr const char* kRarest = "ended offramp refund_failed";
  for (std::uint64_t seed = 1; seed <= 20 || (seed <= 120 && !deeds.contains(kRarest)); ++seed) {
    Player player(seed);
    const std::string wrong = play(player, 200);
    if (!wrong.empty()) FAIL("seed " << seed << ", " << wrong);
    for (const auto& [what, count] : player.deeds()) deeds[what] += count;
  }
  for (const char* what : {"ended p2p_own succeeded",
                           "ended p2p_own_multi succeeded",
                           "ended swap_own succeeded",
                           "ended swap_own failed",
                           "ended p2p_beneficiary succeeded",
                           "ended p2p_beneficiary failed",
                           "ended offramp succeeded",
                           "ended offramp failed",
                           "ended offramp refunded",
                           kRarest,
                           "ended onramp succeeded",
                           "ended onramp failed",
                           "ended onramp expired",
                           "ended onramp refunded",
                           "call refund",
                           "call refund_status",
                           "call submit",
                           "call status",
                           "call cancel",
                           "call collect",
                           "call collection_status",
                           "call expire",
                           "replayed",
                           "decided",
                           "hurried",
                           "connector stays",
                           "connector moved",
                           "connector moved away from payments",
                           "arrival",
                           "reversed",
                           "reversal rejected insufficient-funds",
                           "reversal rejected reversal-exceeds-payment",
                           "reversal rejected transaction-id-conflict",
                           "reversal rejected forbidden",
                           "returned",
                           "return that waits or is disputed",
                           "rejected insufficient-funds",
                           "rejected limit-exceeded",
                           "no quote limit-exceeded",
                           "limit set",
                           "limit changed",
                           "limit removed",
                           "limit frees",
                           "day ends",
                           "month ends",
                           "report 0",
                           "report 1",
                           "report 1 share",
                           "report 2",
                           "rejected quote-expired",
                           "rejected quote-already-used",
                           "rejected transaction-id-conflict",
                           "wallet Rejected",
                           "reopen"}) {
    INFO(what);
    CHECK(deeds.contains(what));
  }
}

TEST_CASE("property: the same seed writes the same bytes") {
  const std::uint64_t seed = number_from_environment("COFFER_SEED", 42);
  const auto digest = [](std::uint64_t from) {
    Player player(from);
    const std::string wrong = play(player, operations());
    if (!wrong.empty()) FAIL(wrong);
    return player.world().file_digest();
  };
  const std::string first = digest(seed);
  CHECK(digest(seed) == first);
  CHECK(digest(seed + 1) != first);
}

TEST_CASE("property control: every wrong rule of a model is detected") {
  for (int i = 1; i < kWrongRules; ++i) {
    const Finding finding = find(static_cast<WrongRule>(i));
    std::cout << "control: wrong rule " << i << " found after " << finding.operations
              << " operations: " << finding.what << '\n';
    INFO("wrong rule " << i);
    CHECK_FALSE(finding.what.empty());
  }
}

TEST_CASE("property control: every damage to the file is detected by the next comparison") {
  const std::uint64_t seed = seed_of_damages();
  for (const std::string& damage : kDamages) {
    Player player(seed);
    for (int i = 0; i < kDamagedAfter; ++i) player.step();
    player.compare();
    player.world().damage(damage);
    INFO(damage);
    CHECK_THROWS_AS(player.compare(), Disagreement);
  }
}

}  // namespace ledger_test
