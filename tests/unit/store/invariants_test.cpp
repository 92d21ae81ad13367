// Breaks every invariant of the ledger once by SQL, and `verify` must report its name.
#include "store/invariants.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "store/operations/verification.h"
#include "support/unguarded.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace invariants_test {
namespace {

struct Break {
  std::string invariant;
  std::string sql;
};

/// A closed ledger with payments in every state, of which tests damage copies.
class Victim {
 public:
  Victim() {
    for (int i = 0; i < 4; ++i)
      ledger_.pay_and_settle(ledger_.transfer("done" + std::to_string(i), 100));
    const std::int64_t failing = ledger_.pay(ledger_.transfer("failed", 70));
    ledger_
        .write([&](WriteTx& tx) -> Result<void> {
          ledger_.settle(tx, failing, FailureCode::operator_failed);
          return {};
        })
        .value();
    ledger_.pay(ledger_.transfer("open", 50));
    PaymentRequest many = ledger_.transfer("many", 30);
    many.type = PaymentType::p2p_own_multi;
    many.legs.push_back(ledger_.transfer("", 20, true).legs.front());
    many.legs.push_back(ledger_.transfer("", 10).legs.front());
    ledger_.pay_and_settle(many);
    ledger_.close();
  }

  /// The report of verify, or another judge, after `sql` ran on a copy without triggers and checks.
  using Judge = std::vector<Violation> (*)(Connection&, const std::string& path);
  static std::vector<Violation> in_one_snapshot(Connection& db, const std::string&) {
    return keyed_verify(db);
  }
  /// Reads with connections of its own: the one that made the damage ignores CHECK constraints.
  static std::vector<Violation> shared(
      const std::string& path, int threads, const ProgressFunction& progress = [](auto&&...) {}) {
    Connections readers;
    for (int i = 0; i < threads; ++i) {
      readers.push_back(std::make_unique<Connection>(path, OpenMode::read_only));
      use_keys(*readers.back(), test_keys());
    }
    const auto first = std::move(readers.back());
    readers.pop_back();
    return verify(*first, true, progress, readers);
  }
  static std::vector<Violation> in_slices(Connection& db, const std::string&) {
    use_keys(db, test_keys());
    Verification slices;
    while (!slices.slice(db, 1, 1'000).round_over) {
    }
    return slices.violations();
  }
  std::vector<Violation> after(const std::string& sql, Judge judge = in_one_snapshot) const {
    const std::string copy = ledger_.folder.file("copy.db");
    std::filesystem::copy_file(ledger_.folder.file(), copy,
                               std::filesystem::copy_options::overwrite_existing);
    Connection db(copy, OpenMode::read_write);
    coffer::test::change_unguarded(db, sql);
    auto found = judge(db, copy);
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(copy + suffix);
    return found;
  }

 private:
  SmallLedger ledger_;
};

/// Reported by SQLite's own two checks and the walk.
bool is_checked_on_copies_alone(const std::string& name) {
  const auto all = invariants();
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](const Invariant& invariant) { return invariant.name == name; });
  if (at != all.end()) return at->walk == Walk::copies;
  return name == "sqlite_integrity" || name == "foreign_keys";
}

bool names(const std::vector<Violation>& violations, const std::string& invariant) {
  return std::any_of(violations.begin(), violations.end(), [&](const Violation& violation) {
    return violation.invariant == invariant && !violation.detail.empty();
  });
}

const std::string kHttpConnector =
    "INSERT INTO connectors (connector, id, environment, name, provider, driver, flow, direction,"
    " method, country, currency, currency_decimals, asset, rate_numerator, rate_denominator,"
    " min_amount, max_amount, transaction_types, created_at, updated_at) VALUES (1, zeroblob(16), "
    "0,"
    " 'a', 'a', 1, 0, 1, 0, 'KE', 'KES', 2, 1, 1, 1, 1, 9, 15, 0, 0)";
const std::string kEndpoint =
    "; INSERT INTO connector_endpoints (id, connector, base_url, sealed_secret, timeout_ms,"
    " created_at) VALUES (zeroblob(16), 1, 'https://a', x'00', 1, 0)";
