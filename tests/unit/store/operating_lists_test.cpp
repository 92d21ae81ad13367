// The operator's lists: every filter compared with a plain model, and the amount that they read.
#include <sqlite3.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "store/identity/audit_log.h"
#include "store/identity/users.h"
#include "store/ledger/statements.h"
#include "store/operations/activity.h"
#include "store/operations/backlog.h"
#include "store/operations/figures.h"
#include "store/operations/noun_lists.h"
#include "store/operations/payment_lists.h"
#include "store/operations/payment_story.h"
#include "store/parties/beneficiaries.h"
#include "store/providers/arrivals.h"
#include "store/providers/provider_payments.h"
#include "unit/store/listed_ledger.h"
#include "unit/store/statement_steps.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace operating_lists_test {
namespace {

/// The plan of every statement that the connection has prepared, one line per step.
std::vector<std::pair<std::string, std::string>> plans(Connection& db) {
  auto* handle = static_cast<sqlite3*>(db.handle());
  std::vector<std::string> statements;
  for (sqlite3_stmt* one = sqlite3_next_stmt(handle, nullptr); one != nullptr;
       one = sqlite3_next_stmt(handle, one)) {
    statements.emplace_back(sqlite3_sql(one));
  }
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& sql : statements) {
    if (!sql.starts_with("SELECT")) continue;
    Query query(db, db.interned("EXPLAIN QUERY PLAN " + sql));
    while (query.step()) out.emplace_back(sql, query.text(3));
  }
  return out;
}

}  // namespace

TEST_CASE("operating lists: the first payment since any time") {
  ListedLedger ledger;
  ledger.read([&](Connection& db) {
    CHECK(first_payment_since(db, Timestamp{}) == 1);
    CHECK(first_payment_since(db, ledger.clock.now()) == 31);
    for (const PaymentRecord& record : ledger.records) {
      CHECK(first_payment_since(db, record.created_at) == record.key);
      CHECK(first_payment_since(db, record.created_at.plus_ms(1)) == record.key + 1);
    }
    return 0;
  });
}

TEST_CASE("operating lists: a reference is found piece by piece, without an index") {
  ListedLedger ledger;
  ledger.read([&](Connection& db) {
    const auto found = find_payments(db, "REF-LEG", {.limit = 2});
    CHECK(found.found.size() == 2);
    CHECK(found.found[0].how == FoundAs::reference);
    REQUIRE(found.next);
    CHECK(find_payments(db, "REF-LEG", {found.next, 2}).found.size() == 1);
    CHECK(find_payments(db, "t7", {}).found.at(0).payment == ledger.keys[7]);
    CHECK(find_payments(db, "first", {}).found.empty());
    CHECK(find_payments(db, "First", {}).found.at(0).how == FoundAs::wallet);
    CHECK(find_payments(db, "GFirst", {}).found.size() == 20);
    return 0;
  });
}

TEST_CASE("operating lists: a count by time reads no payment and agrees with the list") {
  ListedLedger ledger;
  ledger.read([&](Connection& db) {
    const Timestamp from = ledger.records[3].created_at;
    const Timestamp to = ledger.records[20].created_at;
    PaymentsWanted wanted;
    CHECK(count_payments(db, wanted).payments == 30);
    wanted.from = from;
    CHECK(count_payments(db, wanted).payments == 27);
    wanted.to = to;
    CHECK(count_payments(db, wanted).payments == 17);
    std::swap(wanted.from, wanted.to);
    CHECK(count_payments(db, wanted).payments == 0);
    return 0;
  });
}

TEST_CASE("operating lists: the parties of a payment, and of each leg") {
  ListedLedger ledger;
  ledger.read([&](Connection& db) {
    const StorySides one = sides_of_payment(db, ledger.keys[0]);
    REQUIRE(one.source.name);
    CHECK(one.source.account);
    CHECK(one.destination.name);
    CHECK(one.source.account != one.destination.account);
    const StorySides multi = sides_of_payment(db, ledger.keys[7]);
    CHECK_FALSE(multi.source.name);
    CHECK_FALSE(multi.destination.name);
    const auto legs = sides_of_legs(db, ledger.keys[7]);
    REQUIRE(legs.size() == 2);
    CHECK(legs[1].source.name);
    return 0;
  });
}

