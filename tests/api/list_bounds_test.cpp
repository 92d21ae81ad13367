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
#include "store/lists/payment_walk.h"
#include "store/rows/key_walk.h"
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
      {"beneficiaryId", {"$recipient"}},  // of every second payment
      {"connectorId", {"$payouts", "$bespoke"}},
      {"customerId", {"bulk-77"}},
      {"reference", {"REF", "none", "HALF"}},  // HALF: of most of the others
      {"metadata", {"[k]=half", "[rare]=7"}},  // a key and its text
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

std::string given(std::string_view name, const std::string& value) {
  return "&" + std::string(name) + (value.starts_with('[') ? "" : "=") + value;
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
        out.emplace_back(query + given(parameter.name, value), used);
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
        "DELETE FROM metadata_terms WHERE payment > (SELECT p0 FROM c);"
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
        " completed_after, updated_after, beneficiary, connector, metadata)"
        " SELECT p0 + i, tenant, randomblob(16), 'bulk-' || i, application, 'bulk',"
        " CASE i % 2000 WHEN 3 THEN 1 WHEN 5 THEN 5 WHEN 8 THEN 3 ELSE 0 END,"
        " iif(i % 1000 = 7, 3, 2), 2 + " +
        processed +
        ", wallet, iif(i % 5000 = 9, pending, second), usdc, 1,"
        " iif(i % 2000 = 8, eurc, NULL), iif(i % 2000 = 8, 1, NULL),"
        " CASE WHEN i % 3000 = 1 THEN 'REF' WHEN i % 2 = 1 OR i % 3000 = 2 THEN 'HALF' END,"
        " iif(i % 1000 = 7, 0, NULL), t0 + i * 10,"
        " iif(" +
        processed +
        ", 0, NULL), 5, 5, iif(i % 2 = 0, recipient, NULL),"
        " iif(i % 2000 = 5, payouts, NULL), CASE WHEN i % 3000 = 1 THEN"
        " '{\"k\":\"half\",\"rare\":\"7\"}' WHEN i % 2 = 1 THEN '{\"k\":\"half\"}' END FROM n, c");
    for (const auto& [key, text, rows] :
         {std::tuple("k", "half", "i % 2 = 1"), std::tuple("rare", "7", "i % 3000 = 1")}) {
      edits_.run("INSERT INTO metadata_terms SELECT tenant, " +
                 std::to_string(store::metadata_term(key, text)) + ", p0 + i FROM n, c WHERE " +
                 rows);
    }
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

