// coffer reconcile: statements, matches of their lines with payments, and the comparison of books,
// provider and bank (docs/operating.md#reconciliation).
#include <catch2/catch.hpp>

#include "app/background.h"
#include "base/platform/exit_code.h"
#include "store/reconciliation/bank_lines.h"
#include "support/armed_fault.h"
#include "support/commands.h"
#include "support/connectors.h"
#include "support/recipients.h"
#include "support/test_app.h"
#include "support/unguarded.h"
#include "support/unknown_id.h"

using namespace coffer;
using namespace coffer::test;

namespace reconciliation_test {
namespace {

struct World {
  TestApp app;
  const Client& me = app.me();
  std::string wallet = app.wallet("USDC", "1000");
  std::string pays = add_connector(app);  // 129.5 KES for 1 USDC
  std::string collects = add_connector(app, collection_connector());
  std::string beneficiary = add_recipient(me);

  Ran run(const std::string& command, const Values& arguments, bool json = true) {
    return run_command(app, command, arguments, json);
  }
  void pass(int ms) {
    for (int passed = 0; passed < ms; passed += 250) {
      app.settle();
      app.clock.advance_ms(250);
    }
    app.settle();
  }
  /// 100 USDC, of which the recipient gets 12,950 KES.
  std::string payout() {
    const std::string id =
        me.pay("/v1/payments/offramp",
               cash_out_body(quote_for(me, pays, beneficiary), wallet, beneficiary));
    pass(1'000);
    REQUIRE(me.status(id) == "succeeded");
    return id;
  }
  /// 10,000 KES, of which 110 are the fee.
  std::string collection() {
    const std::string id =
        me.pay("/v1/payments/onramp", collection_body(collection_quote(me, collects), wallet));
    pass(1'000);
    REQUIRE(me.status(id) == "succeeded");
    return id;
  }
  static std::string csv(const std::vector<std::string>& rows) {
    std::string out =
        "bookingDate,amount,currency,account,bankReference,reference,text,partyName,partyAccount\n";
    for (const std::string& row : rows) out += row + "\n";
    return out;
  }
  Ran import(const std::string& content, const Values& more = {}) {
    Values values{{"FILE", content}, {"connector", pays}};
    for (const auto& [name, value] : more) values[name] = value;
    return run("reconcile import", values);
  }
  Json lines(const Values& filter = {}) { return run("reconcile list", filter).json(); }
  std::int64_t number(const std::string& sql) {
    return store::with_reader(app.core().database(),
                              [&](store::Connection& db) {
                                store::Query query(db, db.interned(sql));
                                query.step();
                                return query.integer(0);
                              })
        .value();
  }
};

/// State, and the rule and kind of the only payment.
std::string shown(const Json& line) {
  std::string out = line.at("state");
  for (const Json& one : line.at("payments")) {
    out += " " + one.at("rule").get<std::string>() + " " + one.at("kind").get<std::string>();
  }
  return out;
}

std::string row(const std::string& amount, const std::string& bank, const std::string& text,
                const std::string& day = "2026-01-02") {
  return day + "," + amount + ",KES,KE1," + bank + ",," + text + ",,";
}

}  // namespace

TEST_CASE("lines are matched with payouts, collections, fees and refunds of the provider") {
  World world;
  const std::string paid = world.payout();
  const std::string collected = world.collection();
  const std::string second = world.collection();
  const Ran done = world.import(
      World::csv({row("-12950", "B1", "Payout " + paid),
                  row("10000", "B2", collected.substr(0, 20)), row("9890", "B3", second),
                  row("-110", "B4", "Fee of " + collected), row("-7.50", "B5", "Account fee")}));
  INFO(done.err);
  REQUIRE(done.code == exit_code::kDone);
  CHECK(done.json().at("stored") == 5);
  CHECK(done.json().at("matched") == 4);
  CHECK(done.json().at("offered") == 0);
  const Json lines = world.lines();
  REQUIRE(lines.size() == 5);
  CHECK(shown(lines[4]) == "matched reference payment");
  CHECK(lines[4].at("transactionRecordId") == paid);
  CHECK(lines[4].at("amount") == "-12950.00");
  CHECK(shown(lines[3]) == "matched cut payment");
  CHECK(shown(lines[2]) == "matched net payment");
  CHECK(shown(lines[1]) == "matched reference fee");
  CHECK(lines[1].at("transactionRecordId") == collected);
  CHECK(shown(lines[0]) == "unmatched");
  CHECK(world.lines({{"state", "unmatched"}}).size() == 1);
  CHECK(world.lines({{"connector", world.collects}}).empty());
  REQUIRE(world.me
              .post("/v1/payments/" + second + "/reversals",
                    {{"transactionId", "V-1"}, {"reason", "Ordered twice"}})
              .status == 202);
  world.pass(1'000);
  REQUIRE(
      world.import(World::csv({row("-10000", "B6", "V-1 or " + second)})).json().at("matched") ==
      1);
  CHECK(shown(world.lines()[0]) == "matched reference refund");
}

TEST_CASE("an entry without the bank's reference is the same one only with the same texts") {
  World world;
  const std::string paid = world.payout();
  REQUIRE(world.import(World::csv({row("-12950", "", "Payout " + paid)})).json().at("matched") ==
          1);
  // The file differs, because it has one more entry.
  const Json same =
      world.import(World::csv({row("-12950", "", "Payout " + paid), row("-1", "", "Account fee")}))
          .json();
  CHECK(same.at("stored") == 1);
  CHECK(same.at("known") == 1);
  const Json other = world.import(World::csv({row("-12950", "", "PAYOUT/" + paid)})).json();
  CHECK(other.at("stored") == 1);
  CHECK(other.at("matched") == 0);
  CHECK(other.at("offered") == 1);
  const Json line = world.lines({{"state", "offered"}})[0];
  CHECK(line.at("payments")[0].at("because") == "another line is matched with the payment");
  const Values everything{{"FILE", "-"}};
  const std::string exported = world.run("export", everything, false).out;
  CHECK(exported.find(R"({"type":"bankLine","id":)" + line.at("id").dump()) != std::string::npos);
  CHECK(exported.find(R"("type":"bankMatch")") != std::string::npos);
}

TEST_CASE("a file, and a line, is stored once") {
  World world;
  const std::string both = row("-5", "B1", "same");
  const std::string file = World::csv({both, row("-5", "", "twice"), row("-5", "", "twice")});
  CHECK(world.import(file).json().at("stored") == 3);
  const Ran again = world.import(file);
  CHECK(again.code == exit_code::kDone);
  CHECK(again.json().at("stored") == 0);
  CHECK(again.json().at("known") == 3);
  CHECK(world.run("reconcile import", {{"FILE", file}, {"connector", world.pays}}, false)
            .err.find("Nothing changed") != std::string::npos);
  // The same entries in another file, with one more of those that look the same.
  const Ran overlapping =
      world.import(World::csv({row("-5", "", "twice"), both, row("-5", "", "twice"),
                               row("-5", "", "twice"), row("-6", "B1", "other amount")}));
  CHECK(overlapping.json().at("stored") == 2);
  CHECK(world.number("SELECT count(*) FROM bank_lines") == 5);
  CHECK(world.number("SELECT count(*) FROM statement_files WHERE completed_at IS NOT NULL") == 2);
  const Ran refused = world.import(World::csv({row("-8", "B9", "x"), "2026-02-30,1,KES,KE1,,,,,"}));
  INFO(refused.out + refused.err);
  CHECK((refused.out + refused.err).find("line 3: There is no day 2026-02-30") !=
        std::string::npos);
  CHECK(world.number("SELECT count(*) FROM bank_lines") == 5);
}

TEST_CASE("an import that fails at any of its commits is completed by a repetition") {
  World world;
  int failures = 0;
  for (int commit = 1;; ++commit) {
    INFO("commit " << commit);
    const std::string file =
        World::csv({row("-12950", "B" + std::to_string(commit), world.payout())});
    const std::string point = "queue.full:" + std::to_string(commit) + "=fail";
    bool failed = false;
    {
      const ArmedFault fault(point.c_str());
      failed = world.import(file).code != exit_code::kDone;
    }
    if (!failed) break;
    ++failures;
    REQUIRE(world.import(file).code == exit_code::kDone);
    CHECK(world.import(file).json().at("known") == 1);
    CHECK(world.lines({{"state", "matched"}}).size() == static_cast<std::size_t>(commit));
    CHECK(world.number("SELECT count(*) FROM bank_matches") == commit);
  }
  CHECK(failures >= 5);  // file, statement, line, match, end
}

TEST_CASE("an operator matches a line, and undoes it by another row") {
  World world;
  const std::string paid = world.payout();
  const std::string other = world.payout();
  REQUIRE(world.import(World::csv({row("-12950", "B1", ""), row("-1", "B2", paid)}))
              .json()
              .at("offered") == 2);
  const Json lines = world.lines();
  CHECK(shown(lines[1]) == "offered amount_and_day payment amount_and_day payment");
  CHECK(shown(lines[0]) == "offered other_amount payment");
  const std::string line = lines[1].at("id");
  const Values with{{"LINE", line}, {"PAYMENT", paid}, {"reason", "Called the bank"}};
  const Json matched = world.run("reconcile match", with).json();
  CHECK(shown(matched) == "matched by_hand payment");
  CHECK(matched.at("payments")[0].at("reason") == "Called the bank");
  CHECK(world.run("reconcile match", with).err.find("conflict") == std::string::npos);
  CHECK(world.run("reconcile match", with).code == exit_code::kFailed);
  CHECK(shown(world.run("reconcile unmatch", {{"LINE", line}, {"reason", "Wrong one"}}).json()) ==
        "unmatched");
  CHECK(world.run("reconcile unmatch", {{"LINE", line}, {"reason", "Again"}}).code ==
        exit_code::kFailed);
  CHECK(world.number("SELECT count(*) FROM bank_matches") == 2);
  CHECK(world.number("SELECT count(*) FROM bank_matches WHERE undoes IS NOT NULL") == 1);
  CHECK(shown(world
                  .run("reconcile match",
                       {{"LINE", line}, {"PAYMENT", other}, {"reason", "Right one"}})
                  .json()) == "matched by_hand payment");
  for (const char* command : {"reconcile match", "reconcile unmatch"}) {
    Values unknown{{"LINE", kUnknownId}, {"reason", "x"}};
    if (std::string(command) == "reconcile match") unknown["PAYMENT"] = paid;
    CHECK(world.run(command, unknown).code == exit_code::kFailed);
  }
  // A payment that no bank shows.
  const std::string transfer =
      world.me.pay("/v1/payments/p2p/own", {{"transactionId", "T-1"},
                                            {"sourceWalletId", world.wallet},
                                            {"destinationWalletId", world.app.wallet("USDC")},
                                            {"sendingAssetCode", "USDC"},
                                            {"amount", 1}});
  CHECK(world
            .run("reconcile match",
                 {{"LINE", lines[0].at("id")}, {"PAYMENT", transfer}, {"reason", "x"}})
            .code == exit_code::kFailed);
}

TEST_CASE("parts that arrive in two files are matched together") {
  World world;
  const std::string paid = world.payout();
  CHECK(world.import(World::csv({row("-12000", "B1", paid)})).json().at("matched") == 0);
  CHECK(world.import(World::csv({row("-950", "B2", paid, "2026-01-03")})).json().at("matched") ==
        2);
  CHECK(world.import(World::csv({row("-12950", "B3", paid, "2026-01-04")})).json().at("matched") ==
        0);
}

TEST_CASE("books, provider and bank are compared by day") {
  World world;
  const std::string paid = world.payout();
  world.collection();
  world.import(World::csv({row("-12950", "B1", paid, "2026-01-01"),
                           row("-3", "B2", "", "2026-01-01"), row("-4", "B3", "", "2026-01-09")}));
  const Values days{{"connector", world.pays}, {"from", "2026-01-01"}, {"to", "2026-01-10"}};
  const Json report = world.run("reconcile report", days).json();
  REQUIRE(report.size() == 2);
  CHECK(report[0] == Json{{"day", "2026-01-01"},
                          {"currencyIsoCode3", "KES"},
                          {"clearing", "100.00"},
                          {"clearingAsset", "USDC"},
                          {"books", "-12950.00"},
                          {"provider", "-12950.00"},
                          {"bank", "-12953.00"},
                          {"difference", "-3.00"},
                          {"providerDifference", "0.00"},
                          {"openLines", 1},
                          {"open", "-3.00"}});
  CHECK(report[1].at("difference") == "-4.00");
  Values collected = days;
  collected["connector"] = world.collects;
  const Json other = world.run("reconcile report", collected).json();
  REQUIRE(other.size() == 1);
  CHECK(other[0].at("books") == "10000.00");
  CHECK(other[0].at("provider") == "10000.00");
  CHECK(other[0].at("bank") == "0.00");
  // --to is exclusive.
  Values other_end = days;
  other_end["to"] = "2026-01-09";
  CHECK(world.run("reconcile report", other_end).json().size() == 1);
  for (const char* end : {"2025-01-01", "2026-01-01", "2026-01-10T12:00:00Z", "2027-01-03"}) {
    INFO(end);
    other_end["to"] = end;
    CHECK(world.run("reconcile report", other_end).code == exit_code::kUsage);
  }
}

TEST_CASE("a CSV file is read with a saved mapping") {
  World world;
  const Values mapping{{"NAME", "bank"},
                       {"columns", "bookingDate=Tag,amount=Betrag,currency==KES,text=Zweck"},
                       {"separator", ";"},
                       {"decimal", ","},
                       {"date", "DD.MM.YYYY"}};
  CHECK(world.run("reconcile map", mapping).code == exit_code::kDone);
  CHECK(world.run("reconcile mappings", {}).json().size() == 1);
  const std::string file = "Tag;Betrag;Zweck\n02.01.2026;-1.234,50;x\n";
  CHECK(world.import(file).code != exit_code::kDone);
  CHECK(world.import(file, {{"mapping", "none"}}).code != exit_code::kDone);
  CHECK(world.import(file, {{"mapping", "bank"}}).json().at("stored") == 1);
  CHECK(world.lines()[0].at("amount") == "-1234.50");
  Values wrong = mapping;
  wrong["columns"] = "amount=Betrag";
  CHECK(world.run("reconcile map", wrong).code != exit_code::kDone);
}

TEST_CASE("lines without a payment for over 3 days are counted") {
  World world;
  world.import(World::csv({row("-3", "B1", "")}));
  const auto old = [&] {
    return store::with_reader(world.app.core().database(),
                              [&](store::Connection& db) {
                                return store::old_bank_lines(
                                           db, world.app.clock.now().plus_ms(-kUnmatchedOldMs), 10)
                                    .count;
                              })
        .value();
  };
  CHECK(old() == 0);
  world.app.clock.advance_ms(kUnmatchedOldMs + 1'000);
  CHECK(old() == 1);
}

TEST_CASE("a line that another program changed is not matched") {
  World world;
  const std::string paid = world.payout();
  REQUIRE(world.import(World::csv({row("-12949", "B1", paid)})).json().at("offered") == 1);
  store::Connection db(world.app.config().db, store::OpenMode::read_write);
  db.execute("UPDATE bank_lines SET amount = -129500000000");
  const Json line = world.run("reconcile list", {}).json()[0];
  CHECK(world.run("reconcile match", {{"LINE", line.at("id")}, {"PAYMENT", paid}, {"reason", "x"}})
            .code != exit_code::kDone);
  CHECK(world.number("SELECT count(*) FROM bank_matches") == 0);
  db.execute("UPDATE bank_lines SET amount = -129490000000");
}

}  // namespace reconciliation_test