/// Turns payment 1 into a collection on a quote of its amount, with a fee of 1. The collected
/// amount is an expression between the two parts.
const std::string kCollection =
    kHttpConnector + kEndpoint +
    "; INSERT INTO quotes (quote, tenant, id, connector, send_amount, receive_amount, fee, total,"
    " rate_numerator, rate_denominator, created_at, expires_at, payment) SELECT 1, tenant,"
    " zeroblob(16), 1, sending_amount, sending_amount, 1, sending_amount, 1, 1, 0, 0, 1"
    " FROM payments WHERE payment = 1; UPDATE payments SET type = 6, quote = 1, connector = 1,"
    " receiving_amount = sending_amount WHERE payment = 1; INSERT INTO provider_payments (payment,"
    " fee, total, collected_amount) SELECT 1, 1, sending_amount, ";
const std::string kCollectionEnd = " FROM payments WHERE payment = 1";

/// A refund of payment 1: state, amount, booked_at, journal and transaction_id between both parts.
const std::string kRefund =
    "INSERT INTO refunds (payment, tenant, reason, at, state, amount, booked_at, journal,"
    " transaction_id) SELECT 1, tenant, '', 0, ";
const std::string kRefundEnd = " FROM payments WHERE payment = 1";

// Payments 1-4 are settled, 5 failed, 6 open, 7 is three legs, settled. Accounts: 1, 2 USDC
// wallets, 3 EURC, 4 issuance.
std::string limit_with_use(const std::string& day, const std::string& month) {
  return "INSERT INTO payment_limits (tenant, asset, per_day, since, created_at, updated_at)"
         " VALUES (3, 1, 5, 99, 0, 0); INSERT INTO limit_use SELECT payment_limit, " +
         day + ", 0, 0, " + month + ", 0, 0 FROM payment_limits";
}
/// A file of one line.
const std::string kFile =
    "INSERT INTO connectors SELECT 1, zeroblob(16), 0, 'x', 'x', 0, 0, 0, 0, 'KE', 'KES', 2, 1, "
    "1, 1, 0,"
    " 0, NULL, 1, 1, NULL, NULL, 1, 0, 1, 0, 1, 1 WHERE NOT EXISTS (SELECT 1 FROM connectors);"
    "INSERT INTO statement_files VALUES (1, 0, (SELECT min(connector) FROM connectors), "
    "zeroblob(32), 0, 1, 1, 1);"
    "INSERT INTO bank_statements VALUES (1, 1, 0, '', '', 'KES', NULL, NULL, NULL, NULL);";
std::string bank_line(const std::string& mark, const std::string& replaces,
                      const std::string& amount, const std::string& state) {
  return "INSERT INTO bank_lines (id, statement_file, environment, connector, bank_statement, mark,"
         " account, booked_on, amount, charges, currency, bank_reference, reference, text,"
         " party_name, party_account, code, imported_at, replaces, state) VALUES (randomblob(16), "
         "1,"
         " 0, 1, 1, " +
         mark + ", 'a', 1, " + amount + ", 0, 'KES', '', '', '', '', '', '', 1, " + replaces +
         ", " + state + ");";
}
const std::string kUnchecked = "PRAGMA foreign_keys = OFF;";

