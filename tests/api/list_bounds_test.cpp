// Every list of the route table with every combination of its filters: for each page, SQLite starts
// at an index, sorts nothing, and does bounded work for any number of rows.
//
// The lists and their filters come from the route table, so a new filter is tested automatically,
// and one with a new schema fails until the test has values for it.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <set>

#include "route_samples.h"
#include "store/lists/key_walk.h"
#include "support/query_watch.h"
#include "support/sealed_edits.h"

using namespace coffer;
using namespace coffer::test;

namespace list_bounds_test {
namespace {

using Values = std::vector<std::string>;

/// Frequent and rare ones.
const std::map<std::string, Values, std::less<>>& values_of_schemas() {
  static const std::map<std::string, Values, std::less<>> all = {
      {"TransactionStatus", {"succeeded", "failed", "refunded"}},
      {"TransactionType", {"p2p_own", "swap_own"}},
      {"AssetCode", {"USDC", "EURC", "JPY"}},
      {"TransactionId", {"bulk-77"}},
      {"TransactionSort", {"updatedAt"}},
      {"WalletStatus", {"Verified", "Pending"}},
      {"WebhookStatus", {"active", "disabled"}},
      {"DeliveryStatus", {"delivered", "dead", "pending"}},
      {"EventType", {"payment.initiated", "payment.failed", "payment.refunded"}},
      {"Sequence", {"5000"}},
      {"Country", {"KE"}},
      {"CountryFilter", {"KE"}},
      {"ConnectorDirection", {"OFF_RAMP"}},
      {"PayMethodFilter", {"MOMO"}},
      {"ConnectorFlow", {"QUOTED"}}};
  return all;
}
const std::map<std::string, Values, std::less<>>& values_of_names() {
  static const std::map<std::string, Values, std::less<>> all = {
      {"walletId", {"$wallet", "$pending"}},
      {"beneficiaryId", {"$recipient"}},
      {"connectorId", {"$payouts", "$bespoke"}},
      {"customerId", {"bulk-77"}},
      {"reference", {"REF", "none"}},
      {"networkName", {"coffer-sandbox"}},
      {"createdFrom", {"$middle", "$start"}},
      {"createdTo", {"$middle"}},
      {"updatedFrom", {"$late", "$middle"}}};
  return all;
}

Values values_of(const api::QueryParam& parameter) {
  const auto by_name = values_of_names().find(parameter.name);
  if (by_name != values_of_names().end()) return by_name->second;
  const auto by_schema = values_of_schemas().find(parameter.schema);
  INFO("values for " << parameter.name << " of schema " << parameter.schema);
  REQUIRE(by_schema != values_of_schemas().end());
  return by_schema->second;
}

bool is_filter(const api::QueryParam& parameter) {
  return parameter.name != "limit" && parameter.name != "cursor";
}

/// Paged lists with filters. Beneficiaries, statements and short lists, which are read whole, have
/// separate tests.
std::vector<api::Route> lists() {
  constexpr std::array<std::string_view, 8> kShort = {
      "listAssets",           "listQuotas",       "listConnectAssets",
      "listConnectCountries", "listDestinations", "listConnectorsForBeneficiary",
      "listAssociations",     "getPaymentEnums"};
  std::vector<api::Route> out;
  for (const api::Route& route : api::routes()) {
    const auto is_cursor = [](const api::QueryParam& one) { return one.name == "cursor"; };
    const bool pages = std::any_of(route.query.begin(), route.query.end(), is_cursor) &&
                       std::find(kShort.begin(), kShort.end(), route.operation) == kShort.end();
    if (route.method == "GET" && pages && route.pattern != "/v1/beneficiaries" &&
        route.pattern != "/v1/statements/transactions") {
      out.push_back(route);
    }
  }
  return out;
}

api::Route route_of(std::string_view operation) {
  for (const api::Route& route : api::routes()) {
    if (route.operation == operation) return route;
  }
  throw std::runtime_error("no such operation");
}

/// All queries with at most `most` filters of a route, in all combinations of values.
std::vector<std::string> combinations(const api::Route& route, std::size_t most) {
  std::vector<std::pair<std::string, std::size_t>> out{{"", 0}};
  for (const api::QueryParam& parameter : route.query) {
    if (!is_filter(parameter)) continue;
    const auto before = out;
    for (const auto& [query, filters] : before) {
      // The order of a list is not a filter.
      const std::size_t used = filters + (parameter.name == "sort" ? 0 : 1);
      if (used > most) continue;
      for (const std::string& value : values_of(parameter)) {
        out.emplace_back(query + "&" + std::string(parameter.name) + "=" + value, used);
      }
    }
  }
  std::vector<std::string> queries;
  for (auto& [query, filters] : out) queries.push_back(std::move(query));
  return queries;
}

/// Adds rows of all kinds to a served file, mostly of one kind, and removes them at the end, so
/// that the invariants hold.
class ManyRows {
 public:
  ManyRows(const TestApp& app, const Names& names, int payments) : edits_(app) {
    const auto key = [&](const std::string& table, const std::string& column,
                         const std::string& name) {
      return "(SELECT " + column + " FROM " + table + " WHERE id = unhex(replace('" +
             names.at(name) + "', '-', '')) ORDER BY 1 DESC LIMIT 1) AS " + name;
    };
    store::Connection& db = edits_.db();
    db.execute(
        "CREATE TEMP TABLE c AS SELECT " + key("wallets", "wallet", "wallet") + ", " +
        key("wallets", "wallet", "second") + ", " + key("wallets", "wallet", "pending") + ", " +
        key("beneficiaries", "beneficiary", "recipient") + ", " +
        key("connectors", "connector", "payouts") + ", " +
        key("connectors", "connector", "bespoke") + ", " + key("webhooks", "webhook", "webhook") +
        ", (SELECT tenant FROM wallets w WHERE w.wallet = 1) AS tenant,"
        " (SELECT application FROM payments LIMIT 1) AS application,"
        " (SELECT asset FROM assets WHERE code = 'USDC') AS usdc,"
        " (SELECT asset FROM assets WHERE code = 'EURC') AS eurc,"
        " (SELECT max(payment) FROM payments) AS p0, (SELECT max(sequence) FROM events WHERE "
        "tenant = (SELECT tenant FROM wallets w"
        " WHERE w.wallet = 1)) AS s0,"
        " (SELECT max(wallet) FROM wallets) AS w0, (SELECT max(account) FROM accounts) AS a0,"
        " (SELECT max(onramp_reference) FROM onramp_references) AS r0,"
        " " +
        std::to_string(app.clock.now().ms) + " AS t0");
    db.execute(
        "CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1"
        " FROM n WHERE i < " +
        std::to_string(payments) + ") SELECT i FROM n");
    const std::int64_t last = store::first_integer(db, "SELECT p0 FROM c").value();
    add_payments();
    add_wallets();
    edits_.seal_payments_after(last);
  }
  ~ManyRows() {
    edits_.run(
        "DELETE FROM deliveries WHERE webhook = (SELECT webhook FROM c)"
        " AND sequence > (SELECT s0 FROM c);"
        "DELETE FROM events WHERE tenant = (SELECT tenant FROM c) AND sequence > (SELECT s0 FROM "
        "c);"
        "DELETE FROM provider_payments WHERE payment > (SELECT p0 FROM c);"
        "DELETE FROM payments WHERE payment > (SELECT p0 FROM c);"
        "DELETE FROM accounts WHERE account > (SELECT a0 FROM c);"
        "DELETE FROM wallets WHERE wallet > (SELECT w0 FROM c);"
        "DELETE FROM onramp_references WHERE onramp_reference > (SELECT r0 FROM c)");
  }
  ManyRows(const ManyRows&) = delete;
  ManyRows& operator=(const ManyRows&) = delete;

