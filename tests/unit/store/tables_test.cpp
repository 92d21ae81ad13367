// schema.sql must match the tables in domain/: columns of text members, and the range of every enum
// with its names.
#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>
#include <set>
#include <string>

#include "domain/identity/four_eyes.h"
#include "domain/operations/alert.h"
#include "domain/operations/message.h"
#include "domain/parties/beneficiary.h"
#include "domain/payments/payment.h"
#include "domain/payments/refund.h"
#include "domain/providers/connector.h"
#include "domain/providers/provider_payment.h"
#include "domain/reconciliation/matching.h"
#include "domain/webhooks/webhook.h"
#include "embedded/embedded.h"
#include "store/file/connection.h"
#include "store/operations/export.h"
#include "store/rows/members.h"

using namespace coffer;
using namespace coffer::store;

namespace {

/// The lines between `CREATE TABLE name (` and the end of the statement.
std::string table_text(const std::string& name) {
  const std::string schema(embedded::schema_sql());
  const auto begin = schema.find("CREATE TABLE " + name + " (");
  REQUIRE(begin != std::string::npos);
  return schema.substr(begin, schema.find("STRICT", begin) - begin);
}

std::string column_text(const std::string& table, const std::string& column) {
  const std::string text = table_text(table);
  std::smatch found;
  REQUIRE(std::regex_search(text, found, std::regex("\n  " + column + " .*")));
  return found.str();
}

/// SQLite's result of a CHECK for a value.
bool allows(Connection& db, const std::string& check, const std::string& column, int value) {
  const std::string sql =
      "SELECT " + check + " FROM (SELECT " + std::to_string(value) + " AS " + column + ")";
  Query query(db, db.interned(sql));
  REQUIRE(query.step());
  return query.boolean(0);
}

template <class Enum>
void check_enum(Connection& db, const std::string& table, const std::string& column) {
  INFO(table << "." << column);
  const std::string line = column_text(table, column);
  std::smatch found;
  REQUIRE(std::regex_search(line, found, std::regex("CHECK (\\(.*\\))(,|  --|$)")));
  const int count = static_cast<int>(terms<Enum>().size());
  for (int value = -1; value <= count; ++value) {
    INFO(value);
    CHECK(allows(db, found.str(1), column, value) == (value >= 0 && value < count));
  }
}

void check_names(const std::string& table, const std::set<std::string>& expected) {
  INFO(table);
  std::set<std::string> found;
  const std::string text = table_text(table);
  const std::regex column("\n  ([a-z_0-9]+) +(INTEGER|TEXT|BLOB)");
  for (std::sregex_iterator it(text.begin(), text.end(), column), end; it != end; ++it) {
    found.insert((*it).str(1));
  }
  CHECK(found == expected);
}

template <class... Nouns>
void check_columns(const std::string& table, const std::set<std::string>& others) {
  std::set<std::string> expected = others;
  const auto add = [&](const TextFact& fact) { expected.emplace(fact.column); };
  (std::for_each(std::begin(TextFields<Nouns>::rows), std::end(TextFields<Nouns>::rows), add), ...);
  check_names(table, expected);
}

template <class Noun>
void check_members(const std::string& table, std::set<std::string> expected) {
  each_member<Noun>([&](const auto& row) {
    for (const std::string& name : names_of(row)) CHECK(expected.insert(name).second);
  });
  check_names(table, expected);
}

template <class... Nouns>
void check_exported(std::string_view type) {
  const auto nouns = export_nouns();
  const auto noun = std::find_if(nouns.begin(), nouns.end(),
                                 [&](const ExportNoun& one) { return one.type == type; });
  REQUIRE(noun != nouns.end());
  const auto check = [&](const TextFact& fact) {
    INFO(type << "." << fact.column);
    CHECK(std::any_of(noun->columns.begin(), noun->columns.end(), [&](const ExportColumn& column) {
      return column.expression == fact.column;
    }));
  };
  (std::for_each(std::begin(TextFields<Nouns>::rows), std::end(TextFields<Nouns>::rows), check),
   ...);
}

}  // namespace

