// Compiled with a copy of the sources to which apply.py has added a wallet field `taxResidence`, a
// connector member `weekLimit`, an event `wallet.renamed`, a payment type `p2p_escrow` and a
// connector driver `swift`. Each must exist from the request to the OpenAPI document, and work on
// an upgraded file as on a new one.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include "api/about/openapi_tables.h"
#include "api/json/fields.h"
#include "api/json/json.h"
#include "embedded/embedded.h"
#include "flows/events.h"
#include "http/json_body.h"
#include "source_dir.h"
#include "store/operations/export.h"
#include "store/providers/connectors.h"
#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"
#include "store/schema.h"
#include "store/webhooks/events.h"
#include "support/unguarded.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;
using Json = nlohmann::ordered_json;

namespace {

const Timestamp kToday = *Timestamp::parse("2026-03-15T12:00:00Z");

Result<Metadata> metadata(const std::string& tax_residence) {
  const auto body = http::parse_json(R"({"entityType":"Person","firstName":"Amina",)"
                                     R"("lastName":"Otieno","dateOfBirth":"1990-02-28",)"
                                     R"("nationality":"KE","taxResidence":")" +
                                     tax_residence + "\"}");
  REQUIRE(body);
  ValidationErrors errors;
  api::Fields fields(*body, errors, "metadata.");
  TextMembers members;
  api::read_text(fields, "entityType", members);
  api::read_texts<PersonMetadata>(fields, members);
  REQUIRE(errors.empty());
  return validate_metadata(members, kToday);
}

std::string source(const std::string& path) {
  std::ifstream in(std::string(COFFER_SOURCE_DIR) + "/" + path, std::ios::binary);
  INFO(path);
  REQUIRE(in.good());
  return std::string(std::istreambuf_iterator<char>(in), {});
}

/// A connector of the driver that was added.
ConnectorRow connector(SmallLedger& ledger) {
  ConnectorRow row;
  row.terms.id = ledger.random.id<ConnectorId>(ledger.clock.now());
  row.terms.name = row.terms.provider = "Kestrel";
  row.terms.driver = parse_term<DriverKind>("swift").value();
  row.terms.country = "KE";
  row.terms.currency = "KES";
  row.terms.asset = ledger.usdc;
  row.terms.min_amount = row.terms.max_amount = Amount::from_units(7);
  row.terms.endpoint = ProviderEndpoint{"https://provider.example", Secret(), 1'500};
  row.endpoint_id = ledger.random.uuid_v7(ledger.clock.now());
  row.sealed_secret = "sealed";
  return row;
}

std::string guarded_fault(SmallLedger& ledger) {
  Connection db(ledger.folder.file(), OpenMode::read_only);
  use_keys(db, test_keys());
  return verify_guarded_rows(db);
}

/// As another program could.
void change(SmallLedger& ledger, const std::string& sql) {
  Connection db(ledger.folder.file(), OpenMode::read_write);
  coffer::test::change_unguarded(db, sql);
}

Json openapi(const std::string& name) { return Json::parse(source("web/openapi/" + name)); }

}  // namespace

TEST_CASE("recipe: a wallet field is parsed, validated, stored and shown") {
  const auto wrong = metadata("Atlantis");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().fields.at(0).field == "metadata.taxResidence");

  const auto given = metadata("ug");
  REQUIRE(given);
  SmallLedger ledger;
  const WalletId id = ledger.random.id<WalletId>(ledger.clock.now());
  REQUIRE(ledger.write([&](WriteTx& tx) -> Result<void> {
    WalletRow row;
    row.id = id;
    row.name = "Third party";
    row.account_number = "4000";
    row.public_key = "GTHIRD";
    row.sealed_seed = "sealed";
    row.asset = ledger.usdc.key;
    row.asset_code = ledger.usdc.code;
    row.metadata = *given;
    insert_wallet(tx, ledger.tenant, row);
    return {};
  }));
  const auto found =
      ledger.read([&](Connection& db) { return *find_wallet(db, ledger.tenant, id); });
  CHECK(found.metadata == *given);
  CHECK(api::wallet_json(found, "COFFER", {}).at("metadata").at("taxResidence") == "UGA");
  CHECK(guarded_fault(ledger).empty());
  change(ledger, "UPDATE wallet_metadata SET tax_residence = 'KEN'");
  CHECK(guarded_fault(ledger).find("wallet_metadata") == 0);
}