TEST_CASE("operating lists: activity counts payments per period") {
  ListedLedger ledger;
  ledger.read([&](Connection& db) {
    ActivityWanted wanted;
    wanted.from = ledger.records.front().created_at;
    wanted.width_ms = 600'000;
    wanted.buckets = 4;
    const auto buckets = activity(db, wanted);
    REQUIRE(buckets.size() == 4);
    std::int64_t payments = 0;
    for (const ActivityBucket& bucket : buckets) {
      payments += bucket.payments;
      CHECK_FALSE(bucket.sampled);
    }
    CHECK(payments == 30);
    CHECK(buckets[0].payments == 10);
    CHECK(buckets[0].failed == 2);
    CHECK(buckets[0].succeeded == 8);
    CHECK(buckets[2].succeeded == 4);
    CHECK(buckets[3].payments == 0);
    // 101 to 109 without 105, and the second leg of t7.
    CHECK(buckets[0].volume.at(ledger.usdc.key).payments == 8);
    std::int64_t failures = 0;
    for (const auto& [kind, count] : buckets[0].failures) {
      failures += count;
      CHECK(kind.code);
      CHECK(kind.connector == 0);
      CHECK(kind.asset == ledger.usdc.key);
    }
    CHECK(failures == buckets[0].failed);
    CHECK(buckets[0].volume.at(ledger.usdc.key).amount ==
          Amount::from_units(101 + 102 + 103 + 104 + 106 + 107 + 7 + 108 + 109));
    wanted.tenants = Keys{ledger.tenant.key + 1};
    for (const ActivityBucket& bucket : activity(db, wanted)) CHECK(bucket.payments == 0);
    return 0;
  });
}

TEST_CASE("operating lists: balances add up, and the backlog contains waiting work") {
  ListedLedger ledger;
  ledger.read([&](Connection& db) {
    const auto all = ledger_balances(db);
    REQUIRE(all.size() == 1);
    CHECK(all[0].asset == ledger.usdc.code);
    CHECK(all[0].wallets == -all[0].issuance);
    CHECK(all[0].wallets.units() ==
          number(db, "SELECT sum(balance) FROM accounts WHERE wallet IS NOT NULL"));
    REQUIRE(all[0].held);
    CHECK(all[0].held->units() == number(db, "SELECT sum(held) FROM accounts"));
    const Backlog waits = read_backlog(db);
    CHECK(waits.settlement.count == 5);
    CHECK(waits.oldest_unsettled == ledger.records[25].created_at);
    CHECK(waits.providers.count == 0);
    CHECK_FALSE(waits.providers.created);
    CHECK(waits.dead_letters == 0);
    CHECK(waits.reviews.count == 0);
    return 0;
  });
}

TEST_CASE("operating lists: entries and events of one payment among many") {
  ListedLedger ledger;
  ledger.read([&](Connection& db) {
    const PaymentRecord& record = ledger.records[7];
    const auto entries = entries_of_payment(db, record.key);
    REQUIRE(entries.size() == 4);
    CHECK(entries[0].amount == -entries[1].amount);
    CHECK(entries[0].counterparty.owner == entries[1].account.owner);
    const Timestamp changes[] = {record.created_at, *record.processing_at, *record.completed_at};
    const auto events = events_of_payment(db, ledger.tenant, record.key, changes);
    REQUIRE(events.size() == 3);
    for (int i = 0; i < 3; ++i) CHECK(events[static_cast<std::size_t>(i)].version == i + 1);
    CHECK_FALSE(job_of_payment(db, record.key));
    CHECK(job_of_payment(db, ledger.keys.back())->with_provider == false);
    return 0;
  });
}

