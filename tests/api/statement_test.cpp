// GET /v1/statements/transactions: every balance movement of a wallet in one asset, oldest first.
#include <catch2/catch.hpp>
#include <set>

#include "flows/ledger/wallet_changes.h"
#include "store/identity/tenants.h"
#include "support/connectors.h"
#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace statement_test {
namespace {

using List = std::vector<std::string>;

std::string target(const std::string& wallet, const std::string& asset = "USDC",
                   const std::string& more = {}, const std::string& start = "2026-01-01",
                   const std::string& end = "2026-02-01") {
  return "/v1/statements/transactions?walletId=" + wallet + "&assetCode=" + asset +
         "&startDate=" + start + "&endDate=" + end + more;
}

/// A wallet that is funded with 100 at second 0 and pays 1, 2, 3 ... at the seconds after.
struct World {
  TestApp app;
  std::string from = app.wallet("USDC", "100");
  std::string to = app.wallet("USDC");

  explicit World(int payments = 3) {
    for (int i = 1; i <= payments; ++i) {
      app.clock.advance_ms(1'000);
      app.me().transfer(from, to, std::to_string(i));
      app.settle();
    }
  }
  Json read(const std::string& at) {
    const Reply reply = app.me().get(at);
    INFO(reply.text());
    REQUIRE(reply.status == 200);
    return reply.json();
  }
  /// One member of every line.
  List column(const std::string& at, const char* name) {
    return member_of_each(read(at).at("data").get<std::vector<Json>>(), name);
  }
};

}  // namespace

TEST_CASE("the lines of a statement add up from the opening to the closing balance") {
  World world;
  const Json statement = world.read(target(world.from));
  CHECK(statement.at("walletId") == world.from);
  CHECK(statement.at("assetCode") == "USDC");
  CHECK(statement.at("startDate") == "2026-01-01T00:00:00.000Z");
  CHECK(statement.at("endDate") == "2026-02-01T00:00:00.000Z");
  CHECK(statement.at("openingBalance") == "0.00");
  CHECK(statement.at("closingBalance") == "94.00");
  CHECK(statement.at("hasMore") == false);
  CHECK(statement.at("nextCursor").is_null());
  const auto lines = statement.at("data").get<std::vector<Json>>();
  CHECK(member_of_each(lines, "amount") == List{"100.00", "-1.00", "-2.00", "-3.00"});
  CHECK(member_of_each(lines, "runningBalance") == List{"100.00", "99.00", "97.00", "94.00"});
  CHECK(member_of_each(lines, "direction") == List{"credit", "debit", "debit", "debit"});
  CHECK(member_of_each(lines, "at") == List{"2026-01-01T00:00:00.000Z", "2026-01-01T00:00:01.000Z",
                                            "2026-01-01T00:00:02.000Z",
                                            "2026-01-01T00:00:03.000Z"});
  CHECK(world.column(target(world.to), "runningBalance") == List{"1.00", "3.00", "6.00"});
}

TEST_CASE("each side sees its own reference and the other side's name") {
  TestApp app;
  const Client& me = app.me();
  const std::string from = app.wallet("USDC", "10"), to = app.wallet("USDC");
  me.put("/v1/wallets/" + from, {{"walletName", "Payer"}});
  me.put("/v1/wallets/" + to, {{"walletName", "Payee"}});
  Json body = transfer_body(from, to, "1");
  body["fromRef"] = "OUT-1";
  body["toRef"] = "IN-1";
  body["description"] = "Rent, January";
  const std::string id = me.pay("/v1/payments/p2p/own", body);
  app.settle();
  const Json debit = me.get(target(from)).json().at("data")[1];
  CHECK(debit.at("reference") == "OUT-1");
  CHECK(debit.at("description") == "Rent, January");
  CHECK(debit.at("counterparty") == "Payee");
  CHECK(debit.at("transactionRecordId") == id);
  const Json credit = me.get(target(to)).json().at("data")[0];
  CHECK(credit.at("reference") == "IN-1");
  CHECK(credit.at("description") == "Rent, January");
  CHECK(credit.at("counterparty") == "Payer");
  CHECK(credit.at("transactionRecordId") == id);
  // A funding is not a payment.
  const Json funding = me.get(target(from)).json().at("data")[0];
  CHECK(funding.at("transactionRecordId").is_null());
  CHECK(funding.at("reference").is_null());
  CHECK(funding.at("description").is_null());
}

TEST_CASE("a payment without references and title has none in the statement") {
  World world(1);
  const Json line = world.read(target(world.to)).at("data")[0];
  CHECK(line.at("reference").is_null());
  CHECK(line.at("description").is_null());
}

TEST_CASE("every leg of a multi-transfer is a line with its own texts") {
  TestApp app;
  const std::string a = app.wallet("USDC", "10"), b = app.wallet("USDC");
  Json body =
      multi_body({transfer_body(a, b, "3"), transfer_body(b, a, "1"), transfer_body(a, b, "2")});
  body["transfers"][0]["fromRef"] = "LEG-0";
  body["transfers"][1]["toRef"] = "LEG-1";
  body["transfers"][2]["description"] = "Third";
  app.me().pay("/v1/payments/p2p/own/multi", body);
  app.settle();
  const Json lines = app.me().get(target(a)).json().at("data");
  REQUIRE(lines.size() == 4);
  CHECK(lines[1].at("amount") == "-3.00");
  CHECK(lines[1].at("reference") == "LEG-0");
  CHECK(lines[2].at("amount") == "1.00");
  CHECK(lines[2].at("reference") == "LEG-1");
  CHECK(lines[3].at("amount") == "-2.00");
  CHECK(lines[3].at("reference").is_null());
  CHECK(lines[3].at("description") == "Third");
  CHECK(lines[3].at("runningBalance") == "6.00");
}

TEST_CASE("a swap is one line in the statement of each asset") {
  TestApp app;
  const std::string wallet = app.wallet("USDC", "10");
  app.me().trustline(wallet, "EURC");
  app.rate("USDC", "EURC", "0.9");
  app.liquidity("EURC", "100");
  app.me().pay("/v1/payments/swap/own", swap_body(wallet, wallet, "10", "USDC", "EURC"));
  app.settle();
  const Json sold = app.me().get(target(wallet)).json();
  CHECK(sold.at("closingBalance") == "0.00");
  CHECK(sold.at("data")[1].at("amount") == "-10.00");
  const Json bought = app.me().get(target(wallet, "EURC")).json();
  REQUIRE(bought.at("data").size() == 1);
  CHECK(bought.at("data")[0].at("amount") == "9.00");
  CHECK(bought.at("data")[0].at("counterparty") == "Market");
}

TEST_CASE("held and failed payments leave no line") {
  TestApp app;
  const std::string from = app.wallet("USDC", "10"), to = app.wallet("USDC");
  app.me().trustline(from, "EURC");
  app.rate("USDC", "EURC", "1");
  app.me().pay("/v1/payments/swap/own", swap_body(from, from, "1", "USDC", "EURC"));
  app.settle();
  app.me().transfer(from, to, "1");
  CHECK(app.me().get(target(from)).json().at("data").size() == 1);
  CHECK(app.me().get(target(from)).json().at("closingBalance") == "10.00");
}

TEST_CASE("the start is inclusive, the end exclusive, in every form of a date") {
  World world;
  const auto between = [&](const std::string& start, const std::string& end) {
    return world.column(target(world.from, "USDC", "", start, end), "amount");
  };
  CHECK(between("2026-01-01T00:00:01Z", "2026-01-01T00:00:03Z") == List{"-1.00", "-2.00"});
  CHECK(between("2026-01-01T00:00:01.001Z", "2026-01-01T00:00:03.001Z") == List{"-2.00", "-3.00"});
  CHECK(between("2026-01-01T05:30:02%2B05:30", "2026-01-02") == List{"-2.00", "-3.00"});
  CHECK(between("2025-12-31T19:00:02-05:00", "2026-01-02") == List{"-2.00", "-3.00"});
  CHECK(between("2026-01-01", "2026-01-01") == List{});
  CHECK(between("2020-01-01", "2026-01-01") == List{});
  CHECK(between("2027-01-01", "2028-01-01") == List{});
  const Json middle =
      world.read(target(world.from, "USDC", "", "2026-01-01T00:00:02Z", "2026-01-01T00:00:03Z"));
  CHECK(middle.at("openingBalance") == "99.00");
  CHECK(middle.at("closingBalance") == "97.00");
  const Json after = world.read(target(world.from, "USDC", "", "2027-01-01", "2028-01-01"));
  CHECK(after.at("openingBalance") == "94.00");
  CHECK(after.at("closingBalance") == "94.00");
}

TEST_CASE("pages of a statement join to the complete statement, even while lines are added") {
  World world(6);
  const List whole = world.column(target(world.from), "rowId");
  REQUIRE(whole.size() == 7);
  List joined;
  std::string cursor;
  for (bool more = true; more;) {
    const Json page = world.read(target(world.from, "USDC", "&limit=2" + cursor));
    for (const Json& line : page.at("data")) joined.push_back(line.at("rowId"));
    // Every page has the balances of the whole range.
    CHECK(page.at("openingBalance") == "0.00");
    more = page.at("hasMore");
    if (more) cursor = "&cursor=" + page.at("nextCursor").get<std::string>();
    if (joined.size() == 2) {
      world.app.me().transfer(world.from, world.to, "1");
      world.app.settle();
    }
  }
  REQUIRE(joined.size() == 8);
  joined.pop_back();
  CHECK(joined == whole);
}

TEST_CASE("a statement's cursor is invalid for other statements") {
  World world;
  const std::string cursor =
      "&cursor=" +
      world.read(target(world.from, "USDC", "&limit=1")).at("nextCursor").get<std::string>();
  const Client& me = world.app.me();
  CHECK(me.get(target(world.from, "USDC", "&limit=3" + cursor)).status == 200);
  for (const std::string& other :
       {target(world.to, "USDC", cursor), target(world.from, "USDC", cursor, "2025-12-31"),
        target(world.from, "USDC", cursor, "2026-01-01", "2026-01-31")}) {
    INFO(other);
    CHECK(me.get(other).slug() == "invalid-cursor");
  }
  CHECK(me.get(target(world.from, "USDC", cursor + "x")).slug() == "invalid-cursor");
}

TEST_CASE("rowIds are unique, and the same after a restart") {
  World world(4);
  const List first = world.column(target(world.from), "rowId");
  CHECK(std::set<std::string>(first.begin(), first.end()).size() == 5);
  world.app.restart();
  world.app.me().transfer(world.from, world.to, "1");
  world.app.settle();
  List later = world.column(target(world.from), "rowId");
  later.pop_back();
  CHECK(later == first);
}

TEST_CASE("rejected statement requests") {
  World world(1);
  const Names names{
      {"wallet", world.from},
      {"unknown", world.app.random.uuid_v7(world.app.clock.now()).to_string()},
      {"theirs", world.app.stranger().wallet("USDC")},
      {"other", world.app.production().wallet("USDC")},
  };
  const std::string base = "/v1/statements/transactions?";
  const std::string range = "&startDate=2026-01-01&endDate=2026-02-01";
  // A row in two lines is easier to read than in seven.
  // clang-format off
  run_scenarios(
      world.app.me(),
      {
          {"nothing", "/v1/statements/transactions", "", 400, "malformed-request",
           {"walletId", "assetCode", "startDate", "endDate"}, {}, "GET"},
          {"dates that are none",
           base + "walletId=$wallet&assetCode=USDC&startDate=today&endDate=2026-13-01", "", 400,
           "malformed-request", {"startDate", "endDate"}, {}, "GET"},
          {"a time without offset",
           base + "walletId=$wallet&assetCode=USDC&startDate=2026-01-01T00:00:00&endDate=2026-02-01",
           "", 400, "malformed-request", {"startDate"}, {}, "GET"},
          {"turned round",
           base + "walletId=$wallet&assetCode=USDC&startDate=2026-02-01&endDate=2026-01-01", "", 422,
           "validation-failed", {"endDate"}, {}, "GET"},
          {"no trustline", base + "walletId=$wallet&assetCode=EURC" + range, "", 422,
           "trustline-missing", {"assetCode"}, {}, "GET"},
          {"no asset", base + "walletId=$wallet&assetCode=NOPE" + range, "", 422,
           "trustline-missing", {"assetCode"}, {}, "GET"},
          {"bad code", base + "walletId=$wallet&assetCode=US-DC" + range, "", 400,
           "malformed-request", {"assetCode"}, {}, "GET"},
          {"an unknown wallet", base + "walletId=$unknown&assetCode=USDC" + range, "", 404, "not-found",
           {}, {}, "GET"},
          {"no id", base + "walletId=1&assetCode=USDC" + range, "", 404, "not-found", {}, {}, "GET"},
          {"another tenant's wallet", base + "walletId=$theirs&assetCode=USDC" + range, "", 404,
           "not-found", {}, {}, "GET"},
          {"another environment's wallet", base + "walletId=$other&assetCode=USDC" + range, "", 404,
           "not-found", {}, {}, "GET"},
          {"format", base + "walletId=$wallet&assetCode=USDC&format=csv" + range, "", 400,
           "malformed-request", {"format"}, {}, "GET"},
          {"limit", base + "walletId=$wallet&assetCode=USDC&limit=101" + range, "", 400,
           "malformed-request", {"limit"}, {}, "GET"},
          {"an export is rejected as a problem too",
           "/v1/statements/transactions/csv?walletId=$theirs&assetCode=USDC" + range, "", 404,
           "not-found", {}, {}, "GET"},
      },
      names);
  // clang-format on
}

TEST_CASE(
    "a production wallet's funding has the operator's description, and no route creates one") {
  TestApp app;
  const Client client = app.production();
  const std::string wallet = client.wallet("USDC");
  CHECK(
      client
          .post("/v1/sandbox/wallets/" + wallet + "/fund", {{"assetCode", "USDC"}, {"amount", "1"}})
          .status == 404);
  const WalletId id = *WalletId::parse(wallet);
  const Tenant tenant = store::with_reader(app.core().database(), [&](store::Connection& db) {
                          return Result<Tenant>(*store::tenant_of_wallet(db, id));
                        }).value();
  const flows::WalletFunding funding{*AssetCode::parse("USDC"), amount("250"), "BANK-1", "Deposit"};
  REQUIRE(flows::fund_wallet(app.flows(), tenant, id, funding));
  CHECK(flows::fund_wallet(app.flows(), tenant, id, funding).value().replayed);
  const Json lines = client.get(target(wallet)).json().at("data");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].at("amount") == "250.00");
  CHECK(lines[0].at("description") == "Deposit");
  CHECK(lines[0].at("counterparty") == "Funding");
}

}  // namespace statement_test