const std::vector<Break> kBreaks{
    {"conservation", "UPDATE accounts SET balance = balance + 1 WHERE account = 1"},
    {"no_overdraft", "UPDATE accounts SET held = balance + 1 WHERE account = 2"},
    {"no_overdraft", "UPDATE accounts SET held = -1 WHERE account = 4"},
    {"balance_is_sum_of_entries",
     "UPDATE accounts SET balance = balance + CASE account WHEN 1 THEN 5 ELSE -5 END"
     " WHERE account IN (1, 2)"},
    {"held_is_sum_of_open_holds", "UPDATE accounts SET held = held + 1 WHERE account = 1"},
    {"held_is_sum_of_open_holds",
     "UPDATE payments SET sending_amount = sending_amount + 1 WHERE payment = 6"},
    {"held_is_sum_of_open_holds",
     "UPDATE payments SET source_wallet = destination_wallet WHERE payment = 6"},
    {"entry_sets_balance", "UPDATE entries SET amount = amount + 1 WHERE entry = 3 * 1024"},
    {"running_balances_chain", "UPDATE entries SET balance_after = 0 WHERE entry = 4 * 1024"},
    {"never_below_zero", "UPDATE entries SET balance_after = -1 WHERE entry = 4 * 1024"},
    {"journal_in_order", "UPDATE journal SET at = at - 1 WHERE journal = 4"},
    {"journal_in_order", "UPDATE journal SET journal = 9 WHERE journal = 6"},
    {"journal_in_order", "DELETE FROM entries WHERE entry / 1024 = 6"},
    {"settled_once", "UPDATE journal SET payment = 1 WHERE payment = 2"},
    {"settled_once", "UPDATE journal SET payment = 5 WHERE payment = 4"},
    {"settled_once", "UPDATE payments SET status = 2, failure = NULL WHERE payment = 5"},
    {"entries_follow_payments", "UPDATE payments SET sending_amount = 1 WHERE payment = 2"},
    {"entries_follow_payments", "UPDATE payments SET source_wallet = 3 WHERE payment = 2"},
    {"entries_follow_payments", "UPDATE payments SET destination_wallet = 1 WHERE payment = 2"},
    {"entries_follow_payments", "UPDATE payments SET sending_asset = 2 WHERE payment = 2"},
    {"entries_follow_payments",  // moved twice in one set, every sum holds
     "INSERT INTO entries SELECT entry + 2, account, amount, balance_after, counterparty, leg"
     " FROM entries WHERE entry / 1024 = 3"},
    {"entries_follow_legs", "UPDATE payment_legs SET amount = amount + 1 WHERE leg = 1"},
    {"entries_follow_legs", "UPDATE payment_legs SET source_wallet = 3 WHERE leg = 0"},
    {"entries_follow_legs", "UPDATE payment_legs SET destination_wallet = 3 WHERE leg = 2"},
    {"entries_follow_legs", "UPDATE payment_legs SET asset = 2 WHERE leg = 2"},
    {"entries_follow_legs", "DELETE FROM payment_legs WHERE leg = 2"},
    {"entries_follow_legs",  // a leg that was never applied
     "DELETE FROM entries WHERE entry IN (SELECT j.journal * 1024 + 4 + line FROM journal j"
     " JOIN payments p ON p.payment = j.payment JOIN (SELECT 0 AS line UNION SELECT 1) WHERE "
     "p.type = 2)"},
    {"refunded_once", "UPDATE journal SET kind = 3 WHERE payment = 3"},
    {"refunds_follow_payments",
     "UPDATE payments SET status = 5, refunded_amount = 5 WHERE payment = 1"},
    {"refunds_follow_payments", kRefund + "3, 0, NULL, NULL, 'done2'" + kRefundEnd},
    {"refunds_follow_payments", kRefund + "2, 0, NULL, NULL, 'r'" + kRefundEnd},
    {"refunds_follow_payments", kRefund + "1, 101, 0, 1, 'r'" + kRefundEnd +
                                    "; UPDATE payments SET refunded_amount = 101, status = 5"
                                    " WHERE payment = 1"},
    {"refunds_follow_payments",
     "UPDATE payments SET type = 6, status = 4 WHERE payment = 1"},  // no refund waits
    {"refunds_reverse_entries", kRefund + "1, 5, 0, 1, 'r'" + kRefundEnd},
    {"refunds_reverse_entries",
     "UPDATE payments SET status = 5, refunded_amount = 1 WHERE payment = 1;"
     " UPDATE journal SET kind = 3 WHERE payment = 1"},
    {"refunds_mirror_payments", "UPDATE payments SET status = 5, failure = 15 WHERE payment = 1"},
    {"quotes_used_once", "UPDATE payments SET quote = 1 WHERE payment = 1"},
    {"holds_follow_payments", "UPDATE holds SET state = 0 WHERE payment = 7"},
    {"holds_follow_payments", "UPDATE holds SET state = 2 WHERE payment = 7"},
    {"holds_are_there", "INSERT INTO holds VALUES (1, 1, 1, 1)"},
    {"holds_are_there", "UPDATE payments SET sending_asset = 2 WHERE payment = 5"},
    {"holds_are_there", "UPDATE payments SET type = 7 WHERE payment = 1"},
    {"holds_are_there", "DELETE FROM holds WHERE payment = 7"},
    {"provider_parts", "UPDATE payments SET type = 5 WHERE payment = 1"},
    {"provider_parts", "INSERT INTO provider_payments (payment, fee, total) VALUES (1, 0, 1)"},
    {"provider_parts",
     "UPDATE payments SET type = 5 WHERE payment = 1; INSERT INTO provider_payments (payment, fee, "
     "total)"
     " SELECT payment, 3, sending_amount FROM payments WHERE payment = 1"},
    {"provider_parts",
     "UPDATE payments SET type = 5 WHERE payment = 1; INSERT INTO provider_payments (payment, fee, "
     "total,"
     " attempts) SELECT payment, 3, sending_amount + 3, 1 FROM payments WHERE payment = 1"},
    {"endpoints", kHttpConnector},
    {"endpoints", kHttpConnector + kEndpoint + "; UPDATE connectors SET driver = 0"},
    {"endpoints",  // sent through another connector's endpoint
     kHttpConnector + kEndpoint +
         "; UPDATE payments SET connector = 1 WHERE payment = 1; INSERT INTO provider_payments"
         " (payment, fee, total, attempts) VALUES (1, 0, 1, 1)"},
    {"collected_amounts", kCollection + "NULL" + kCollectionEnd},
    {"collected_amounts", kCollection + "sending_amount - 1" + kCollectionEnd +
                              "; UPDATE payments SET receiving_amount = receiving_amount + 1"
                              " WHERE payment = 1"},
    {"collected_amounts", kCollection + "sending_amount + 1" + kCollectionEnd +
                              "; UPDATE payments SET receiving_amount = receiving_amount - 1"
                              " WHERE payment = 1"},
    {"collected_amounts", kCollection + "1" + kCollectionEnd},
    {"unbooked_money_is_not_credited", kCollection + "sending_amount" + kCollectionEnd +
                                           "; UPDATE provider_payments SET open_item = 1"},
    {"work_is_queued", "UPDATE payments SET settle_at = NULL"},
    {"work_is_queued",
     "PRAGMA ignore_check_constraints = ON;"
     " UPDATE payments SET settle_at = 1 WHERE payment = 2"},
    {"events_tell_all", "DELETE FROM events WHERE payment = 6"},
    {"events_tell_all", "UPDATE payments SET version = version + 1 WHERE payment = 3"},
    {"events_tell_all", "UPDATE events SET version = 1 WHERE payment = 2"},
    {"events_tell_all", "UPDATE events SET type = 1 WHERE payment = 2 AND version = 3"},
    {"events_tell_all", "UPDATE events SET version = 1 WHERE payment = 2 AND version = 2"},
    {"sequences_have_no_gap", "DELETE FROM events WHERE sequence = 1"},
    {"event_ids_have_a_key", "DELETE FROM meta WHERE name = 'event_id_key'"},
    {"event_ids_have_a_key", "UPDATE meta SET value = x'00' WHERE name = 'event_id_key'"},
    {"sequences_have_no_gap", "UPDATE events SET sequence = sequence + 100 WHERE sequence = 16"},
    {"types_claimed_by_active",
     "INSERT INTO webhooks (tenant, application, id, url, event_types, sealed_secret, cursor,"
     " created_at, updated_at) VALUES (3, 1, zeroblob(16), 'https://a', 1, x'00', 0, 0, 0)"},
    {"deliveries_are_of_events",
     "INSERT INTO webhooks (webhook, tenant, application, id, url, event_types, sealed_secret, "
     "cursor,"
     " created_at, updated_at) VALUES (1, 3, 1, zeroblob(16), 'https://a', 1, x'00', 0, 0, 0);"
     " INSERT INTO deliveries (webhook, sequence, state, due_at, created_at) VALUES (1, 999, 0, 1, "
     "1)"},
    {"deliveries_are_of_events",
     "INSERT INTO webhooks (webhook, tenant, application, id, url, event_types, sealed_secret, "
     "cursor,"
     " created_at, updated_at) VALUES (1, 3, 1, zeroblob(16), 'https://a', 1, x'00', 0, 0, 0);"
     " INSERT INTO deliveries (webhook, sequence, state, tries, due_at, created_at)"
     " VALUES (1, 1, 0, 1, 1, 1)"},
    {"deliveries_are_of_events",
     "INSERT INTO webhooks (webhook, tenant, application, id, url, event_types, sealed_secret, "
     "cursor,"
     " created_at, updated_at) VALUES (1, 3, 1, zeroblob(16), 'https://a', 1, x'00', 0, 0, 0);"
     " INSERT INTO delivery_attempts (webhook, sequence, attempt, at, duration_ms)"
     " VALUES (1, 1, 1, 1, 1)"},
    {"payments_are_found",
     "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema SELECT 'table', 'b_tree', 'b_tree',"
     " rootpage, 'CREATE TABLE b_tree (tenant, id, row, PRIMARY KEY (tenant, id, row))"
     " WITHOUT ROWID' FROM sqlite_schema WHERE name = 'sqlite_autoindex_payments_2';"
     " PRAGMA writable_schema = RESET; DELETE FROM b_tree WHERE row = 1;"
     " PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'b_tree';"
     " PRAGMA writable_schema = RESET"},
    {"destinations_of_beneficiaries", "UPDATE payments SET destination = 99 WHERE payment = 1"},
    {"circulation_fits",
     "UPDATE accounts SET asset = 1, kind = 1, wallet = NULL, balance = -9223372036854775807"
     " WHERE account > 2"},
    {"fundings_are_credits", "INSERT INTO fundings VALUES (3, 'a payment', NULL)"},
    {"fundings_are_credits", "INSERT INTO fundings VALUES (99, 'no entry set', NULL)"},
    {"destination_sums_follow_payments",
     "INSERT INTO destination_sums VALUES (1, zeroblob(16), 1, 1, 1, 1, 1)"},
    {"destination_sums_follow_payments", "UPDATE payments SET type = 5 WHERE payment = 1"},
    {"metadata_is_found", "UPDATE payments SET metadata = '{\"order\":\"A-1\"}' WHERE payment = 1"},
    {"tenants_do_not_mix", "UPDATE payments SET tenant = 1 WHERE payment = 1"},
    {"tenants_do_not_mix", "UPDATE accounts SET tenant = 2 WHERE account = 3"},
    {"quotas_count_rows", "UPDATE quota_use SET used = used + 1 WHERE quota = 0"},
    {"quotas_count_rows", "DELETE FROM quota_use WHERE quota = 0"},
    {"quotas_count_rows", "INSERT INTO quota_use VALUES (3, 1, 0, 1)"},
    {"quotas_count_rows", "INSERT INTO quota_use VALUES (3, 3, 10000, 1)"},
    {"quotas_count_rows", "INSERT INTO quota_use VALUES (3, 4, 0, 1)"},
    {"quotas_count_rows", "UPDATE quota_use SET used = 99 WHERE quota = 5"},
    {"limits_count_payments",
     "INSERT INTO payment_limits (tenant, asset, per_day, since, created_at, updated_at)"
     " VALUES (3, 1, 5, 0, 0, 0)"},
    {"limits_count_payments",
     "INSERT INTO payment_limits (tenant, asset, per_day, since, created_at, updated_at)"
     " VALUES (3, 1, 5, 0, 0, 0);"
     "INSERT INTO limit_use SELECT payment_limit, 0, 0, 0, 0, 0, 0 FROM payment_limits"},
    // Without a payment, the day and the month are those of the limit.
    {"limits_count_payments", limit_with_use("86400000", "0")},
    {"limits_count_payments", limit_with_use("1", "0")},
    {"limits_count_payments", limit_with_use("0", "-86400000")},
    {"limits_count_payments", limit_with_use("-86400000", "0")},
    {"limits_count_payments", limit_with_use("-86400000", "-5270400000")},
    {"limits_count_payments", limit_with_use("-86400000", "-2678400000")},
    {"addresses_are_credited",
     "INSERT INTO destinations (destination, beneficiary, tenant, id, method, network_name,"
     " asset_symbol, wallet_address, created_at) VALUES (1, 1, 3, zeroblob(16), 2, 'COFFER', "
     "'USDC',"
     " 'GOTHER', 0); UPDATE payments SET type = 1, destination = 1 WHERE payment = 1"},
    {"holds_follow_legs", "UPDATE holds SET amount = amount + 1 WHERE payment = 7"},
    {"holds_follow_legs", "INSERT INTO holds VALUES (7, 3, 1, 1)"},
    {"arrivals_are_recorded", "INSERT INTO reference_payments VALUES (1, 'x', 1, 1)"},
    {"arrivals_are_recorded", "UPDATE payments SET type = 7 WHERE payment = 1"},
    {"lines_follow_matches", kFile + kUnchecked + bank_line("zeroblob(16)", "NULL", "1", "2")},
    {"lines_follow_matches", kUnchecked + bank_line("zeroblob(16)", "NULL", "1", "3")},
    {"lines_follow_matches", kFile + kUnchecked + bank_line("zeroblob(16)", "NULL", "1", "0") +
                                 bank_line("randomblob(16)", "NULL", "1", "0")},
    {"lines_follow_matches", kUnchecked + bank_line("zeroblob(16)", "NULL", "5", "0") +
                                 bank_line("randomblob(16)", "1", "5", "0")},
    {"lines_follow_matches", kUnchecked + bank_line("zeroblob(16)", "NULL", "5", "3") +
                                 bank_line("randomblob(16)", "1", "4", "0")},
    {"matches_are_undone_once",
     "PRAGMA foreign_keys = OFF; INSERT INTO bank_matches VALUES (2, 1, 0, 1, NULL, 0, 1, 'x', "
     "'x', 1);"
     "INSERT INTO bank_matches VALUES (1, 1, 0, 2, NULL, 1, NULL, NULL, 'x', 1)"},
    {"sqlite_integrity", "UPDATE accounts SET kind = 7 WHERE account = 3"},
    {"foreign_keys", "UPDATE entries SET counterparty = 999 WHERE entry = 3 * 1024"},
};

}  // namespace

