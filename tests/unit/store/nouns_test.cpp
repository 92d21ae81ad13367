// Wallets: metadata is read as stored, and tenants are separate.
#include <catch2/catch.hpp>

#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace nouns_test {
namespace {

Result<void> done() { return {}; }

}  // namespace

TEST_CASE("wallets: metadata of either kind is read completely, and can change its kind") {
  SmallLedger ledger;
  auto row =
      ledger.read([&](Connection& db) { return *find_wallet(db, ledger.tenant, ledger.first.id); });
  const PersonMetadata person{"Ada", "Obi", "1990-01-02", "NGA",     "passport",
                              "A1",  {},    "a@b.c",      "+2348001"};
  const BusinessMetadata business{"Obi Ltd", "RC1", "NGA", {}, "1 Way", "c@d.e"};
  for (const Metadata& metadata : {Metadata(person), Metadata(business)}) {
    row.metadata = metadata;
    row.status = WalletStatus::rejected;
    row.reason = WalletStatusReason{"code", "why"};
    REQUIRE(
        ledger.write([&](WriteTx& tx) { return update_wallet(tx, ledger.tenant, row), done(); }));
    const auto found = ledger.read(
        [&](Connection& db) { return *find_wallet(db, ledger.tenant, ledger.first.id); });
    CHECK(found.metadata == metadata);
    CHECK(found.status == WalletStatus::rejected);
    CHECK(found.reason == row.reason);
    CHECK(found.sealed_seed == "sealed");
  }
  row.metadata.reset();
  row.reason.reset();
  REQUIRE(ledger.write([&](WriteTx& tx) { return update_wallet(tx, ledger.tenant, row), done(); }));
  CHECK_FALSE(ledger.read(
      [&](Connection& db) { return find_wallet(db, ledger.tenant, ledger.first.id)->metadata; }));
}

TEST_CASE("wallets: another tenant's wallet is not found") {
  SmallLedger ledger;
  Tenant other = ledger.tenant;
  other.key += 1;
  ledger.read([&](Connection& db) {
    CHECK_FALSE(find_wallet(db, other, ledger.first.id));
    CHECK_FALSE(find_wallet_brief(db, other, ledger.first.id));
    CHECK(list_wallets(db, other, {}, {}).rows.empty());
    CHECK(tenant_of_wallet(db, ledger.first.id) == ledger.tenant);
    return 0;
  });
  CapturedLog log;
  auto row =
      ledger.read([&](Connection& db) { return *find_wallet(db, ledger.tenant, ledger.first.id); });
  CHECK_FALSE(ledger.write([&](WriteTx& tx) { return update_wallet(tx, other, row), done(); }));
}

}  // namespace nouns_test