TEST_CASE("operating lists: a statement read from its end is the statement read from its start") {
  ListedLedger ledger;
  ledger.read([&](Connection& db) {
    EntryRange range = entries_between(db, Timestamp{}, ledger.clock.now().plus_ms(1));
    auto forward = statement_lines(db, ledger.tenant, ledger.first.account, range, 1'000);
    std::reverse(forward.begin(), forward.end());
    std::vector<StatementLine> backward;
    for (;;) {
      const auto part = newest_statement_lines(db, ledger.tenant, ledger.first.account, range, 4);
      if (part.empty()) break;
      backward.insert(backward.end(), part.begin(), part.end());
      range.to = part.back().entry;
    }
    REQUIRE(backward.size() == forward.size());
    for (std::size_t i = 0; i < forward.size(); ++i) {
      CHECK(backward[i].row_id == forward[i].row_id);
      CHECK(backward[i].running_balance == forward[i].running_balance);
    }
    return 0;
  });
}

TEST_CASE("operating lists: wallets by status, owner and text") {
  ListedLedger ledger;
  ledger.read([&](Connection& db) {
    const auto listed = [&](const WalletsWanted& wanted) {
      Keys out;
      for (const auto& [row, tenant] : newest_wallets(db, wanted, {}).rows) {
        CHECK(tenant == ledger.tenant.key);
        out.push_back(row.key);
      }
      return out;
    };
    CHECK(listed({}) == Keys{ledger.third.key, ledger.second.key, ledger.first.key});
    CHECK(listed({.status = WalletStatus::pending}).empty());
    CHECK(listed({.status = WalletStatus::verified}).size() == 3);
    CHECK(listed({.text = "SEC"}) == Keys{ledger.second.key});
    CHECK(listed({.text = "GThird"}) == Keys{ledger.third.key});
    CHECK(listed({.text = ledger.first.id.to_string()}) == Keys{ledger.first.key});
    CHECK(listed({.tenants = Keys{ledger.tenant.key}, .text = "d"}).size() == 2);
    CHECK(listed({.tenants = Keys{ledger.tenant.key + 1}}).empty());
    return 0;
  });
}

TEST_CASE("operating lists: no query reads a whole growing table or sorts") {
  ListedLedger ledger;
  // Known to be few; `w`: active endpoints.
  const std::vector<std::string> small = {
      "tenants", "associations", "assets", "connectors", "t", "w", "s", "CONSTANT"};
  ledger.read([&](Connection& db) {
    PaymentsWanted wanted;
    for (const auto& tenants : {TenantKeys(), TenantKeys(Keys{ledger.tenant.key})}) {
      wanted = {};
      wanted.tenants = tenants;
      newest_payments(db, wanted, {});
      wanted.from = wanted.to = ledger.clock.now();
      newest_payments(db, wanted, {});
      for (const auto status : {PaymentStatus::succeeded, PaymentStatus::processing}) {
        wanted.status = status;
        newest_payments(db, wanted, {});
      }
      newest_wallets(db, {tenants, {}, {}}, {});
      newest_wallets(db, {tenants, WalletStatus::pending, "a"}, {});
      newest_beneficiaries(db, {tenants, "a"}, {});
      newest_quotes(db, {tenants, 1, QuoteStatus::open, {}}, {});
    }
    for (const auto member :
         {&PaymentsWanted::wallet, &PaymentsWanted::beneficiary, &PaymentsWanted::connector}) {
      wanted = {};
      wanted.*member = 1;
      newest_payments(db, wanted, {});
    }
    find_payments(db, ledger.first.id.to_string(), {});
    find_payments(db, ledger.random.uuid_v7(ledger.clock.now()).to_string(), {});
    find_payments(db, std::string(64, 'a'), {});
    entries_of_payment(db, 1);
    attempts_of_payment(db, 1);
    parties_of_payment(db, 1);
    const Timestamp changes[] = {ledger.clock.now()};
    events_of_payment(db, ledger.tenant, 1, changes);
    webhooks_of_tenant(db, ledger.tenant, 10);
    read_backlog(db);
    count_open_items(db, OpenItem::unbooked, refunds_failed(db) + count_open_arrivals(db, 9));
    for (const bool every : {false, true}) list_arrivals(db, every, {});
    connector_figures(db, ConnectorTerms());
    webhook_figures(db, 1);
    ledger_balances(db);
    list_audit_entries(db, {}, {});
    list_users(db, {});
    activity(db, {{}, Timestamp{}, 1'000, 2});
    newest_statement_lines(db, ledger.tenant, ledger.first.account, {0, 1'000'000}, 10);
    newest_notifications(db, MessageState::failed, {});
    newest_notifications(db, {}, {});
    const auto all = plans(db);
    CHECK(all.size() > 60);
    for (const auto& [sql, step] : all) {
      INFO(sql << "\n  " << step);
      CHECK(step.find("TEMP B-TREE") == std::string::npos);
      if (!step.starts_with("SCAN ") || step.starts_with("SCAN (subquery")) continue;
      const std::string what = step.substr(5, step.find(' ', 5) - 5);
      // The backlog and payments at a provider are counted up to a limit; waiting jobs are counted
      // without reading them, and the last audit entry is the first of its scan.
      const bool counted =
          (sql.find("LIMIT ?") != std::string::npos && sql.find("SELECT count(*)") < 60) ||
          sql.ends_with("FROM audit_log ORDER BY entry DESC LIMIT 1");
      CHECK((counted || std::find(small.begin(), small.end(), what) != small.end()));
    }
    return 0;
  });
}

TEST_CASE("operating lists: the cost of the backlog does not grow with the number of jobs") {
  ListedLedger ledger;
  const auto steps_with = [&](int jobs) {
    {
      Connection db(ledger.database->path(), OpenMode::read_write);
      db.execute("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF");
      const std::string many =
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " +
          std::to_string(jobs) + ")";
      db.execute(many +
                 "INSERT OR IGNORE INTO payments (payment, tenant, id, transaction_id, application,"
                 " request_id, type, status, settle_at, created_at) SELECT 1000000 + i,"
                 " 3, randomblob(16), 'many ' || i, 1, 'r', 0, 0, i, i FROM n");
      db.execute(many +
                 "INSERT OR IGNORE INTO provider_jobs (lane, due_at, payment) SELECT 0, i, 1000000"
                 " + i FROM n");
    }
    Connection db(ledger.database->path(), OpenMode::read_only);
    const Backlog backlog = read_backlog(db);
    CHECK(backlog.settlement.count == kCountMax);
    CHECK(backlog.providers.count == kCountMax);
    return steps_so_far(db);
  };
  const std::int64_t some = steps_with(25'000);
  CHECK(steps_with(100'000) < some + some / 20);
}

}  // namespace operating_lists_test