TEST_CASE("tables: the text columns of the schema match the text members") {
  check_columns<PersonMetadata, BusinessMetadata>("wallet_metadata", {"wallet", "entity_type"});
  check_columns<Individual, Company>(
      "beneficiaries", {"beneficiary", "tenant", "id", "entity_type", "client_reference",
                        "created_at", "updated_at", "archived_at"});
  check_columns<Address>("beneficiary_addresses", {"beneficiary", "position"});
  check_columns<BankDetails, MobileMoneyDetails, CryptoDetails>(
      "destinations", {"destination", "beneficiary", "tenant", "id", "method", "country",
                       "currency", "label", "created_at", "archived_at"});
}

TEST_CASE("tables: the columns of the schema match the members") {
  check_members<ConnectorTerms>("connectors", {"connector", "created_at", "updated_at"});
  check_members<Requirement>("connector_requirements", {"connector", "position"});
}

TEST_CASE("tables: the export has a column for every text member") {
  check_exported<PersonMetadata, BusinessMetadata>("wallet");
  check_exported<Individual, Company>("beneficiary");
  check_exported<Address>("beneficiaryAddress");
  check_exported<BankDetails, MobileMoneyDetails, CryptoDetails>("destination");
}

TEST_CASE("tables: the CHECK of a column matches its enum") {
  Connection db(":memory:", OpenMode::read_write);
  check_enum<ApprovalState>(db, "approvals", "state");
  check_enum<WalletStatus>(db, "wallets", "status");
  check_enum<WalletStatus>(db, "events", "wallet_status");
  check_enum<EntityType>(db, "wallet_metadata", "entity_type");
  check_enum<EntityType>(db, "beneficiaries", "entity_type");
  check_enum<EntityType>(db, "associations", "entity_type");
  check_enum<DestinationMethod>(db, "destinations", "method");
  check_enum<DriverKind>(db, "connectors", "driver");
  check_enum<ConnectorFlow>(db, "connectors", "flow");
  check_enum<Direction>(db, "connectors", "direction");
  check_enum<PayMethod>(db, "connectors", "method");
  check_enum<ConnectorStatus>(db, "connectors", "status");
  check_enum<Requirement::Type>(db, "connector_requirements", "type");
  check_enum<TransactionType>(db, "fee_rows", "transaction_type");
  check_enum<TransactionType>(db, "quotes", "transaction_type");
  check_enum<TransactionType>(db, "provider_payments", "transaction_type");
  check_enum<DisableReason>(db, "webhooks", "disable_reason");
  check_enum<DeliveryState>(db, "deliveries", "state");
  check_enum<PaymentType>(db, "payments", "type");
  check_enum<PaymentStatus>(db, "payments", "status");
  check_enum<PaymentStatus>(db, "payments", "corrected_from");
  check_enum<OpenItem>(db, "provider_payments", "open_item");
  check_enum<RefundState>(db, "refunds", "state");
  check_enum<ProviderCall>(db, "provider_attempts", "call");
  check_enum<AlertCondition>(db, "alerts", "condition");
  check_enum<AlertKind>(db, "messages", "kind");
  check_enum<MessageChannel>(db, "messages", "channel");
  check_enum<MessageState>(db, "messages", "state");
  check_enum<StatementFormat>(db, "statement_files", "format");
  check_enum<LineState>(db, "bank_lines", "state");
  check_enum<MatchKind>(db, "bank_offers", "kind");
  check_enum<MatchRule>(db, "bank_offers", "rule");
  check_enum<MatchKind>(db, "bank_matches", "kind");
  check_enum<MatchRule>(db, "bank_matches", "rule");
}

TEST_CASE("tables: a CHECK with a different range is detected") {
  Connection db(":memory:", OpenMode::read_write);
  CHECK(allows(db, "(status BETWEEN 0 AND 2)", "status", 2));
  CHECK_FALSE(allows(db, "(status BETWEEN 0 AND 2)", "status", 3));
  CHECK_FALSE(allows(db, "(status IN (0, 1))", "status", 2));
}