TEST_CASE("invariants: a valid ledger violates none") {
  const Victim victim;
  const auto found = victim.after("");
  for (const Violation& violation : found) FAIL(violation.invariant << ": " << violation.detail);
}

TEST_CASE("invariants: each violation is reported by name") {
  const Victim victim;
  for (const Break& damage : kBreaks) {
    INFO(damage.sql);
    const auto found = victim.after(damage.sql);
    if (!names(found, damage.invariant)) FAIL("not reported: " << damage.invariant);
  }
}

TEST_CASE("invariants: slices detect each violation, except those checked only on copies") {
  const Victim victim;
  CHECK(victim.after("", Victim::in_slices).empty());
  for (const Break& damage : kBreaks) {
    INFO(damage.sql);
    const auto found = victim.after(damage.sql, Victim::in_slices);
    if (is_checked_on_copies_alone(damage.invariant)) {
      CHECK_FALSE(names(found, damage.invariant));
      continue;
    }
    // No slice sums all balances, so the account with too much is reported.
    const std::string name =
        damage.invariant == "conservation" ? "balance_is_sum_of_entries" : damage.invariant;
    if (!names(found, name)) FAIL_CHECK("not reported: " << name);
  }
}

TEST_CASE("invariants: threads that share the checks report the same") {
  const Victim victim;
  const auto alone = [](Connection&, const std::string& path) { return Victim::shared(path, 1); };
  const auto three = [](Connection&, const std::string& path) { return Victim::shared(path, 3); };
  for (const Break& damage : kBreaks) {
    INFO(damage.sql);
    const auto expected = victim.after(damage.sql, alone);
    CHECK_FALSE(expected.empty());
    CHECK(std::ranges::equal(expected, victim.after(damage.sql, three),
                             [](const Violation& a, const Violation& b) {
                               return a.invariant == b.invariant && a.detail == b.detail;
                             }));
  }
  const auto stopped = [](Connection&, const std::string& path) {
    return Victim::shared(path, 3, [](const Progress&) { throw std::runtime_error("stopped"); });
  };
  CHECK_THROWS_WITH(victim.after("", stopped), "stopped");
}

