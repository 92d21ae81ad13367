#include "store/commits/balance_book.h"

#include <catch2/catch.hpp>

#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

Amount units(std::int64_t value) { return Amount::from_units(value); }

/// Runs `body` in a command that is undone at the end, because only the book is checked.
void with_book(SmallLedger& ledger, const std::function<void(BalanceBook&, WriteTx&)>& body) {
  REQUIRE(ledger.write(
      [&](WriteTx& tx) -> Result<void> {
        body(tx.balances(), tx);
        return {};
      },
      CommitQueue::Mode::dry_run));
}

}  // namespace

TEST_CASE("balance book: reads an account once and returns the values that were set") {
  SmallLedger ledger;
  with_book(ledger, [&](BalanceBook& book, WriteTx&) {
    const AccountKey key = ledger.first.account;
    CHECK(book.get(key).balance == units(10'000'000'000));
    CHECK(book.get(key).asset == ledger.usdc.key);
    CHECK(book.get(key).kind == AccountKind::wallet);
    book.set(key, units(70), units(30));
    CHECK(book.get(key).balance == units(70));
    CHECK(book.get(key).available() == units(40));
  });
}

TEST_CASE("balance book: unknown accounts and violated floors are bugs") {
  SmallLedger ledger;
  with_book(ledger, [&](BalanceBook& book, WriteTx& tx) {
    const AccountKey key = ledger.first.account;
    CHECK_THROWS_AS(book.get(999), InternalError);
    CHECK_THROWS_AS(book.set(999, {}, {}), InternalError);
    CHECK_THROWS_AS(book.set(key, units(-1), {}), InternalError);
    CHECK_THROWS_AS(book.set(key, units(5), units(6)), InternalError);
    CHECK_THROWS_AS(book.set(key, units(5), units(-1)), InternalError);
    CHECK_NOTHROW(book.set(key, units(5), units(5)));
    const AccountKey issuance =
        operator_account(tx, Environment::sandbox, AccountKind::issuance, ledger.usdc.key);
    CHECK_NOTHROW(book.set(issuance, units(-5), {}));
    const AccountKey pool =
        operator_account(tx, Environment::sandbox, AccountKind::liquidity, ledger.usdc.key);
    CHECK_THROWS_AS(book.set(pool, units(-5), {}), InternalError);
  });
}

TEST_CASE(
    "balance book: rolling back gives the state before the command, however often it was set") {
  SmallLedger ledger;
  with_book(ledger, [&](BalanceBook& book, WriteTx&) {
    const AccountKey a = ledger.first.account;
    const AccountKey b = ledger.second.account;
    book.set(a, units(100), units(10));
    book.begin_command();
    book.set(a, units(90), units(10));
    book.set(b, units(1), {});
    book.set(a, units(80), {});
    book.set(a, units(70), units(70));
    book.roll_back_command();
    CHECK(book.get(a).balance == units(100));
    CHECK(book.get(a).held == units(10));
    CHECK(book.get(b).balance == units(10'000'000'000));
    book.roll_back_command();  // nothing left to undo
    CHECK(book.get(a).balance == units(100));
  });
}

TEST_CASE("balance book: the number of a rejected command's account does not return that account") {
  SmallLedger ledger;
  AccountKey rejected = 0;
  const auto opens = [&](bool reject) {
    return [&, reject](WriteTx& tx) -> Result<void> {
      const AccountKey key = open_trustline(tx, ledger.tenant, ledger.first.key, ledger.eurc.key);
      CHECK(tx.balances().get(key).balance == Amount());
      CHECK((rejected == 0 || rejected == key));  // SQLite reuses the number
      rejected = key;
      const AccountKey issuance =
          operator_account(tx, Environment::sandbox, AccountKind::issuance, ledger.eurc.key);
      const Movement funding{{issuance, key, units(reject ? 500 : 700)}, 0};
      post(tx, ledger.tenant.key, JournalKind::funding, {&funding, 1});
      if (reject) return unexpected(Slug::conflict);
      return {};
    };
  };
  CHECK_FALSE(ledger.write(opens(true)));
  CHECK(ledger.write(opens(false)));
  CHECK(ledger.value("SELECT balance FROM accounts WHERE account = " + std::to_string(rejected)) ==
        "700");
  CHECK(ledger.verify().empty());
}
