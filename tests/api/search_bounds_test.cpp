// Searches and statements: a page reads a bounded number of rows, for any query and any number of
// rows. For the other lists, see list_bounds_test.cpp.
#include <catch2/catch.hpp>
#include <set>

#include "store/rows/key_walk.h"
#include "support/query_watch.h"
#include "support/sealed_edits.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace search_bounds_test {
namespace {

// A row costs up to about forty steps, and a page reads complete records.
constexpr std::int64_t kStepsMax = 40 * store::kRowsMax;
// Only an operator adds rows to these; `found` is made by its statement.
const std::vector<std::string> kSmall = {"tenants", "assets", "connectors", "t", "s", "c", "found"};

/// Beneficiaries in a served file: `Common FirstN` with the tags `even` and `odd`; twenty are
/// `early`. They are removed at the end, so that the invariants hold.
class ManyBeneficiaries {
 public:
  ManyBeneficiaries(const TestApp& app, int count) : edits_(app) {
    const std::string n =
        "WITH RECURSIVE n (i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < " +
        std::to_string(count + 999) + ")";
    const std::string tenant = "(SELECT tenant FROM applications WHERE tenant IS NOT NULL LIMIT 1)";
    std::string sql =
        n +
        "INSERT INTO beneficiaries (beneficiary, tenant, id, entity_type, company_name,"
        " created_at, updated_at) SELECT i, " +
        tenant +
        ", randomblob(16), 1, 'Common First' || i || ' ' ||"
        " iif(i < 1020, 'early', 'late'), 1, 1 FROM n;";
    for (const std::string term : {"'common'", "'first' || i", "iif(i < 1020, 'early', 'late')",
                                   "iif(i % 2 = 0, '#even', '#odd')"}) {
      sql += n + "INSERT INTO beneficiary_terms SELECT " + tenant + ", " + term + ", i FROM n;";
    }
    sql += n + "INSERT INTO beneficiary_tags SELECT i, 0, iif(i % 2 = 0, 'even', 'odd') FROM n;";
    edits_.run(sql);
  }
  ~ManyBeneficiaries() {
    edits_.run_unguarded(
        "DELETE FROM beneficiary_terms; DELETE FROM beneficiary_tags;"
        " DELETE FROM beneficiaries WHERE beneficiary >= 1000");
  }
  ManyBeneficiaries(const ManyBeneficiaries&) = delete;
  ManyBeneficiaries& operator=(const ManyBeneficiaries&) = delete;

 private:
  SealedEdits edits_;
};

void check_plans(const TestApp& app, const std::set<std::string>& statements) {
  store::Connection db(app.config().db, store::OpenMode::read_only);
  for (const std::string& sql : statements) {
    for (const std::string& fault : plan_faults(db, sql, kSmall))
      FAIL_CHECK(fault << "\n  " << sql);
  }
}

/// The steps of one request; its statements are added to `seen`.
std::int64_t steps(QueryWatch& watch, std::set<std::string>& seen) {
  const auto statements = watch.take();
  for (const auto& [sql, ignored] : statements) seen.insert(sql);
  return steps_of(statements);
}

}  // namespace

