#include "store/ledger/known_rows.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "unit/store/busy_writer.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

constexpr auto kOnce = CommitQueue::Mode::commit;
constexpr auto kPayment = CommitQueue::Mode::repeatable;

}  // namespace

TEST_CASE("known rows: a payment sees the wallet's state after the previous commands") {
  SmallLedger ledger;
  std::vector<WalletStatus> seen;
  const auto look = [&](WriteTx& tx) -> Result<void> {
    seen.push_back(tx.known().wallet(ledger.tenant, ledger.first.id).value().status);
    return {};
  };
  const auto set = [&](WalletStatus status, bool fails) {
    return [&ledger, &look, status, fails](WriteTx& tx) -> Result<void> {
      auto row = *find_wallet(tx.db(), ledger.tenant, ledger.first.id);
      row.status = status;
      update_wallet(tx, ledger.tenant, row);
      look(tx).value();  // must not be known after the command is undone
      return fails ? Result<void>(unexpected(Slug::conflict)) : Result<void>();
    };
  };
  const auto verdicts = run_in_one_batch(*ledger.queue,
                                         {look, look, set(WalletStatus::pending, true), look,
                                          set(WalletStatus::rejected, false), look},
                                         {kPayment, kPayment, kOnce, kPayment, kOnce, kPayment});
  CHECK(verdicts[4]);
  ledger.write(look, kPayment).value();
  ledger.write(set(WalletStatus::verified, false)).value();
  ledger.write(look, kPayment).value();
  using enum WalletStatus;
  // Commands that change the wallet may see its former status, but payments may not.
  seen.erase(seen.begin() + 2);
  seen.erase(seen.begin() + 3);
  seen.erase(seen.begin() + 5);
  CHECK(seen == std::vector{verified, verified, verified, rejected, rejected, verified});
}

TEST_CASE("known rows: a row of a batch that was not stored is not known afterwards") {
  SmallLedger ledger;
  const auto known = [&](WriteTx& tx) {
    return tx.known().trustline(ledger.first.key, ledger.eurc.key).has_value();
  };
  // A payment of the same batch reads the new trustline, and its group then runs again.
  bool seen = false;
  run_in_one_batch(*ledger.queue,
                   {[&](WriteTx& tx) -> Result<void> {
                      open_trustline(tx, ledger.tenant, ledger.first.key, ledger.eurc.key);
                      known(tx);
                      return unexpected(Slug::conflict);
                    },
                    [&](WriteTx& tx) -> Result<void> {
                      seen = known(tx);
                      ledger.accept(tx, ledger.transfer("late", 5'000));
                      return unexpected(Slug::conflict);
                    }},
                   {kOnce, kPayment});
  CHECK_FALSE(seen);
  ledger
      .write(
          [&](WriteTx& tx) -> Result<void> {
            seen = known(tx);
            return {};
          },
          kPayment)
      .value();
  CHECK_FALSE(seen);
}

TEST_CASE("known rows: a wallet is known only to its own tenant") {
  SmallLedger ledger;
  const auto look = [&](WriteTx& tx) -> Result<void> {
    CHECK(tx.known().wallet(ledger.tenant, ledger.first.id));
    Tenant other = ledger.tenant;
    other.key = ledger.tenant.key + 1;
    CHECK_FALSE(tx.known().wallet(other, ledger.first.id));
    CHECK(tx.known().wallet(ledger.tenant, ledger.first.id));
    return {};
  };
  ledger.write(look, kPayment).value();
}

TEST_CASE("known rows: a row that does not exist is looked up again") {
  SmallLedger ledger;
  const auto code = *AssetCode::parse("NEWC");
  const auto look = [&](WriteTx& tx) -> Result<void> {
    return tx.known().asset(code) != nullptr ? Result<void>() : unexpected(Slug::not_found);
  };
  CHECK_FALSE(ledger.write(look, kPayment));
  ledger
      .write([&](WriteTx& tx) -> Result<void> {
        insert_asset(tx, {0, code, "GISSUER", "New", 7});
        return {};
      })
      .value();
  CHECK(ledger.write(look, kPayment));
}