 private:
  /// Each has two events: of its end, and of its acceptance or, for a few, of its processing.
  void add_payments() {
    const std::string processed = "(i % 3000 = 1 OR i = 29999)";
    edits_.run(
        "INSERT INTO payments (payment, tenant, id, transaction_id, application, request_id, type,"
        " status, version, source_wallet, destination_wallet, sending_asset, sending_amount,"
        " receiving_asset, receiving_amount, from_ref, failure, created_at, processing_after,"
        " completed_after, updated_after, beneficiary, connector)"
        " SELECT p0 + i, tenant, randomblob(16), 'bulk-' || i, application, 'bulk',"
        " CASE i % 2000 WHEN 3 THEN 1 WHEN 5 THEN 5 WHEN 8 THEN 3 ELSE 0 END,"
        " iif(i % 1000 = 7, 3, 2), 2 + " +
        processed +
        ", wallet, iif(i % 5000 = 9, pending, second), usdc, 1,"
        " iif(i % 2000 = 8, eurc, NULL), iif(i % 2000 = 8, 1, NULL),"
        " iif(i % 3000 = 1, 'REF', NULL), iif(i % 1000 = 7, 0, NULL), t0 + i * 10,"
        " iif(" +
        processed +
        ", 0, NULL), 5, 5, iif(i % 2000 = 3, recipient, NULL),"
        " iif(i % 2000 = 5, payouts, NULL) FROM n, c");
    edits_.run(
        "INSERT INTO provider_payments (payment, fee, total, transaction_type, state)"
        " SELECT p0 + i, 0, 1, 2, 3 FROM n, c WHERE i % 2000 = 5");
    edits_.run(
        "INSERT INTO events (tenant, sequence, type, payment, version, at)"
        " SELECT tenant, s0 + 2 * i - 1, " +
        processed + ", p0 + i, 1 + " + processed + ", t0 + i * 10 FROM n, c");
    edits_.run(
        "INSERT INTO events (tenant, sequence, type, payment, version, at)"
        " SELECT tenant, s0 + 2 * i, iif(i % 1000 = 7, 3, 2), p0 + i, 2 + " +
        processed + ", t0 + i * 10 + 5 FROM n, c");
    edits_.run(
        "INSERT INTO deliveries (webhook, sequence, state, due_at, created_at, closed_at)"
        " SELECT webhook, s0 + i, iif(i % 5000 = 11, 2, 1), NULL, t0, t0 FROM n, c"
        " WHERE i % 4000 <> 12");
    edits_.run(
        "INSERT INTO deliveries (webhook, sequence, state, due_at, created_at)"
        " SELECT webhook, s0 + i, 0, t0 + 1000000000, t0 FROM n, c WHERE i % 4000 = 12");
  }
  void add_wallets() {
    edits_.run(
        "INSERT INTO wallets (wallet, tenant, id, name, account_number, public_key, sealed_seed,"
        " asset, own_account, status, created_at, updated_at)"
        " SELECT w0 + i, tenant, randomblob(16), 'Bulk', 'bulk-' || i,"
        " 'G' || replace(replace(replace(replace(printf('%055d', i), '0', 'A'), '1', 'B'), '8', "
        "'C'),"
        " '9', 'D'), x'00', usdc, "
        "1,"
        " iif(i % 4000 = 1, 0, 1), t0, t0 FROM n, c");
    edits_.run(
        "INSERT INTO accounts (account, tenant, kind, wallet, asset, created_at)"
        " SELECT a0 + i, tenant, 0, w0 + i, iif(i % 4000 = 2, eurc, usdc), t0 FROM n, c");
    edits_.run(
        "INSERT INTO onramp_references (onramp_reference, tenant, application, connector, wallet,"
        " customer_id, reference, has_metadata, created_at)"
        " SELECT r0 + i, tenant, application, iif(i % 4000 = 3, payouts, bespoke), wallet,"
        " 'bulk-' || i, 'bulk-' || i, 0, t0 FROM n, c");
  }