TEST_CASE("invariants: each has a violation in this test") {
  std::set<std::string> broken;
  for (const Break& damage : kBreaks) broken.insert(damage.invariant);
  for (const Invariant& invariant : invariants()) {
    INFO(invariant.name);
    CHECK(broken.contains(std::string(invariant.name)));
    CHECK_FALSE(invariant.promise.empty());
  }
}

TEST_CASE("invariants: the hash chain reveals every edit of final rows") {
  const Victim victim;
  const std::vector<std::string> edits{
      "UPDATE journal SET tenant = 1 WHERE journal = 3",
      "UPDATE journal SET kind = 3 WHERE journal = 3",
      "UPDATE journal SET payment = NULL WHERE journal = 3",
      "UPDATE journal SET at = at + 1 WHERE journal = 3",
      "UPDATE journal SET link = zeroblob(32) WHERE journal = 3",
      "UPDATE journal SET link = zeroblob(32) WHERE journal = 7",  // the last
      "UPDATE entries SET account = 3 WHERE entry = 3 * 1024",
      "UPDATE entries SET amount = amount - 1 WHERE entry = 3 * 1024",
      "UPDATE entries SET balance_after = balance_after + 1 WHERE entry = 1024",
      "UPDATE entries SET counterparty = 3 WHERE entry = 1024",
      "UPDATE entries SET leg = 1 WHERE entry = 1024",
      "UPDATE entries SET entry = entry + 2 WHERE entry = 3 * 1024",
      "INSERT INTO entries VALUES (3 * 1024 + 2, 1, 1, 1, 2, 0)",
      "INSERT INTO entries VALUES (99 * 1024, 1, 1, 1, 2, 0)",
      "INSERT INTO entries VALUES (1, 1, 1, 1, 2, 0)",
      "DELETE FROM entries WHERE entry = 3 * 1024",
      "DELETE FROM journal WHERE journal = 3",
      "DELETE FROM journal WHERE journal = 7",
      "DELETE FROM journal WHERE journal = 3; DELETE FROM entries WHERE entry / 1024 = 3",
      // Two sets are exchanged, so every sum is still correct.
      "UPDATE journal SET journal = 90 WHERE journal = 3; UPDATE journal SET journal = 3 WHERE"
      " journal = 4; UPDATE journal SET journal = 4 WHERE journal = 90",
  };
  for (const std::string& edit : edits) {
    INFO(edit);
    CHECK(names(victim.after(edit), "hash_chain"));
    CHECK(names(victim.after(edit, Victim::in_slices), "hash_chain"));
  }
}

