// Look-ups through indexes that another program changed: an index has no digest, so the row that
// was found must itself have the value that was looked for.
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "base/digest.h"
#include "flows/operations/file_keys.h"
#include "store/identity/approvals.h"
#include "store/identity/logins.h"
#include "store/identity/operators.h"
#include "store/identity/passkeys.h"
#include "store/identity/tenants.h"
#include "store/identity/users.h"
#include "store/ledger/catalog.h"
#include "store/ledger/journal.h"
#include "store/ledger/wallets.h"
#include "store/operations/payment_lists.h"
#include "store/parties/beneficiaries.h"
#include "store/payments/limits.h"
#include "store/payments/payments.h"
#include "store/payments/quotes.h"
#include "store/payments/refunds.h"
#include "store/providers/arrivals.h"
#include "store/providers/connectors.h"
#include "store/providers/references.h"
#include "store/reconciliation/bank_lines.h"
#include "store/reconciliation/bank_matches.h"
#include "store/rows/guarded_rows.h"
#include "store/webhooks/event_id.h"
#include "store/webhooks/webhooks.h"
#include "support/connectors.h"
#include "support/recipients.h"
#include "support/scenario.h"
#include "support/test_app.h"
#include "support/unguarded.h"

using namespace coffer;
using namespace coffer::test;
using store::Connection;

