// Connectors, requirements, fee rows and quotes: rows are read as stored, and tenants are separate.
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

  ConnectorRow find(ConnectorId id) {
    return read([&](Connection& db) { return *find_connector_of_any(db, id); });
  }

  std::vector<std::string> list(const ConnectorFilter& filter, const PageAt& page = {}) {
    return read([&](Connection& db) {
      std::vector<std::string> out;
      for (const auto& one : list_connectors(db, Environment::sandbox, filter, page)) {
        out.push_back(one.terms.name);
      }
      return out;
    });
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

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("connectors: a connector is read as it was stored, with a sealed secret") {
  Providers file;
  ConnectorRow row = file.row("Http");
  row.terms.environment = Environment::production;
  row.terms.driver = DriverKind::http;
  row.terms.flow = ConnectorFlow::bespoke;
  row.terms.direction = Direction::on_ramp;
  row.terms.currency_decimals = 0;
  row.terms.day_limit = units(7);
  row.terms.types = 0b0101;
  row.terms.issues_references = true;
  row.terms.status = ConnectorStatus::paused;
  row.terms.endpoint = ProviderEndpoint{"https://provider.example", Secret("not stored"), 1'500};
  row.sealed_secret = std::string("se\0led", 6);
  const std::int64_t key = file.add(row);
  const ConnectorRow found = file.find(row.terms.id);
  CHECK(found.terms.key == key);
  CHECK(found.terms.environment == Environment::production);
  CHECK(found.terms.driver == DriverKind::http);
  CHECK(found.terms.flow == ConnectorFlow::bespoke);
  CHECK(found.terms.direction == Direction::on_ramp);
  CHECK(found.terms.method == PayMethod::momo);
  CHECK(found.terms.currency_decimals == 0);
  CHECK(found.terms.asset.code == file.usdc.code);
  CHECK(found.terms.asset.decimals == 7);
  CHECK(found.terms.rate->numerator == 2);
  CHECK(found.terms.rate->denominator == 3);
  CHECK(found.terms.fee.fixed == units(5));
  CHECK(found.terms.fee.basis_points == 25);
  CHECK(found.terms.day_limit == units(7));
  CHECK_FALSE(found.terms.month_limit);
  CHECK(found.terms.types == 0b0101);
  CHECK(found.terms.issues_references);
  CHECK(found.terms.status == ConnectorStatus::paused);
  CHECK(found.terms.endpoint->base_url == "https://provider.example");
  CHECK(found.terms.endpoint->timeout_ms == 1'500);
  CHECK(found.terms.endpoint->secret.empty());
  CHECK(found.sealed_secret == row.sealed_secret);
  file.read([&](Connection& db) {
    CHECK(find_connector(db, Environment::production, row.terms.id));
    CHECK_FALSE(find_connector(db, Environment::sandbox, row.terms.id));
    CHECK(find_connector_by_key(db, key)->terms.id == row.terms.id);
    CHECK_FALSE(find_connector_of_any(db, ConnectorId()));
    return 0;
  });
}

TEST_CASE("connectors: an update replaces the changeable values") {
  Providers file;
  const ConnectorRow before = file.row("One");
  file.add(before);
  ConnectorRow row = file.find(before.terms.id);
  row.terms.name = "not replaced";
  row.terms.rate = Rate{7, 1};
  row.terms.fee = {};
  row.terms.max_amount = units(5);
  row.terms.month_limit = units(50);
  row.terms.status = ConnectorStatus::paused;
  file.clock.advance_ms(10);
  REQUIRE(file.write([&](WriteTx& tx) { return update_connector(tx, row), done(); }));
  const ConnectorRow after = file.find(before.terms.id);
  CHECK(after.terms.name == "One");
  CHECK(after.terms.rate->numerator == 7);
  CHECK(after.terms.fee.fixed.is_zero());
  CHECK(after.terms.max_amount == units(5));
  CHECK(after.terms.month_limit == units(50));
  CHECK(after.terms.status == ConnectorStatus::paused);
  CHECK(after.updated_at == after.terms.created_at.plus_ms(10));
}

TEST_CASE("connectors: filters and pages, newest first") {
  Providers file;
  file.add(file.row("first"));
  ConnectorRow other = file.row("second");
  other.terms.country = "DE";
  other.terms.currency = "EUR";
  other.terms.asset = file.eurc;
  other.terms.direction = Direction::on_ramp;
  other.terms.method = PayMethod::bank;
  other.terms.flow = ConnectorFlow::bespoke;
  file.add(other);
  ConnectorRow elsewhere = file.row("production");
  elsewhere.terms.environment = Environment::production;
  file.add(elsewhere);
  CHECK(file.list({}) == Names{"second", "first"});
  CHECK(file.list({.country = "DE"}) == Names{"second"});
  CHECK(file.list({.direction = Direction::off_ramp}) == Names{"first"});
  CHECK(file.list({.method = PayMethod::bank}) == Names{"second"});
  CHECK(file.list({.asset = file.usdc.code}) == Names{"first"});
  CHECK(file.list({.flow = ConnectorFlow::quoted}) == Names{"first"});
  CHECK(file.list({.currency = "EUR"}) == Names{"second"});
  CHECK(file.list({}, {.limit = 1}) == Names{"second"});
  CHECK(file.list({}, {.key = 2, .limit = 5}) == Names{"first"});
  CHECK(file.list({}, {.key = 1, .backward = true, .limit = 5}) == Names{"second"});
  CHECK(file.list({}, {.limit = -1}).size() == 2);
  CHECK(file.read([](Connection& db) { return list_connectors_of_all(db).size(); }) == 3);
}

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

TEST_CASE("fee rows: exact match, replacement, and a zero fee") {
  Providers file;
  const ConnectorRow row = file.row("One");
  FeeRow fee{
      file.tenant.association, row.terms.id, file.add(row), TransactionType::b2b, {Amount(), 0}};
  const auto found = [&](TransactionType type) {
    return file.read([&](Connection& db) {
      return find_fee(db, file.tenant.association, fee.connector_key, type);
    });
  };
  CHECK_FALSE(found(TransactionType::b2b));
  REQUIRE(file.write([&](WriteTx& tx) { return put_fee(tx, fee), done(); }));
  REQUIRE(found(TransactionType::b2b));
  CHECK(found(TransactionType::b2b)->fixed.is_zero());
  CHECK_FALSE(found(TransactionType::b2c));
  fee.fee = {units(9), 1};
  REQUIRE(file.write([&](WriteTx& tx) { return put_fee(tx, fee), done(); }));
  CHECK(found(TransactionType::b2b)->fixed == units(9));
  const auto all = file.read([](Connection& db) { return list_fees(db); });
  REQUIRE(all.size() == 1);
  CHECK(all[0].connector == row.terms.id);
  CHECK(all[0].association == file.tenant.association);
  bool first = false, second = true;
  REQUIRE(file.write([&](WriteTx& tx) {
    first = delete_fee(tx, fee);
    second = delete_fee(tx, fee);
    return done();
  }));
  CHECK(first);
  CHECK_FALSE(second);
}

TEST_CASE("quotes: a quote belongs to its tenant and is used once") {
  Providers file;
  QuoteRow row = file.quote_row(file.add(file.row("One")));
  row.provider_reference = "q-1";
  const std::int64_t key = file.add(row);
  const auto found = [&] {
    return file.read([&](Connection& db) { return *find_quote(db, file.tenant, row.id); });
  };
  CHECK(found().key == key);
  CHECK(found().price.send == row.price.send);
  CHECK(found().price.receive == row.price.receive);
  CHECK(found().price.fee == row.price.fee);
  CHECK(found().price.total == row.price.total);
  CHECK(found().price.rate.denominator == 3);
  CHECK(found().type == TransactionType::b2c);
  CHECK(found().provider_reference == "q-1");
  CHECK_FALSE(found().beneficiary_id);
  file.read([&](Connection& db) {
    const Tenant production = *find_tenant(db, file.tenant.association, Environment::production);
    CHECK_FALSE(find_quote(db, production, row.id));
    return 0;
  });
  CHECK(found().status(row.expires_at.plus_ms(-1)) == QuoteStatus::open);
  CHECK(found().status(row.expires_at) == QuoteStatus::expired);
  const std::int64_t payment = file.pay(file.transfer("t-1", 10));
  REQUIRE(
      file.write([&](WriteTx& tx) { return use_quote(tx, file.tenant, key, payment), done(); }));
  CHECK(found().payment == payment);
  CHECK(found().status(row.expires_at) == QuoteStatus::used);
  const auto again =
      file.write([&](WriteTx& tx) { return use_quote(tx, file.tenant, key, payment), done(); });
  CHECK_FALSE(again);
  CHECK_FALSE(
      file.write([&](WriteTx& tx) { return expire_quote(tx, file.tenant, found()), done(); }));
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