TEST_CASE("invariants: a forgery with recomputed balances is detected") {
  const Victim victim;
  // Payment 1 moves 100, changed to 90 everywhere consistently. Only the chain detects it.
  const auto found = victim.after(
      "UPDATE entries SET amount = amount * 9 / 10 WHERE entry / 1024 = 3;"
      "UPDATE entries SET balance_after = balance_after + 10 WHERE account = 1 AND entry >= 3 * "
      "1024;"
      "UPDATE entries SET balance_after = balance_after - 10 WHERE account = 2 AND entry >= 3 * "
      "1024;"
      "UPDATE accounts SET balance = balance + 10 WHERE account = 1;"
      "UPDATE accounts SET balance = balance - 10 WHERE account = 2;"
      "UPDATE payments SET sending_amount = 90 WHERE payment = 1");
  REQUIRE(found.size() == 2);
  CHECK(found[0].invariant == "hash_chain");
  CHECK(found[0].detail == "journal row 3 does not continue the hash chain");
  CHECK(found[1].invariant == "payments");
}

TEST_CASE("invariants: progress is reported for each") {
  SmallLedger ledger;
  std::set<std::string> seen;
  ledger.close();
  Connection db(ledger.folder.file(), OpenMode::read_only);
  const auto found = verify(db, true, [&](const Progress& progress) {
    seen.insert(std::string(progress.what));
    CHECK((progress.total == 0 || progress.done <= progress.total));
  });
  CHECK(found.empty());
  // The schema, two chains, payments, events, closed months, guarded rows, SQLite's own two checks.
  CHECK(seen.size() == invariants().size() + 9);
  CHECK(seen.contains("checking hash chain"));
}

}  // namespace invariants_test
