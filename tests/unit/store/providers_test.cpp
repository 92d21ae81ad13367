// What the API does not show of connectors and quotes: the order of requirements, and guards of the
// store.
#include <catch2/catch.hpp>

#include "store/parties/beneficiaries.h"
#include "store/payments/quotes.h"
#include "store/providers/connectors.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace providers_test {
namespace {

Result<void> done() { return {}; }
Amount units(std::int64_t value) { return Amount::from_units(value); }

struct Providers : SmallLedger {
  ConnectorRow row(const std::string& name) {
    ConnectorRow out;
    ConnectorTerms& terms = out.terms;
    terms.id = random.id<ConnectorId>(clock.now());
    terms.name = name;
    terms.provider = "Provider";
    terms.method = PayMethod::momo;
    terms.country = "KE";
    terms.currency = "KES";
    terms.asset = usdc;
    terms.rate = Rate{2, 3};
    terms.fee = {units(5), 25};
    terms.min_amount = units(1);
    terms.max_amount = units(1'000);
    return out;
  }

  std::int64_t add(const ConnectorRow& connector,
                   const std::vector<Requirement>& requirements = {}) {
    return run_for<std::int64_t>(*queue,
                                 [&](WriteTx& tx) -> Result<std::int64_t> {
                                   return insert_connector(tx, connector, requirements);
                                 })
        .value();
  }

  QuoteRow quote_row(std::int64_t connector) {
    QuoteRow out;
    out.id = random.id<QuoteId>(clock.now());
    out.connector = connector;
    out.type = TransactionType::b2c;
    out.price = {units(100), units(60), units(5), units(105), {2, 3}};
    out.created_at = clock.now();
    out.expires_at = clock.now().plus_ms(kQuoteLifetimeMs);
    return out;
  }

  std::int64_t add(const QuoteRow& quote) {
    return run_for<std::int64_t>(
               *queue,
               [&](WriteTx& tx) -> Result<std::int64_t> { return insert_quote(tx, tenant, quote); })
        .value();
  }

  DestinationRow destination(DestinationId id, std::int64_t beneficiary) {
    DestinationRow out;
    out.id = id;
    out.beneficiary = beneficiary;
    out.detail.method = DestinationMethod::mobile_money;
    out.detail.country = "KE";
    out.detail.currency = "KES";
    out.detail.details = MobileMoneyDetails{"M-Pesa", "+254712345678", {}};
    return out;
  }
};

}  // namespace

TEST_CASE("connectors: requirements keep their order and are replaced together") {
  Providers file;
  const std::vector<Requirement> all = {
      {.name = "zeta",
       .label = "Z",
       .description = "last letter",
       .pattern = "[a-z]+",
       .min_length = 2,
       .max_length = 9},
      {.name = "alpha",
       .type = Requirement::Type::boolean,
       .required = false,
       .label = "A",
       .types = 0b1000},
      {.name = "kind", .label = "K", .choices = {{"B", "Second"}, {"A", "First"}}}};
  const ConnectorRow row = file.row("One");
  const std::int64_t key = file.add(row, all);
  auto found = file.read([&](Connection& db) { return requirements_of(db, key); });
  REQUIRE(found.size() == 3);
  CHECK(found[0].name == "zeta");
  CHECK(found[0].description == "last letter");
  CHECK(found[0].pattern == "[a-z]+");
  CHECK(found[0].min_length == 2);
  CHECK(found[0].max_length == 9);
  CHECK(found[0].choices.empty());
  CHECK(found[1].type == Requirement::Type::boolean);
  CHECK_FALSE(found[1].required);
  CHECK(found[1].types == 0b1000);
  CHECK_FALSE(found[1].pattern);
  REQUIRE(found[2].choices.size() == 2);
  CHECK(found[2].choices[0].code == "B");
  CHECK(found[2].choices[1].label == "First");
  REQUIRE(file.write([&](WriteTx& tx) { return replace_requirements(tx, key, {all[2]}), done(); }));
  found = file.read([&](Connection& db) { return requirements_of(db, key); });
  REQUIRE(found.size() == 1);
  CHECK(found[0].choices.size() == 2);
}

TEST_CASE("quotes: a used quote cannot be used again, nor expired") {
  Providers file;
  const QuoteRow row = file.quote_row(file.add(file.row("One")));
  const std::int64_t key = file.add(row);
  const std::int64_t payment = file.pay(file.transfer("t-1", 10));
  REQUIRE(
      file.write([&](WriteTx& tx) { return use_quote(tx, file.tenant, key, payment), done(); }));
  const QuoteRow used =
      file.read([&](Connection& db) { return *find_quote(db, file.tenant, row.id); });
  CHECK(used.payment == payment);
  CHECK(used.status(row.expires_at) == QuoteStatus::used);
  CapturedLog log;
  CHECK_FALSE(
      file.write([&](WriteTx& tx) { return use_quote(tx, file.tenant, key, payment), done(); }));
  CHECK_FALSE(file.write([&](WriteTx& tx) { return expire_quote(tx, file.tenant, used), done(); }));
}

TEST_CASE("quotes: a beneficiary's current destinations") {
  Providers file;
  BeneficiaryRow beneficiary;
  beneficiary.id = file.random.id<BeneficiaryId>(file.clock.now());
  beneficiary.detail.party = Individual{.first_name = "Ada", .last_name = "Obi"};
  const auto id = file.random.id<DestinationId>(file.clock.now());
  std::int64_t new_row = 0;
  REQUIRE(file.write([&](WriteTx& tx) {
    insert_beneficiary(tx, file.tenant, beneficiary);
    DestinationRow before = file.destination(id, beneficiary.key);
    insert_destination(tx, file.tenant, before);
    archive_destination(tx, file.tenant, before);
    DestinationRow after = file.destination(id, beneficiary.key);
    insert_destination(tx, file.tenant, after);
    new_row = after.key;
    return done();
  }));
  file.read([&](Connection& db) {
    const auto party = find_quote_party(db, file.tenant, beneficiary.id);
    REQUIRE(party);
    CHECK(party->beneficiary == beneficiary.key);
    CHECK(party->sender == EntityType::business);
    CHECK(party->receiver == EntityType::person);
    const auto live = quote_destinations(db, beneficiary.key);
    REQUIRE(live.size() == 1);
    CHECK(live[0].key == new_row);
    CHECK(live[0].country == "KE");
    return 0;
  });
}

}  // namespace providers_test
