// Associations, applications, wallets and the catalogue: rows are read as stored, and tenants are
// separate.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace nouns_test {
namespace {

Result<void> done() { return {}; }

std::vector<std::string> names(const std::vector<WalletRow>& rows) {
  std::vector<std::string> out;
  for (const WalletRow& row : rows) out.push_back(row.name);
  return out;
}
using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("tenants: an association has two separate tenants") {
  SmallLedger ledger;
  ledger.read([&](Connection& db) {
    const AssociationId id = ledger.tenant.association;
    const auto sandbox = find_tenant(db, id, Environment::sandbox);
    const auto production = find_tenant(db, id, Environment::production);
    REQUIRE(sandbox);
    REQUIRE(production);
    CHECK(sandbox->key != production->key);
    CHECK(sandbox->key > 2);  // 1 and 2 are the operator's
    CHECK_FALSE(find_tenant(db, AssociationId(), Environment::sandbox));
    CHECK(list_associations(db).size() == 1);
    CHECK(find_association(db, id)->name == "Test");
    return 0;
  });
}

TEST_CASE("tenants: an application is read as it was stored") {
  SmallLedger ledger;
  ApplicationRow row;
  row.id = ledger.random.id<ApplicationId>(ledger.clock.now());
  row.environment = Environment::production;
  row.name = "Unassociated";
  row.client_id = "app_2";
  row.public_key = "GOTHER";
  row.scopes = ScopeSet().with(Scope::wallets_read);
  row.api_key_hash.fill(9);
  row.connect_hash.fill(8);
  row.sign_in_hash.fill(7);
  REQUIRE(ledger.write([&](WriteTx& tx) { return insert_application(tx, row), done(); }));
  auto found = ledger.read([&](Connection& db) { return *find_application(db, row.id); });
  CHECK_FALSE(found.tenant);
  CHECK(found.environment == Environment::production);
  CHECK(found.scopes == row.scopes);
  CHECK(found.api_key_hash == row.api_key_hash);
  CHECK(found.sign_in_hash == row.sign_in_hash);
  found.suspended = true;
  const auto production = ledger.read([&](Connection& db) {
    return find_tenant(db, ledger.tenant.association, Environment::production);
  });
  found.tenant = production;
  ++found.key_version;
  REQUIRE(ledger.write([&](WriteTx& tx) { return update_application(tx, found), done(); }));
  ledger.read([&](Connection& db) {
    const auto again = find_application_by_client_id(db, "app_2");
    REQUIRE(again);
    CHECK(again->suspended);
    CHECK(again->tenant == production);
    CHECK(again->association_status == AssociationStatus::active);
    CHECK(again->key_version == 2);
    CHECK(find_application_by_api_key(db, row.api_key_hash)->key == again->key);
    CHECK_FALSE(find_application_by_api_key(db, Sha256{}));
    CHECK_FALSE(find_application_by_client_id(db, "app_3"));
    return 0;
  });
}

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

TEST_CASE("wallets: lists are newest first, filtered, and page both ways") {
  SmallLedger ledger;
  ledger.read([&](Connection& db) {
    const auto list = [&](const WalletFilter& filter, const PageAt& page) {
      return names(list_wallets(db, ledger.tenant, filter, page).rows);
    };
    CHECK(list({}, {}) == Names{"Third", "Second", "First"});
    CHECK(list({}, {std::nullopt, false, 2}) == Names{"Third", "Second"});
    CHECK(list({}, {ledger.second.key, false, 2}) == Names{"First"});
    CHECK(list({}, {ledger.first.key, true, 1}) == Names{"Second"});
    CHECK(list({}, {ledger.first.key, true, 9}) == Names{"Third", "Second"});
    CHECK(list({ledger.eurc.code, {}}, {}) == Names{"Third"});
    CHECK(list({{}, WalletStatus::pending}, {}).empty());
    CHECK(list({ledger.usdc.code, WalletStatus::verified}, {}) == Names{"Second", "First"});
    return 0;
  });
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

TEST_CASE("catalog: rates are replaced, removed, and separate by environment") {
  SmallLedger ledger;
  const MarketRate rate{ledger.usdc.key, ledger.eurc.key, {92, 100}};
  REQUIRE(ledger.write([&](WriteTx& tx) {
    put_rate(tx, Environment::sandbox, rate);
    put_rate(tx, Environment::sandbox, {rate.sell, rate.buy, {93, 100}});
    put_rate(tx, Environment::production, rate);
    return done();
  }));
  ledger.read([&](Connection& db) {
    const auto sandbox = list_rates(db, Environment::sandbox);
    REQUIRE(sandbox.size() == 1);
    CHECK(sandbox[0].rate.numerator == 93);
    CHECK(list_rates(db, Environment::production).size() == 1);
    return 0;
  });
  REQUIRE(ledger.write([&](WriteTx& tx) {
    CHECK(delete_rate(tx, Environment::sandbox, rate.sell, rate.buy));
    CHECK_FALSE(delete_rate(tx, Environment::sandbox, rate.sell, rate.buy));
    return done();
  }));
  CHECK(ledger.count("rates") == 1);
}

TEST_CASE("catalog: assets by code, by key and all; named values") {
  SmallLedger ledger;
  REQUIRE(ledger.write(
      [&](WriteTx& tx) { return write_meta(tx, "name", std::string("a\0b", 3)), done(); }));
  ledger.read([&](Connection& db) {
    CHECK(find_asset(db, ledger.usdc.code)->key == ledger.usdc.key);
    CHECK(find_asset(db, ledger.eurc.key)->decimals == 2);
    CHECK_FALSE(find_asset(db, *AssetCode::parse("NONE")));
    CHECK_FALSE(find_asset(db, 999));
    CHECK(list_assets(db).size() == 2);
    CHECK(read_meta(db, "name") == std::string("a\0b", 3));
    CHECK_FALSE(read_meta(db, "other"));
    return 0;
  });
}

}  // namespace nouns_test