  SealedEdits edits_;
};

// Only an operator adds rows to these.
const std::vector<std::string> kSmall = {"tenants", "assets", "connectors", "t", "s", "c"};

class World {
 public:
  explicit World(int payments) {
    names["start"] = at(0);
    names["middle"] = at(payments * 5);
    names["late"] = at(payments * 10 - 1'000);
    rows = std::make_unique<ManyRows>(app, names, payments);
    watch.take();
  }
  ~World() { rows.reset(); }

  Reply get(const api::Route& route, const std::string& query) const {
    const Sample sample{"GET", sample_of(route).target, {}};
    return app.me().send(
        {"GET",
         with_query(filled(sample.target, names), "limit=20" + filled(query, names)),
         {},
         {}});
  }

  QueryWatch watch;  // before the connections
  TestApp app;
  Names names = belongings_of(app, app.me());
  std::unique_ptr<ManyRows> rows;

 private:
  std::string at(std::int64_t ms) const { return app.clock.now().plus_ms(ms).to_string(); }
};

std::string cursor_of(const Reply& reply, const char* member) {
  const Json cursor = reply.json().at(member);
  return cursor.is_null() ? std::string() : "&cursor=" + cursor.get<std::string>();
}

void check_plans(const World& world, const std::set<std::string>& statements) {
  store::Connection db(world.app.config().db, store::OpenMode::read_only);
  for (const std::string& sql : statements) {
    // The balances of one wallet: a row for each of its assets.
    if (sql.ends_with("WHERE a.wallet = ? ORDER BY a.account")) continue;
    for (const std::string& fault : plan_faults(db, sql, kSmall))
      FAIL_CHECK(fault << "\n  " << sql);
  }
}

}  // namespace

TEST_CASE("lists: every combination of filters starts at an index and sorts nothing") {
  World world(100);
  std::set<std::string> statements;
  std::size_t pages = 0;
  for (const api::Route& route : lists()) {
    for (const std::string& query : combinations(route, 3)) {
      INFO(route.pattern << query);
      const Reply reply = world.get(route, query);
      REQUIRE(reply.status == 200);
      if (const auto next = cursor_of(reply, "nextCursor"); !next.empty()) {
        const Reply second = world.get(route, query + next);
        REQUIRE(second.status == 200);
        REQUIRE(world.get(route, query + cursor_of(second, "prevCursor")).status == 200);
      }
      ++pages;
    }
    for (const auto& [sql, steps] : world.watch.take()) statements.insert(sql);
  }
  CHECK(pages > 1'000);
  CHECK(statements.size() > 40);
  check_plans(world, statements);
}

TEST_CASE("lists: a page is bounded, whatever is combined and however many rows there are") {
  World world(30'000);
  // Checking a row costs up to about thirty steps, and a page reads complete records.
  constexpr std::int64_t kStepsMax = 40 * store::kRowsMax;
  std::int64_t most = 0;
  for (const api::Route& route : lists()) {
    for (const std::string& query : combinations(route, 2)) {
      std::string cursor;
      for (const char* way : {"nextCursor", "nextCursor", "prevCursor"}) {
        INFO(route.pattern << query << cursor);
        const Reply reply = world.get(route, query + cursor);
        REQUIRE(reply.status == 200);
        const auto statements = world.watch.take();
        const std::int64_t steps = steps_of(statements);
        if (steps > kStepsMax) {
          for (const auto& [sql, one] : statements) UNSCOPED_INFO(one << " " << sql);
        }
        CHECK(steps <= kStepsMax);
        most = std::max(most, steps);
        cursor = cursor_of(reply, way);
        if (cursor.empty()) break;
      }
    }
  }
  // Control: there are enough rows that some page ends before it is full.
  CHECK(most > kStepsMax / 10);
}

TEST_CASE("lists: a rare reference is found immediately, in either order") {
  World world(30'000);
  const api::Route transactions = route_of("listTransactions");
  for (const char* sort : {"", "&sort=updatedAt"}) {
    const Reply reply = world.get(transactions, std::string("&reference=REF") + sort);
    REQUIRE(reply.status == 200);
    const Json body = reply.json();
    std::vector<int> numbers;
    for (const Json& row : body.at("data")) {
      numbers.push_back(std::stoi(row.at("transactionId").get<std::string>().substr(5)));
    }
    CHECK(numbers.size() == 10);
    CHECK(std::is_sorted(numbers.rbegin(), numbers.rend()));
    CHECK_FALSE(body.at("hasMore").get<bool>());
    CHECK(steps_of(world.watch.take()) < 20'000);
  }
}

TEST_CASE("lists: rare matches without an index are found over several pages, in both directions") {
  World world(30'000);
  for (const char* operation : {"listEvents", "listDeliveries"}) {
    INFO(operation);
    const api::Route route = route_of(operation);
    const std::string query = operation == std::string("listEvents")
                                  ? "&type=payment.processing"
                                  : "&eventType=payment.processing";
    const auto follow = [&](std::string cursor, const char* way) {
      std::vector<std::int64_t> sequences;
      for (int pages = 0; pages < 100; ++pages) {
        const Reply reply = world.get(route, query + cursor);
        REQUIRE(reply.status == 200);
        const Json body = reply.json();
        CHECK(body.at("hasMore") == !body.at("nextCursor").is_null());
        std::vector<std::int64_t> page;
        for (const Json& row : body.at("data")) {
          page.push_back(row.at("sequence").get<std::int64_t>());
        }
        if (std::string(way) == "prevCursor") std::reverse(page.begin(), page.end());
        sequences.insert(sequences.end(), page.begin(), page.end());
        const std::string next = cursor_of(reply, way);
        if (next.empty()) {
          CHECK(pages > 1);
          return std::pair(sequences, cursor);
        }
        cursor = next;
      }
      FAIL("no end");
      return std::pair(sequences, cursor);
    };
    auto [forward, last] = follow("", "nextCursor");
    CHECK(forward.size() >= 5);
    const bool rises = operation == std::string("listEvents");
    CHECK((rises ? std::is_sorted(forward.begin(), forward.end())
                 : std::is_sorted(forward.rbegin(), forward.rend())));
    // Repeats the last page and goes back to the first.
    const Reply end = world.get(route, query + last);
    const std::size_t rest = end.json().at("data").size();
    auto [backward, first] = follow(cursor_of(end, "prevCursor"), "prevCursor");
    std::reverse(backward.begin(), backward.end());
    forward.resize(forward.size() - rest);
    CHECK(backward == forward);
  }
}

}  // namespace list_bounds_test