// Only an operator adds rows to these; json_each has those of one payment's metadata.
const std::vector<std::string> kSmall = {"tenants", "assets", "connectors", "t",
                                         "s",       "c",      "json_each"};

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

  Reply get(const api::Route& route, const std::string& query, int limit = 20) const {
    const Sample sample{"GET", sample_of(route).target, {}};
    return app.me().send({"GET",
                          with_query(filled(sample.target, names),
                                     "limit=" + std::to_string(limit) + filled(query, names)),
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

using Rows = std::vector<Json>;
using Filters = std::vector<std::pair<std::string, std::string>>;

struct Followed {
  Rows rows;  // in reading order
  int pages = 0;
  std::string last_page;  // its cursor
};

/// Follows the pages of a list to the end, like a client.
Followed follow(const World& world, const api::Route& route, const std::string& query,
                const char* way, std::string cursor = {}) {
  const bool backward = way == std::string_view("prevCursor");
  Followed out;
  do {
    REQUIRE(out.pages < 1'000);
    out.last_page = cursor;
    const Reply reply = world.get(route, query + cursor, 100);
    REQUIRE(reply.status == 200);
    const Json body = reply.json();
    CHECK(body.at("hasMore") == !body.at("nextCursor").is_null());
    Rows page = body.at("data").get<Rows>();
    if (backward) std::ranges::reverse(page);
    out.rows.insert(out.rows.end(), page.begin(), page.end());
    ++out.pages;
    cursor = cursor_of(reply, way);
  } while (!cursor.empty());
  return out;
}

std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> out;
  for (const Json& row : rows) out.push_back(row.at("id").get<std::string>());
  return out;
}

/// At most three random filters.
Filters some_filters(Random& random, const api::Route& route) {
  Filters out;
  for (const api::QueryParam& parameter : route.query) {
    if (!is_filter(parameter) || parameter.name == "sort" || out.size() == 3) continue;
    if (random.next_u64() % 4 != 0) continue;
    const Values values = values_of(parameter);
    out.emplace_back(parameter.name, values[random.next_u64() % values.size()]);
  }
  return out;
}

/// Whether one of these members of the record or of its legs has the value.
bool has_one(const Json& row, const std::string& value,
             std::initializer_list<const char*> members) {
  const auto in = [&](const Json& object) {
    return std::ranges::any_of(members, [&](const char* member) {
      return object.contains(member) && object.at(member) == value;
    });
  };
  const Json legs = row.value("legs", Json::array());
  return in(row) || std::ranges::any_of(legs, in);
}

/// Whether a record matches a filter of GET /v1/transactions
/// (docs/contract.md#transaction-records).
bool fits(const Json& row, const std::string& name, const std::string& value) {
  const auto at = [&](const char* member) {
    return *Timestamp::parse(row.at(member).get<std::string>());
  };
  if (name == "walletId") {
    return has_one(row, value, {"sourceWalletId", "destinationWalletId"});
  }
  if (name == "assetCode") return has_one(row, value, {"sendingAssetCode", "receivingAssetCode"});
  if (name == "reference") return has_one(row, value, {"fromRef", "toRef"});
  if (name == "metadata") {
    const auto equals = value.find("]=");
    const Json metadata = row.value("metadata", Json::object());
    return metadata.value(value.substr(1, equals - 1), "") == value.substr(equals + 2);
  }
  if (name == "createdFrom") return at("createdAt") >= *Timestamp::parse(value);
  if (name == "createdTo") return at("createdAt") < *Timestamp::parse(value);
  if (name == "updatedFrom") return at("updatedAt") >= *Timestamp::parse(value);
  return has_one(row, value, {name.c_str()});
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

TEST_CASE("lists: random combinations of filters give each match once, over short pages") {
  World world(10'000);
  const api::Route route = route_of("listTransactions");
  const Followed whole = follow(world, route, "", "nextCursor");
  REQUIRE(whole.rows.size() > 10'000);
  SeededRandom random(3);
  int short_pages = 0;
  std::size_t matches = 0;
  for (int round = 0; round < 20;) {
    // At first two filters that have many entries each, of which few match both.
    Filters filters{{"beneficiaryId", "$recipient"}, {"reference", "HALF"}};
    if (round > 0) filters = some_filters(random, route);
    Rows expected;
    std::ranges::copy_if(whole.rows, std::back_inserter(expected), [&](const Json& row) {
      return std::ranges::all_of(filters, [&](const auto& filter) {
        return fits(row, filter.first, filled(filter.second, world.names));
      });
    });
    if (expected.size() > 500) continue;  // takes long, and every page is full
    ++round;
    matches += expected.size();
    std::string query;
    for (const auto& [name, value] : filters) query += given(name, value);
    INFO(query);
    const Followed found = follow(world, route, query, "nextCursor");
    CHECK(names_of(found.rows) == names_of(expected));
    if (found.pages > 1 + static_cast<int>(expected.size()) / 100) ++short_pages;
    // In a list by change, the same records have another order.
    auto by_change = names_of(follow(world, route, query + "&sort=updatedAt", "nextCursor").rows);
    auto sorted = names_of(expected);
    std::ranges::sort(by_change);
    std::ranges::sort(sorted);
    CHECK(by_change == sorted);
  }
  // Controls.
  CHECK(short_pages > 0);
  CHECK(matches > 20);
}

TEST_CASE("lists: rare matches without an index are found over several pages, in both directions") {
  World world(30'000);
  for (const char* operation : {"listEvents", "listDeliveries"}) {
    INFO(operation);
    const api::Route route = route_of(operation);
    const bool rises = operation == std::string("listEvents");
    const std::string query = rises ? "&type=payment.processing" : "&eventType=payment.processing";
    const Followed forward = follow(world, route, query, "nextCursor");
    CHECK(forward.pages > 2);
    CHECK(forward.rows.size() >= 5);
    const auto sequence = [](const Json& row) { return row.at("sequence").get<std::int64_t>(); };
    CHECK((rises ? std::ranges::is_sorted(forward.rows, std::less<>(), sequence)
                 : std::ranges::is_sorted(forward.rows, std::greater<>(), sequence)));
    // From the last page back to the first.
    const Reply end = world.get(route, query + forward.last_page);
    const std::size_t rest = end.json().at("data").size();
    const Followed backward =
        follow(world, route, query, "prevCursor", cursor_of(end, "prevCursor"));
    Rows expected(forward.rows.begin(), forward.rows.end() - static_cast<std::ptrdiff_t>(rest));
    std::ranges::reverse(expected);
    CHECK(names_of(backward.rows) == names_of(expected));
  }
}

}  // namespace list_bounds_test