TEST_CASE("recipe: the export has the field") {
  const auto nouns = export_nouns();
  const auto wallets = std::find_if(nouns.begin(), nouns.end(),
                                    [](const ExportNoun& noun) { return noun.type == "wallet"; });
  REQUIRE(wallets != nouns.end());
  CHECK(std::any_of(wallets->columns.begin(), wallets->columns.end(),
                    [](const ExportColumn& column) { return column.name == "taxResidence"; }));
}

TEST_CASE("recipe: a connector member is stored, changed, guarded and exported") {
  SmallLedger ledger;
  ConnectorRow row = connector(ledger);
  const auto write = [&](const std::optional<Amount>& limit) {
    ConnectorChange().set<&ConnectorTerms::week_limit>(limit).apply_to(row.terms);
    REQUIRE(ledger.write(
        [&](WriteTx& tx) -> Result<void> { return update_connector(tx, row), Result<void>(); }));
    return ledger.read(
        [&](Connection& db) { return find_connector_of_any(db, row.terms.id)->terms; });
  };
  REQUIRE(ledger.write(
      [&](WriteTx& tx) -> Result<void> { return insert_connector(tx, row, {}), Result<void>(); }));
  row = ledger.read([&](Connection& db) { return *find_connector_of_any(db, row.terms.id); });
  CHECK_FALSE(row.terms.week_limit);
  const auto digest = [&] {
    return ledger.read([](Connection& db) {
      return scalar(db, "SELECT hex(mac) FROM row_macs WHERE source = 'connectors'");
    });
  };
  // Without a value, the digest is that of a row from before the upgrade.
  const std::string before = digest();
  CHECK(before == ledger.read([](Connection& db) {
    Query q(db,
            "SELECT connector, id, environment, name, provider, driver, flow, direction, method,"
            " country, currency, currency_decimals, asset, rate_numerator, rate_denominator,"
            " fee_fixed, fee_basis_points, tolerance_bps, min_amount, max_amount, day_limit,"
            " month_limit, transaction_types, issues_references, requirements_version, status"
            " FROM connectors");
    REQUIRE(q.step());
    std::string text = "connectors|" + std::to_string(q.integer(0)) + '|';
    append_canonical(q, 1, 25, text);
    return scalar(db, "SELECT hex(x'" + to_hex(as_text(test_keys()->rows.of(text))) + "')");
  }));
  CHECK(write(Amount::from_units(9)).week_limit == Amount::from_units(9));
  CHECK(digest() != before);
  CHECK(guarded_fault(ledger).empty());
  CHECK_FALSE(write(std::nullopt).week_limit);
  CHECK(digest() == before);
  write(Amount::from_units(9));
  change(ledger, "UPDATE connectors SET week_limit = 10");
  CHECK(guarded_fault(ledger).find("was changed") != std::string::npos);
  const auto nouns = export_nouns();
  const auto connectors = std::ranges::find(nouns, "connector", &ExportNoun::type);
  CHECK(std::ranges::find(connectors->columns, "weekLimit", &ExportColumn::name) !=
        connectors->columns.end());
}

