#include "store/ledger/statements.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

const Timestamp kStart{1'767'225'600'000};  // of the manual clock

std::vector<StatementLine> lines(SmallLedger& ledger, const LedgerWallet& wallet, Timestamp from,
                                 Timestamp to, int limit = 100) {
  return ledger.read([&](Connection& db) {
    return statement_lines(db, ledger.tenant, wallet.account, entries_between(db, from, to), limit);
  });
}

/// One transfer of `units` per minute, the first a minute after the start.
void pay_each_minute(SmallLedger& ledger, int count, const std::string& prefix = "m") {
  for (int i = 1; i <= count; ++i) {
    ledger.clock.advance_ms(60'000);
    ledger.pay_and_settle(ledger.transfer(prefix + std::to_string(i), i));
  }
}

std::vector<std::int64_t> amounts(const std::vector<StatementLine>& lines) {
  std::vector<std::int64_t> out;
  for (const StatementLine& line : lines) out.push_back(line.amount.units());
  return out;
}

using Units = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("statements: the start is included, the end is not") {
  SmallLedger ledger;
  pay_each_minute(ledger, 5);
  const auto minute = [](std::int64_t n) { return kStart.plus_ms(n * 60'000); };
  CHECK(amounts(lines(ledger, ledger.first, minute(2), minute(4))) == Units{-2, -3});
  CHECK(amounts(lines(ledger, ledger.second, minute(2), minute(4))) == Units{2, 3});
  CHECK(amounts(lines(ledger, ledger.first, minute(2).plus_ms(1), minute(4).plus_ms(1))) ==
        Units{-3, -4});
  CHECK(lines(ledger, ledger.first, minute(3), minute(3)).empty());
  CHECK(lines(ledger, ledger.first, minute(4), minute(2)).empty());
  CHECK(lines(ledger, ledger.first, minute(6), minute(9)).empty());
  CHECK(lines(ledger, ledger.first, {0}, kStart).empty());
  CHECK(amounts(lines(ledger, ledger.first, {0}, minute(99))) ==
        Units{10'000'000'000, -1, -2, -3, -4, -5});
  CHECK(lines(ledger, ledger.third, {0}, minute(99)).empty());
}

TEST_CASE("statements: entry sets of the same instant are in the range together") {
  SmallLedger ledger;
  ledger.clock.advance_ms(1'000);
  for (int i = 1; i <= 3; ++i) ledger.pay_and_settle(ledger.transfer("s" + std::to_string(i), i));
  const Timestamp at = ledger.clock.now();
  CHECK(amounts(lines(ledger, ledger.first, at, at.plus_ms(1))) == Units{-1, -2, -3});
  CHECK(lines(ledger, ledger.first, at.plus_ms(1), at.plus_ms(9)).empty());
}

TEST_CASE("statements: the search agrees with a scan at every instant") {
  SmallLedger ledger;
  const std::vector<std::int64_t> gaps{0, 1, 0, 5, 1, 1, 0, 0, 7, 2};
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    ledger.clock.advance_ms(gaps[i]);
    ledger.pay_and_settle(ledger.transfer("g" + std::to_string(i), 1));
  }
  ledger.read([&](Connection& db) {
    for (std::int64_t ms = -1; ms < 20; ++ms) {
      const Timestamp at = kStart.plus_ms(ms);
      const std::int64_t scan = number(db,
                                       "SELECT coalesce(min(journal), (SELECT max(journal) + 1 FROM"
                                       " journal)) FROM journal WHERE at >= " +
                                           std::to_string(at.ms));
      CHECK(entries_between(db, at, at).from == scan * 1024);
    }
    return 0;
  });
}

TEST_CASE("statements: an empty ledger has an empty range") {
  OpenedFile file;
  file.read([](Connection& db) {
    const EntryRange range = entries_between(db, {0}, {9'999'999'999'999});
    CHECK(range.from == range.to);
    CHECK(balance_before(db, 1, range.from) == Amount());
    return 0;
  });
}

TEST_CASE(
    "statements: amounts add up to every running balance, from the opening to the closing one") {
  SmallLedger ledger;
  pay_each_minute(ledger, 4);
  ledger.pay_and_settle(ledger.transfer("back", 1'000, true));
  const Timestamp from = kStart.plus_ms(120'000);
  ledger.read([&](Connection& db) {
    const EntryRange range = entries_between(db, from, ledger.clock.now().plus_ms(1));
    Amount balance = balance_before(db, ledger.first.account, range.from);
    CHECK(balance == Amount::from_units(10'000'000'000 - 1));
    for (const StatementLine& line :
         statement_lines(db, ledger.tenant, ledger.first.account, range, 100)) {
      balance = balance + line.amount;
      CHECK(line.running_balance == balance);
    }
    CHECK(balance == balance_before(db, ledger.first.account, range.to));
    CHECK(balance == balances_of(db, ledger.first.key)[0].balance);
    return 0;
  });
}

TEST_CASE("statements: pages continue without a gap or a repeat") {
  SmallLedger ledger;
  pay_each_minute(ledger, 7);
  const Timestamp end = ledger.clock.now().plus_ms(1);
  const auto whole = lines(ledger, ledger.first, {0}, end);
  std::vector<std::string> ids;
  ledger.read([&](Connection& db) {
    EntryRange range = entries_between(db, {0}, end);
    for (;;) {
      const auto page = statement_lines(db, ledger.tenant, ledger.first.account, range, 3);
      if (page.empty()) return 0;
      for (const StatementLine& line : page) ids.push_back(line.row_id);
      range.from = page.back().entry + 1;
    }
  });
  REQUIRE(ids.size() == whole.size());
  for (std::size_t i = 0; i < ids.size(); ++i) CHECK(ids[i] == whole[i].row_id);
  CHECK(std::set<std::string>(ids.begin(), ids.end()).size() == ids.size());
}

TEST_CASE("statements: a row keeps its ID when rows are added and in every query") {
  SmallLedger ledger;
  pay_each_minute(ledger, 2);
  const auto before = lines(ledger, ledger.first, {0}, ledger.clock.now().plus_ms(1));
  pay_each_minute(ledger, 1, "later");
  ledger.close();
  ledger.open();
  const auto after = lines(ledger, ledger.first, {0}, ledger.clock.now().plus_ms(1));
  REQUIRE(after.size() == before.size() + 1);
  for (std::size_t i = 0; i < before.size(); ++i) CHECK(after[i].row_id == before[i].row_id);
}

TEST_CASE("statements: each side reads its own reference and the other's name") {
  SmallLedger ledger;
  auto request = ledger.transfer("a", 5);
  request.legs[0].refs = {"FROM-1", "TO-1"};
  request.legs[0].description = "Rent";
  ledger.clock.advance_ms(10);
  ledger.pay_and_settle(request);
  const auto debit = lines(ledger, ledger.first, ledger.clock.now(), ledger.clock.now().plus_ms(1));
  const auto credit =
      lines(ledger, ledger.second, ledger.clock.now(), ledger.clock.now().plus_ms(1));
  REQUIRE(debit.size() == 1);
  REQUIRE(credit.size() == 1);
  CHECK(debit[0].reference == "FROM-1");
  CHECK(debit[0].counterparty == "Second");
  CHECK(debit[0].description == "Rent");
  CHECK(credit[0].reference == "TO-1");
  CHECK(credit[0].counterparty == "First");
  CHECK(credit[0].description == "Rent");
  CHECK(debit[0].payment.has_value());
  CHECK(debit[0].payment == credit[0].payment);
  CHECK(debit[0].row_id != credit[0].row_id);
  const auto funding = lines(ledger, ledger.first, {0}, ledger.clock.now());
  REQUIRE(funding.size() == 1);
  CHECK(funding[0].counterparty == "Funding");
  CHECK_FALSE(funding[0].payment);
  CHECK_FALSE(funding[0].reference);
}

TEST_CASE("statements: a leg of a multi-transfer shows its own reference and description") {
  SmallLedger ledger;
  auto request = ledger.transfer("multi", 5);
  request.type = PaymentType::p2p_own_multi;
  request.legs.push_back(ledger.transfer("", 3, true).legs[0]);
  request.legs[0].refs = {"F0", "T0"};
  request.legs[1].refs = {"F1", "T1"};
  request.legs[1].description = "second";
  ledger.clock.advance_ms(10);
  ledger.pay_and_settle(request);
  const auto found = lines(ledger, ledger.first, ledger.clock.now(), ledger.clock.now().plus_ms(1));
  REQUIRE(found.size() == 2);
  CHECK(found[0].reference == "F0");
  CHECK_FALSE(found[0].description);
  CHECK(found[0].amount == Amount::from_units(-5));
  CHECK(found[1].reference == "T1");
  CHECK(found[1].description == "second");
  CHECK(found[1].amount == Amount::from_units(3));
}

TEST_CASE("statements: another tenant's account has no lines") {
  SmallLedger ledger;
  pay_each_minute(ledger, 1);
  ledger.read([&](Connection& db) {
    const EntryRange all = entries_between(db, {0}, ledger.clock.now().plus_ms(1));
    Tenant other = ledger.tenant;
    other.key = ledger.tenant.key + 1;
    CHECK(statement_lines(db, other, ledger.first.account, all, 10).empty());
    CHECK_FALSE(statement_lines(db, ledger.tenant, ledger.first.account, all, 10).empty());
    return 0;
  });
}