namespace foreign_indexes_test {
namespace {

/// Rows that are not made through the API, two of each.
constexpr const char* kMore =
    "INSERT INTO operators (operator, id, name, role, created_at, updated_at) VALUES"
    " (91, randomblob(16), 'ann', 0, 1, 1), (92, randomblob(16), 'bob', 2, 1, 1);"
    "INSERT INTO operator_subjects VALUES (91, 'https://i', 'ann'), (92, 'https://i', 'bob');"
    "INSERT INTO operator_links VALUES (randomblob(32), 91, 9), (randomblob(32), 92, 9);"
    "INSERT INTO operator_tokens (operator, hash, commands, networks, expires_at) VALUES"
    " (91, randomblob(32), '', '', 9), (92, randomblob(32), '', '', 9);"
    "INSERT INTO operator_passkeys (operator, credential, site, public_key, sign_count, name,"
    " created_at) VALUES (91, randomblob(16), 's', x'01', 0, 'n', 1),"
    " (92, randomblob(16), 's', x'01', 0, 'n', 1);"
    "INSERT INTO users (id, association, username, password_hash, sealed_otp, created_at,"
    " updated_at) SELECT randomblob(16), association, 'u' || association, 'x', x'00', 1, 1"
    " FROM associations;"
    "INSERT INTO refresh_tokens SELECT randomblob(32), randomblob(16), application, 1, 0, 9"
    " FROM applications;"
    "UPDATE applications SET old_until = 9, old_key_version = 1, old_client_secret_hash ="
    " randomblob(32), old_api_key_hash = randomblob(32), old_connect_hash = randomblob(32),"
    " old_sign_in_hash = randomblob(32);"
    "INSERT INTO fundings SELECT journal, 'funding ' || journal, 'x' FROM journal"
    " WHERE kind = 1 AND journal NOT IN (SELECT journal FROM fundings);"
    "INSERT OR IGNORE INTO rates VALUES (1, 1, 2, 1, 1, 1), (1, 2, 1, 2, 1, 1);"
    "INSERT INTO fee_rows SELECT association, (SELECT min(connector) FROM connectors), 0,"
    " association, 0, 1 FROM associations;"
    "INSERT INTO payment_limits (tenant, wallet, asset, per_day, since, created_at, updated_at)"
    " SELECT w.tenant, w.wallet, w.asset, w.wallet, 0, 1, 1 FROM wallets w WHERE w.tenant ="
    " (SELECT tenant FROM applications WHERE application = 1) LIMIT 2;"
    "INSERT INTO limit_use SELECT payment_limit, 0, 0, 0, 0, 0, 0 FROM payment_limits;"
    "INSERT INTO connector_endpoints (id, connector, base_url, sealed_secret, timeout_ms,"
    " created_at) SELECT randomblob(16), connector, 'https://' || connector, x'00', 1, 1"
    " FROM connectors;"
    "INSERT INTO unassigned_arrivals (id, connector, provider_payment_id, reference, amount,"
    " currency, payer_name, arrived_at) SELECT randomblob(16), connector, 'p' || connector, 'r',"
    " '1', 'KES', 'n', 1 FROM connectors;"
    "INSERT INTO refunds (payment, tenant, state, reason, at, connector, return_id, report)"
    " SELECT payment, tenant, 3, 'x', 1, (SELECT min(connector) FROM connectors), 'r' || payment,"
    " 'x' FROM payments LIMIT 2;"
    "INSERT INTO refunds (payment, tenant, state, reason, at, transaction_id, id, asked, held)"
    " SELECT payment, tenant, 3, 'x', 1, 'v' || payment, randomblob(16), 1, 1 FROM payments"
    " LIMIT 2;"
    "INSERT INTO statement_files (environment, connector, digest, format, lines, imported_at)"
    " SELECT 0, min(connector), randomblob(32), 0, 2, 1 FROM connectors;"
    "INSERT INTO bank_statements VALUES (1, 1, 0, '', '', 'KES', NULL, NULL, NULL, NULL);"
    "INSERT INTO bank_lines (id, statement_file, environment, connector, bank_statement, mark,"
    " account, booked_on, amount, charges, currency, bank_reference, reference, text, party_name,"
    " party_account, code, imported_at) SELECT randomblob(16), 1, 0, connector, 1, randomblob(16),"
    " 'a', connector, 1, 0, 'KES', '', '', '', '', '', '', connector FROM connectors;"
    "INSERT INTO bank_matches (bank_line, kind, payment, rule, actor, at) SELECT l.bank_line, 0,"
    " (SELECT min(payment) + l.bank_line % 2 FROM payments), 1, 'x', 1 FROM bank_lines l;"
    "UPDATE bank_lines SET state = 2;";

std::string blob(Connection& db, const std::string& sql) {
  store::Query query(db, db.interned("SELECT " + sql));
  REQUIRE(query.step());
  REQUIRE_FALSE(query.is_null(0));
  return query.blob(0);
}
std::int64_t number(Connection& db, const std::string& sql) { return std::stoll(blob(db, sql)); }
template <class IdType>
IdType id(Connection& db, const std::string& table) {
  IdType out;
  const std::string bytes = blob(db, "id FROM " + table + " ORDER BY rowid LIMIT 1");
  std::copy(bytes.begin(), bytes.end(), out.uuid.bytes.begin());
  return out;
}

using Find = std::function<bool(Connection&)>;

/// Two of everything, in a copy of the file.
struct World {
  TestApp app;
  std::string path;
  Tenant tenant;

  World() {
    const Client& me = app.me();
    const Client other = app.stranger();
    const std::string from = app.wallet("USDC", "1000");
    const std::string to = other.wallet("USDC", "1000");
    app.rate("USDC", "EURC", "1");
    app.rate("EURC", "USDC", "2");
    for (const Client* client : {&me, &other}) {
      const std::string payout = add_connector(app, payout_connector());
      quote_for(*client, payout, add_recipient(*client), "10");
      flows::NewConnector bespoke = collection_connector();
      bespoke.terms.flow = ConnectorFlow::bespoke;
      bespoke.terms.issues_references = true;
      const std::string collects = add_connector(app, bespoke);
      const std::string wallet = client == &me ? from : to;
      const Json account = client->get("/v1/wallets/" + wallet).json().at("publicKey");
      const Reply made = client->post(
          "/v1/onramp/references",
          {{"connectorId", collects}, {"settlementAccount", account}, {"customerId", "c"}});
      INFO(made.text());
      REQUIRE(made.status == 201);
      REQUIRE(client
                  ->post("/v1/webhooks", {{"url", "https://hooks.example.com/"},
                                          {"eventTypes", {"payment.failed"}}})
                  .status == 201);
      const std::string own = client->wallet("USDC");
      client->transfer(wallet, own, "1");
    }
    path = app.config().db + ".copy";
    Connection(app.config().db, store::OpenMode::read_write)
        .execute("PRAGMA wal_checkpoint(TRUNCATE)");
    std::filesystem::copy_file(app.config().db, path);
    Connection db(path, store::OpenMode::read_write);
    REQUIRE(flows::use_chain_keys(app.flows().sealer, db));
    store::note_changed_rows(db, path);
    db.execute("PRAGMA foreign_keys = OFF; BEGIN");
    change_unguarded(db, kMore);
    store::write_row_digests(db);
    db.execute("COMMIT");
    tenant = store::find_application_by_key(db, 1).value().tenant.value();
  }