TEST_CASE("recipe: a connector driver that calls out has a lane, and its rows are valid") {
  SmallLedger ledger;
  const ConnectorRow row = connector(ledger);
  CHECK(choices<DriverKind>() == "sandbox|http|swift");
  CHECK(drivers_that_call_out() == "http or swift");
  REQUIRE(ledger.write(
      [&](WriteTx& tx) -> Result<void> { return insert_connector(tx, row, {}), Result<void>(); }));
  const ConnectorTerms terms =
      ledger.read([&](Connection& db) { return find_connector_of_any(db, row.terms.id)->terms; });
  CHECK(terms.lane() == terms.key);
  CHECK(terms.is_priced_by_provider());
  CHECK(ledger.read([](Connection& db) { return keyed_verify(db); }).empty());
}

TEST_CASE("recipe: a file from before the field is upgraded") {
  TemporaryFolder folder;
  Connection db(folder.file(), OpenMode::read_write);
  const std::string before = source("schema.sql");
  const auto& steps = embedded::upgrades();
  REQUIRE(
      bring_schema_up_to_date(db, folder.file(), {before, steps.first(steps.size() - 1)}).fault ==
      OpenFault::none);
  const std::string columns =
      "SELECT (SELECT count(*) FROM pragma_table_info('wallet_metadata') WHERE name = "
      "'tax_residence')"
      " + (SELECT count(*) FROM pragma_table_info('connectors') WHERE name = 'week_limit')";
  CHECK(number(db, columns) == 0);
  CapturedLog log;
  REQUIRE(bring_schema_up_to_date(db, folder.file(), {embedded::schema_sql(), steps}).fault ==
          OpenFault::none);
  CHECK(log.has("step.sql"));
  CHECK(number(db, columns) == 2);
}

TEST_CASE("recipe: the OpenAPI document has the field and the event") {
  Json schemas = openapi("components.json").at("components").at("schemas");
  for (const char* noun : {"beneficiaries", "identity", "payments", "providers", "webhooks"}) {
    schemas.update(openapi("schemas/" + std::string(noun) + ".json"));
  }
  api::add_terms(schemas);
  api::add_text_properties(schemas);
  const Json& properties = schemas.at("PersonMetadata").at("properties");
  CHECK(properties.at("taxResidence").at("$ref") == "#/components/schemas/Country");
  CHECK(properties.at("taxResidence").at("description") == "Country where taxes are paid");
  const auto names = [&](const Json& types) {
    return std::find(types.begin(), types.end(), "wallet.renamed") != types.end();
  };
  CHECK(names(schemas.at("EventType").at("enum")));
  CHECK(names(schemas.at("EventTypeOrAll").at("enum")));
  CHECK(names(schemas.at("WalletEvent").at("properties").at("type").at("enum")));
  CHECK_FALSE(names(schemas.at("PaymentEvent").at("properties").at("type").at("enum")));
}

TEST_CASE("recipe: a payment type is parsed, offered and documented") {
  const auto type = parse_term<PaymentType>("p2p_escrow");
  REQUIRE(type);
  CHECK(name(*type) == "p2p_escrow");
  CHECK(choices<PaymentType>().ends_with("|p2p_escrow"));
  Json schemas = openapi("components.json").at("components").at("schemas");
  api::add_terms(schemas);
  const Json& types = schemas.at("TransactionType").at("enum");
  CHECK(std::find(types.begin(), types.end(), "p2p_escrow") != types.end());
}

TEST_CASE("recipe: an event is emitted by its type and found by its name") {
  SmallLedger ledger;
  REQUIRE(ledger.write([&](WriteTx& tx) -> Result<void> {
    flows::emit_event(tx, ledger.random, ledger.tenant.key, EventType::wallet_renamed,
                      ledger.first.key);
    return {};
  }));
  const auto type = parse_event_type("wallet.renamed");
  REQUIRE(type);
  CHECK_FALSE(EventTypeSet::payments().contains(*type));
  const auto events = ledger.read(
      [&](Connection& db) { return list_events(db, ledger.tenant, {type}, {.limit = 10}).rows; });
  REQUIRE(events.size() == 1);
  CHECK(name(events.front().type) == "wallet.renamed");
  CHECK(events.front().wallet == ledger.first.key);
  CHECK(events.front().wallet_status == WalletStatus::verified);
}