TEST_CASE("searches: no combination of words and tag reads more than its bound") {
  QueryWatch watch;  // before the connections
  TestApp app;
  const ManyBeneficiaries rows(app, 40'000);
  watch.take();
  std::set<std::string> seen;
  std::int64_t most = 0;
  for (const char* q :
       {"", "&q=common", "&q=f", "&q=first", "&q=first3", "&q=first39999", "&q=early", "&q=nothing",
        "&q=first+early", "&q=common+first+late", "&q=c+f+e+l", "&q=first+9", "&q=-",
        "&q=f+fi+fir+firs+first+c+co+com+comm", "&q=first1+first2+first3+first4"}) {
    for (const char* tag : {"", "&tag=even", "&tag=none"}) {
      const std::string target = std::string("/v1/beneficiaries?limit=20") + q + tag;
      std::string cursor;
      for (const char* way : {"nextCursor", "nextCursor", "prevCursor"}) {
        INFO(target << cursor);
        const Reply reply = app.me().get(target + cursor);
        REQUIRE(reply.status == 200);
        const std::int64_t done = steps(watch, seen);
        CHECK(done < kStepsMax);
        most = std::max(most, done);
        const Json next = reply.json().at(way);
        if (next.is_null()) break;
        cursor = "&cursor=" + next.get<std::string>();
      }
    }
  }
  // Control: there are enough rows that some page ends before it is full.
  CHECK(most > kStepsMax / 10);
  check_plans(app, seen);
}

TEST_CASE("searches: matches of frequent words are found over pages that end early") {
  TestApp app;
  const ManyBeneficiaries rows(app, 40'000);
  const auto found = [&](const std::string& query) {
    std::size_t rows_found = 0, pages = 0;
    std::string cursor;
    for (;; ++pages) {
      REQUIRE(pages < 1'000);
      const Json page = app.me().get("/v1/beneficiaries?limit=100" + query + cursor).json();
      rows_found += page.at("data").size();
      CHECK(page.at("hasMore") == !page.at("nextCursor").is_null());
      if (page.at("nextCursor").is_null()) return std::pair(rows_found, pages + 1);
      cursor = "&cursor=" + page.at("nextCursor").get<std::string>();
    }
  };
  // 40,000 different words begin with `first`: the search starts from the other word, or reads all.
  CHECK(found("&q=first+early") == std::pair<std::size_t, std::size_t>(20, 1));
  CHECK(found("&q=firs+40998+first40998").first == 0);
  CHECK(found("&q=first40998").first == 1);
  // first1000 to first1009, and first10000 to first10099.
  CHECK(found("&q=first100").first == 110);
  const auto [rows_found, pages] = found("&q=first+f&tag=none");
  CHECK((rows_found == 0 && pages == 1));
  CHECK(found("&q=f+first+c+early&tag=odd").first == 10);
  // Frequent words that no row combines: every page but the last ends early.
  const auto [none, walked] = found("&q=first1+first2+first3+first4");
  CHECK((none == 0 && walked > 1));
}

TEST_CASE(
    "statements: a page reads only its own lines, at any position of a statement of any length") {
  QueryWatch watch;
  TestApp app;
  const std::string first = app.wallet("USDC", "1000000");
  const std::string second = app.wallet("USDC");
  Json legs = Json::array();
  for (int i = 0; i < 50; ++i) {
    const bool there = i % 2 == 0;
    legs.push_back({{"sourceWalletId", there ? first : second},
                    {"destinationWalletId", there ? second : first},
                    {"sendingAssetCode", "USDC"},
                    {"amount", "1"}});
  }
  const std::string began = app.clock.now().to_string();
  std::string middle;
  for (int i = 0; i < 40; ++i) {
    app.clock.advance_ms(1'000);
    if (i == 20) middle = app.clock.now().to_string();
    const Json body{{"transactionId", "many-" + std::to_string(i)}, {"transfers", legs}};
    REQUIRE(app.me().post("/v1/payments/p2p/own/multi", body).status == 202);
    app.settle();
  }
  const std::string end = app.clock.now().plus_ms(1).to_string();
  const std::string base = "/v1/statements/transactions";
  const std::string query = "?walletId=" + first + "&assetCode=USDC";
  watch.take();
  std::set<std::string> seen;
  constexpr std::int64_t kStepsOfLine = 1'000;
  for (const auto& [from, to, lines] :
       {std::tuple(began, end, 2'001), std::tuple(middle, end, 1'000), std::tuple(end, end, 0)}) {
    const std::string range = query + "&startDate=" + from + "&endDate=" + to;
    for (const int limit : {1, 100}) {
      std::string cursor;
      for (int page = 0; page < 3; ++page) {
        INFO(range << " " << limit << " " << page);
        const Json reply =
            app.me().get(base + range + "&limit=" + std::to_string(limit) + cursor).json();
        // Finding the range and the balances at its ends takes a few dozen lookups.
        CHECK(steps(watch, seen) < 5'000 + limit * kStepsOfLine);
        if (reply.at("nextCursor").is_null()) break;
        cursor = "&cursor=" + reply.at("nextCursor").get<std::string>();
      }
    }
    for (const char* format : {"/csv", "/ndjson", "/camt.053"}) {
      INFO(format << range);
      REQUIRE(app.me().get(base + format + range).status == 200);
      CHECK(steps(watch, seen) < 10'000 + lines * kStepsOfLine);
    }
  }
  check_plans(app, seen);
}

}  // namespace search_bounds_test
