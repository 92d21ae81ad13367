// Beneficiaries and destinations: rows are read as stored, and a payment's rows never change.
#include "store/parties/beneficiaries.h"

#include <catch2/catch.hpp>

#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

Destination bank(const std::string& number) {
  return {DestinationMethod::bank, "KE", "KES", "Salary",
          BankDetails{"Amina", number, {}, "Bank", "01", "002", "DEUTDEFF"}};
}

struct World {
  SmallLedger ledger;
  BeneficiaryRow beneficiary;
  DestinationRow destination;

  World() {
    beneficiary.id = ledger.random.id<BeneficiaryId>(ledger.clock.now());
    beneficiary.detail = {
        Individual{"Amina", "Otieno", "a@b.co", "+254712345678", "1990-02-28", "KEN"},
        {{"home", "1 Road", "Flat 2", "Nairobi", "N", "00100", "KE"},
         {{}, "2 Road", {}, "Mombasa", {}, {}, "KE"}},
        {"b", "a"},
        "C-1"};
    write([&](WriteTx& tx) { insert_beneficiary(tx, ledger.tenant, beneficiary); });
    destination = added(bank("0123456789"));
  }
  template <class F>
  void write(F&& command) {
    REQUIRE(ledger.write([&](WriteTx& tx) -> Result<void> {
      command(tx);
      return {};
    }));
  }
  DestinationRow added(const Destination& detail) {
    DestinationRow row;
    row.id = ledger.random.id<DestinationId>(ledger.clock.now());
    row.beneficiary = beneficiary.key;
    row.detail = detail;
    write([&](WriteTx& tx) { insert_destination(tx, ledger.tenant, row); });
    return row;
  }
  std::vector<DestinationRow> live(std::optional<DestinationMethod> method = std::nullopt) {
    return ledger.read(
        [&](Connection& db) { return destinations_of(db, beneficiary.key, method); });
  }
};

}  // namespace

TEST_CASE("beneficiaries: a row is read as it was stored, by ID and by key") {
  World world;
  world.ledger.read([&](Connection& db) {
    const auto row = find_beneficiary(db, world.ledger.tenant, world.beneficiary.id);
    REQUIRE(row);
    CHECK(row->detail == world.beneficiary.detail);
    CHECK(row->type() == EntityType::person);
    CHECK_FALSE(row->archived);
    CHECK(find_beneficiary_by_key(db, row->key)->id == world.beneficiary.id);
    CHECK_FALSE(find_beneficiary_by_key(db, row->key + 1));
    Tenant other = world.ledger.tenant;
    ++other.key;
    CHECK_FALSE(find_beneficiary(db, other, world.beneficiary.id));
    CHECK_FALSE(find_destination(db, other, world.destination.id));
    return 0;
  });
  world.beneficiary.detail = {Company{"Kahawa", "C-1", {}, {}, "KEN"}, {}, {}, {}};
  world.write([&](WriteTx& tx) { update_beneficiary(tx, world.ledger.tenant, world.beneficiary); });
  CHECK(world.ledger
            .read([&](Connection& db) {
              return *find_beneficiary(db, world.ledger.tenant, world.beneficiary.id);
            })
            .detail == world.beneficiary.detail);
}

TEST_CASE("destinations: every method is read as it was stored") {
  World world;
  const std::vector<Destination> all{
      bank("0123456789"),
      {DestinationMethod::mobile_money,
       "KE",
       "KES",
       {},
       MobileMoneyDetails{"M-Pesa", "+254712345678", "A"}},
      {DestinationMethod::crypto, "", "", {}, CryptoDetails{"COFFER", "USDC", "GKEY", "memo"}},
      {DestinationMethod::bank,
       "DE",
       "EUR",
       {},
       BankDetails{"A", {}, "DE89370400440532013000", {}, {}, {}, {}}}};
  for (std::size_t i = 1; i < all.size(); ++i) world.added(all[i]);
  const auto rows = world.live();
  REQUIRE(rows.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(rows[i].detail == all[i]);
    CHECK(rows[i].beneficiary_id == world.beneficiary.id);
  }
  CHECK(world.live(DestinationMethod::bank).size() == 2);
  CHECK(world.live(DestinationMethod::crypto).size() == 1);
}

TEST_CASE("destinations: the row of a payment stays when the ID gets a new destination") {
  World world;
  DestinationRow next = world.destination;
  next.detail = bank("999");
  world.write([&](WriteTx& tx) {
    archive_destination(tx, world.ledger.tenant, world.destination);
    insert_destination(tx, world.ledger.tenant, next);
  });
  world.ledger.read([&](Connection& db) {
    const auto now = find_destination(db, world.ledger.tenant, world.destination.id);
    CHECK(now->key == next.key);
    CHECK(outcome_digits(now->detail) == "999");
    CHECK(now->created_at == world.destination.created_at);
    const auto before = find_destination_by_key(db, world.destination.key);
    CHECK(outcome_digits(before->detail) == "0123456789");
    CHECK(before->archived);
    return 0;
  });
  CHECK(world.live().size() == 1);
  world.write(
      [&](WriteTx& tx) { archive_beneficiary(tx, world.ledger.tenant, world.beneficiary); });
  CHECK(world.live().empty());
  world.ledger.read([&](Connection& db) {
    CHECK(find_destination(db, world.ledger.tenant, world.destination.id)->archived);
    CHECK(find_beneficiary(db, world.ledger.tenant, world.beneficiary.id)->archived);
    return 0;
  });
}

TEST_CASE("destinations: the schema rejects changes and deletions") {
  World world;
  for (const char* sql :
       {"UPDATE destinations SET account_number = '1'", "DELETE FROM destinations",
        "DELETE FROM beneficiaries",
        "INSERT INTO destinations SELECT NULL, beneficiary, tenant, id, method, country,"
        " currency, label, account_name, account_number, iban, bank_name, bank_code,"
        " branch_code, swift_bic, provider, phone_number, network_name, asset_symbol,"
        " wallet_address, memo, created_at, archived_at FROM destinations"}) {
    INFO(sql);
    CHECK_FALSE(world.ledger.write([&](WriteTx& tx) -> Result<void> {
      tx.db().execute(sql);
      return {};
    }));
  }
  CHECK(world.live().size() == 1);
}