  /// The names of the indexes of `table`, by their columns: "accounts(wallet, asset)".
  std::map<std::string, std::string> indexes(const std::string& table) const {
    Connection db(path, store::OpenMode::read_only);
    std::map<std::string, std::string> out;
    store::Query list(db,
                      "SELECT l.name, (SELECT group_concat(ifnull(i.name, '?'), ', ')"
                      " FROM pragma_index_info(l.name) i), l.partial"
                      " FROM pragma_index_list(?1) l",
                      table);
    while (list.step()) {
      const std::string where = list.boolean(2) ? " partly" : "";
      out.emplace(table + '(' + list.text(1) + ')' + where, list.text(0));
    }
    return out;
  }

  /// Each entry of the index leads to the row of the entry before it.
  void rotate(const std::string& index) const {
    Connection db(path, store::OpenMode::read_write);
    const std::int64_t columns =
        number(db, "count(*) FROM pragma_index_xinfo('" + index + "')") - 1;
    std::string keys;
    std::string given = " WHERE true";  // a table WITHOUT ROWID rejects NULL
    for (std::int64_t i = 0; i < columns; ++i) {
      keys += 'c' + std::to_string(i) + ", ";
      given += " AND typeof(c" + std::to_string(i) + ") <> 'null'";
    }
    const std::string root = blob(db, "rootpage FROM sqlite_schema WHERE name = '" + index + "'");
    db.execute(
        "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES ('table', 'b_tree',"
        " 'b_tree', " +
        root + ", 'CREATE TABLE b_tree (" + keys + "row, PRIMARY KEY (" + keys +
        "row)) WITHOUT ROWID'); PRAGMA writable_schema = RESET");
    db.execute("CREATE TEMP TABLE turned AS SELECT " + keys +
               "ifnull(lag(row) OVER (ORDER BY row), (SELECT max(row) FROM b_tree" + given +
               ")) AS row FROM b_tree" + given + "; DELETE FROM b_tree" + given +
               "; INSERT INTO b_tree SELECT * FROM turned");
    db.execute(
        "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'b_tree';"
        " PRAGMA writable_schema = RESET");
  }
  void restore(const std::string& index) const {
    Connection(path, store::OpenMode::read_write).execute("REINDEX " + index);
  }
};

/// Indexes that only order, list or count rows, reject duplicates, or lead to rows that are deleted
/// or that a look-up through another index has checked.
const std::set<std::string> kOthers{
    "applications(rotated_at) partly",
    "operator_passkeys(operator)",
    "operator_links(operator)",
    "operator_recovery_codes(operator, hash)",
    "approvals(id)",
    "approvals(expires_at) partly",
    "refresh_tokens(family)",
    "refresh_tokens(expires_at)",
    "wallets(account_number)",
    "wallets(tenant)",
    "wallets(status) partly",
    "accounts(tenant, asset, wallet) partly",
    "accounts(tenant, kind, asset, ?) partly",
    "beneficiaries(tenant) partly",
    "beneficiary_addresses(beneficiary, position)",
    "destinations(id) partly",
    "connectors(environment)",
    "connector_endpoints(id)",
    "connector_endpoints(connector, base_url)",
    "connector_requirements(connector, position)",
    "connector_requirements(connector, name)",
    "connector_choices(connector, position, choice)",
    "webhooks(tenant)",
    "webhooks(webhook) partly",
    "webhooks(disable_reason) partly",
    "webhook_recoveries(webhook, next)",
    "messages(id)",
    "messages(alert, channel) partly",
    "messages(due_at) partly",
    "messages(message) partly",
    "messages(state) partly",
    "onramp_references(tenant, connector) partly",
    "onramp_references(related_to) partly",
    "quotes(payment)",
    "unassigned_arrivals(payment)",
    "unassigned_arrivals(arrival) partly",
    "quota_limits(tenant, quota)",
    "bank_lines(environment, mark)",
    "bank_lines(state)",
    "bank_lines(imported_at) partly",
    "bank_lines(environment, booked_on)",
    "bank_lines(replaces) partly",
    "bank_statements(statement_file, position)",
    "statement_files(environment, digest)",
    "bank_matches(undoes)",
    "refunds(journal)",
    "refunds(payment) partly",
};

/// A column of the first row.
std::string text_of(Connection& db, const std::string& column, const std::string& table) {
  return blob(db, column + " FROM " + table + " ORDER BY rowid LIMIT 1");
}
std::int64_t key_of(Connection& db, const std::string& column, const std::string& table) {
  return std::stoll(text_of(db, column, table));
}
Sha256 hash_of(Connection& db, const std::string& column, const std::string& table) {
  Sha256 out;
  const std::string bytes = text_of(db, column, table);
  std::copy(bytes.begin(), bytes.end(), out.begin());
  return out;
}

using Finds = std::map<std::string, Find>;
#define FINDS(...) [=](Connection& file) { return bool(__VA_ARGS__); }

Finds identity_lookups(Connection& db) {
  const auto association = id<AssociationId>(db, "associations");
  const auto application = id<ApplicationId>(db, "applications");
  const auto operator_id = id<OperatorId>(db, "operators");
  const auto user = id<UserId>(db, "users");
  const auto client_id = text_of(db, "client_id", "applications");
  const auto api_key = hash_of(db, "api_key_hash", "applications");
  const auto old_api_key = hash_of(db, "old_api_key_hash", "applications");
  const auto connect = hash_of(db, "connect_hash", "applications");
  const auto old_connect = hash_of(db, "old_connect_hash", "applications");
  const auto application_key = text_of(db, "public_key", "applications");
  const auto link = text_of(db, "hash", "operator_links");
  const auto bearer = text_of(db, "hash", "operator_tokens");
  const auto credential = text_of(db, "credential", "operator_passkeys");
  const auto token = hash_of(db, "hash", "refresh_tokens");
  const auto username = text_of(db, "username", "users");
  return {
      {"meta(name)",
       [](Connection& file) {
         store::require_intact_meta(file, store::kEventIdKey);
         return true;
       }},
      {"tenants(association, environment)",
       FINDS(store::find_tenant(file, association, Environment::sandbox))},
      {"associations(id)", FINDS(store::find_association(file, association))},
      {"applications(id)", FINDS(store::find_application(file, application))},
      {"applications(client_id)", FINDS(store::find_application_by_client_id(file, client_id))},
      {"applications(api_key_hash)", FINDS(store::find_application_by_api_key(file, api_key))},
      {"applications(old_api_key_hash) partly",
       FINDS(store::find_application_by_api_key(file, old_api_key))},
      {"applications(connect_hash)",
       FINDS(store::find_application_by_connect_secret(file, connect))},
      {"applications(old_connect_hash) partly",
       FINDS(store::find_application_by_connect_secret(file, old_connect))},
      {"applications(public_key)",
       FINDS(store::find_application_by_public_key(file, application_key))},
      {"operators(id)", FINDS(store::find_operator(file, operator_id))},
      {"operators(name)", FINDS(store::find_operator_by_name(file, "ann"))},
      {"operator_subjects(issuer, subject)",
       FINDS(store::find_operator_by_subject(file, "https://i", "ann"))},
      {"operator_links(hash)", FINDS(store::find_operator_link(file, link))},
      {"operator_tokens(hash)", FINDS(store::find_operator_token(file, bearer))},
      {"operator_passkeys(credential)", FINDS(store::find_passkey(file, credential))},
      {"users(id)", FINDS(store::find_user(file, user))},
      {"users(username)", FINDS(store::find_user_by_username(file, username))},
      {"refresh_tokens(hash)", FINDS(store::find_refresh_token(file, token))},
  };
}

Finds ledger_lookups(Connection& db, const Tenant& tenant) {
  const auto wallet = id<WalletId>(db, "wallets");
  const auto quote = id<QuoteId>(db, "quotes");
  const auto payment = id<PaymentId>(db, "payments");
  const auto code = AssetCode::parse(text_of(db, "code", "assets")).value();
  const auto public_key = text_of(db, "public_key", "wallets");
  const auto wallet_key = key_of(db, "wallet", "accounts WHERE wallet IS NOT NULL");
  const auto asset_key = key_of(db, "asset", "accounts WHERE wallet IS NOT NULL");
  const auto funding = text_of(db, "transaction_id", "fundings WHERE transaction_id IS NOT NULL");
  const auto transaction = text_of(db, "transaction_id", "payments");
  const auto refunded = key_of(db, "payment", "refunds");
  const auto return_id = text_of(db, "return_id", "refunds WHERE return_id IS NOT NULL");
  const auto returned_by = key_of(db, "connector", "refunds WHERE return_id IS NOT NULL");
  const std::string own = "refunds WHERE transaction_id IS NOT NULL AND tenant = ";
  const auto limited = key_of(db, "wallet", "payment_limits");
  const auto limited_asset = key_of(db, "asset", "payment_limits");
  const auto refund = id<RefundId>(db, "refunds WHERE id IS NOT NULL");
  const auto reversal = text_of(db, "transaction_id", own + std::to_string(tenant.key));
  return {
      {"assets(code)", FINDS(store::find_asset(file, code))},
      {"rates(environment, sell, buy)",
       [](Connection& file) {
         store::require_intact_rate(file, Environment::production, 1, 2);
         return true;
       }},
      {"wallets(id)", FINDS(store::find_wallet_brief(file, tenant, wallet))},
      {"wallets(public_key)", FINDS(store::find_address(file, Environment::sandbox, public_key))},
      {"accounts(wallet, asset) partly", FINDS(store::find_trustline(file, wallet_key, asset_key))},
      {"fundings(transaction_id)", FINDS(store::find_funding(file, funding))},
      {"quotes(id)", FINDS(store::find_quote(file, tenant, quote))},
      {"refunds(payment)", FINDS(!store::refunds_of(file, refunded).empty())},
      {"refunds(id)", FINDS(store::payment_of_refund(file, refund))},
      {"refunds(connector, return_id) partly",
       FINDS(store::find_return(file, returned_by, return_id))},
      {"refunds(tenant, transaction_id) partly",
       FINDS(store::find_reversal(file, tenant, reversal))},
      {"payment_limits(tenant, ?, ?, asset)",
       FINDS(store::find_limit(file, {tenant.key, {}, limited, limited_asset}))},
      {"payments(id)", FINDS(store::payment_key(file, payment))},
      {"payments(tenant, transaction_id)",
       FINDS(store::find_by_transaction_id(file, tenant, transaction))},
  };
}

Finds party_lookups(Connection& db, const Tenant& tenant) {
  const auto association = id<AssociationId>(db, "associations");
  const auto beneficiary = id<BeneficiaryId>(db, "beneficiaries");
  const auto beneficiary_key = key_of(db, "beneficiary", "destinations");
  const auto destination = id<DestinationId>(db, "destinations");
  const auto connector = id<ConnectorId>(db, "connectors");
  const auto fee_connector = key_of(db, "connector", "fee_rows");
  const auto webhook = id<WebhookId>(db, "webhooks");
  const auto reference = text_of(db, "reference", "onramp_references");
  const auto issuer = key_of(db, "connector", "onramp_references");
  const store::ReferenceFilter of_customer{
      id<ConnectorId>(db, "connectors WHERE connector = " + std::to_string(issuer)), "c"};
  const auto references = [=](Connection& file) {
    return !store::list_references(file, tenant, of_customer, {.limit = 1}).rows.empty();
  };
  const auto line = id<BankLineId>(db, "bank_lines");
  const auto line_key = key_of(db, "bank_line", "bank_matches");
  const auto matched = key_of(db, "payment", "bank_matches");
  const auto arrival = id<ArrivalId>(db, "unassigned_arrivals");
  const auto arrival_connector = key_of(db, "connector", "unassigned_arrivals");
  const auto arrival_payment = text_of(db, "provider_payment_id", "unassigned_arrivals");
  return {
      {"beneficiaries(id)", FINDS(store::find_quote_party(file, tenant, beneficiary))},
      {"destinations(id)", FINDS(store::find_destination(file, tenant, destination))},
      {"destinations(beneficiary) partly",
       FINDS(!store::quote_destinations(file, beneficiary_key).empty())},
      {"connectors(id)", FINDS(store::find_connector_of_any(file, connector))},
      {"connector_endpoints(connector) partly",
       FINDS(store::find_connector_of_any(file, connector))},
      {"webhooks(id)", FINDS(store::find_webhook(file, tenant, webhook))},
      {"fee_rows(association, connector, transaction_type)",
       FINDS(store::find_fee(file, association, fee_connector, TransactionType{}))},
      {"onramp_references(connector, reference)",
       FINDS(store::find_reference(file, issuer, reference))},
      {"onramp_references(tenant, connector, customer_id) partly", references},
      {"onramp_reference_metadata(onramp_reference, name)", references},
      {"bank_lines(id)", FINDS(store::find_bank_line(file, line))},
      {"bank_matches(bank_line)", FINDS(!store::matches_of_line(file, line_key).empty())},
      {"bank_matches(payment)", FINDS(store::is_matched(file, {MatchKind::payment, matched}))},
      {"unassigned_arrivals(id)", FINDS(store::find_arrival(file, arrival))},
      {"unassigned_arrivals(connector, provider_payment_id)",
       FINDS(!store::find_arrivals(file, arrival_connector, arrival_payment).empty())},
  };
}
#undef FINDS

/// By index, the look-up through it.
Finds lookups(const World& world) {
  Connection db(world.path, store::OpenMode::read_only);
  Finds out = identity_lookups(db);
  out.merge(ledger_lookups(db, world.tenant));
  out.merge(party_lookups(db, world.tenant));
  return out;
}

/// 'found', 'nothing' or 'refused'.
std::string result_of(const World& world, const Find& find) {
  Connection db(world.path, store::OpenMode::read_only);
  // The keys of the file are rows of `meta`.
  if (!flows::use_chain_keys(world.app.flows().sealer, db)) return "refused";
  try {
    return find(db) ? "found" : "nothing";
  } catch (const store::ForeignChange&) {
    return "refused";
  }
}

}  // namespace

TEST_CASE("no look-up acts on a row to which another program pointed an index") {
  const World world;
  const auto finds = lookups(world);
  std::set<std::string> untested = kOthers;
  std::vector<std::string> tables{"payments"};
  for (const store::GuardedTable& table : store::guarded_tables()) {
    tables.emplace_back(table.name);
  }
  for (const std::string& table : tables) {
    for (const auto& [columns, index] : world.indexes(table)) {
      INFO(columns);
      untested.erase(columns);
      const auto find = finds.find(columns);
      if (table != "payments") CHECK((find != finds.end()) != kOthers.contains(columns));
      if (find == finds.end()) continue;
      CHECK(result_of(world, find->second) == "found");
      world.rotate(index);
      CHECK(result_of(world, find->second) != "found");
      world.restore(index);
    }
  }
  CHECK(untested == std::set<std::string>{});
}

}  // namespace foreign_indexes_test
