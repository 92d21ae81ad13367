// coffer payment: finding payments, showing their history, resolving stuck ones.
#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "base/platform/exit_code.h"
#include "cli/payments/payments.h"
#include "cli/run/dispatch.h"
#include "domain/providers/quote.h"
#include "store/operations/export.h"
#include "support/commands.h"
#include "support/connectors.h"
#include "support/recipients.h"
#include "support/scenario.h"
#include "support/test_app.h"
#include "support/unknown_id.h"

using namespace coffer;
using namespace coffer::test;

namespace payment_commands_test {
namespace {

const std::string kOfframp = "/v1/payments/offramp";

struct World {
  TestApp app;
  const Client& me = app.me();
  std::string wallet = app.wallet("USDC", "1000");
  std::string other = app.wallet("USDC");
  std::string connector = add_connector(app);  // 129.5, fee 0.50 and 1 %

  Ran run(const std::string& command, const Values& arguments) {
    return run_command(app, command, arguments);
  }
  Json show(const std::string& id) { return run("payment show", {{"ID", id}}).json(); }
  Ran resolve(const std::string& id, const std::string& as) {
    return run("payment resolve", {{"ID", id}, {"as", as}, {"reason", "Bank statement of 3 May"}});
  }

  /// 100 USDC (fee 1.50) to a number that ends in `digits`.
  std::string cash_out(const std::string& digits, const Json& more = Json::object()) {
    const std::string beneficiary = add_recipient(me, digits);
    Json body = cash_out_body(quote_for(me, connector, beneficiary), wallet, beneficiary);
    body.update(more);
    return me.pay(kOfframp, body);
  }
  std::string transfer(const std::string& transaction_id, const std::string& reference = "REF-1",
                       const std::string& amount = "1") {
    const Json body{{"transactionId", transaction_id},
                    {"sourceWalletId", wallet},
                    {"destinationWalletId", other},
                    {"sendingAssetCode", "USDC"},
                    {"amount", amount},
                    {"fromRef", reference}};
    return me.pay("/v1/payments/p2p/own", body);
  }
  std::string application() { return run("application list", {}).json()[0].at("id"); }
  /// A payout of 100 USDC, as arguments of payment create.
  Values payout(const std::string& beneficiary) {
    return {{"application", application()},
            {"wallet", wallet},
            {"beneficiary", beneficiary},
            {"connector", connector},
            {"amount", "100"},
            {"purpose", "SALARY"},
            {"source-of-funds", "SALARY"},
            {"relationship", "EMPLOYEE"},
            {"transaction-id", "op-1"}};
  }
  void pass(int ms) {
    app.settle();
    for (int passed = 0; passed < ms; passed += 250) {
      app.clock.advance_ms(250);
      app.settle();
    }
  }
  std::string funds() const { return me.funds(wallet, "USDC"); }
};

/// A time of the newest payment in an export, in ms.
std::int64_t exported(const TestApp& app, const std::string& member) {
  const auto nouns = store::export_nouns();
  const auto noun =
      std::ranges::find(nouns, std::string_view("payments"), &store::ExportNoun::table);
  const auto column = std::ranges::find(noun->columns, member, &store::ExportColumn::name);
  store::Connection db(app.config().db, store::OpenMode::read_only);
  const std::string sql = "SELECT " + std::string(column->expression) +
                          " FROM payments x ORDER BY payment DESC LIMIT 1";
  store::Query query(db, sql.c_str());
  REQUIRE(query.step());
  return query.integer(0);
}

std::vector<std::string> ids(const Json& rows) { return member_of_each(rows, "id"); }

}  // namespace

TEST_CASE("payment show contains everything about an off-ramp") {
  World world;
  const std::string id = world.cash_out("1301");
  world.pass(2'000);
  const Json shown = world.show(id);
  CHECK(shown.at("status") == "refunded");
  CHECK(shown.at("fee") == "1.50");
  CHECK(shown.at("total") == "101.50");
  CHECK(shown.at("rate") == "129.5");
  CHECK(shown.at("receivingAssetCode") == "KES");
  CHECK(shown.at("application").is_string());
  CHECK(shown.at("requestId").is_string());
  CHECK(shown.at("nextAttemptAt").is_null());
  CHECK(
      member_of_each(shown.at("timeline"), "status") ==
      std::vector<std::string>{"initiated", "processing", "failed", "refund_pending", "refunded"});
  CHECK(shown.at("timeline")[2].at("code").is_string());
  const Json& entries = shown.at("entries");
  REQUIRE(entries.size() == 8);  // principal and fee, and both back
  CHECK(entries[0].at("account") == "wallet Own USDC");
  CHECK(entries[0].at("walletId") == world.wallet);
  CHECK(entries[0].at("amount") == "-100.00");
  CHECK(entries[0].at("runningBalance") == "900.00");
  CHECK(entries[7].at("kind") == "refund");
  CHECK_FALSE(shown.at("providerAttempts").empty());
  CHECK(member_of_each(shown.at("events"), "type") ==
        std::vector<std::string>{"payment.initiated", "payment.processing", "payment.failed",
                                 "payment.refund_pending", "payment.refunded"});
  CHECK(shown.at("deliveries").empty());
  CHECK(world.run("payment show", {{"ID", kUnknownId}}).code == exit_code::kFailed);
  CHECK(world.run("payment show", {{"ID", "x"}}).code == exit_code::kUsage);
}

TEST_CASE("payment show contains the legs of a multi-transfer, and its own events") {
  World world;
  for (int i = 0; i < 5; ++i) world.transfer("before-" + std::to_string(i));
  const Json leg{{"sourceWalletId", world.wallet},
                 {"destinationWalletId", world.other},
                 {"sendingAssetCode", "USDC"},
                 {"amount", 2}};
  const std::string id = world.me.pay("/v1/payments/p2p/own/multi",
                                      {{"transactionId", "multi"}, {"transfers", {leg, leg}}});
  for (int i = 0; i < 5; ++i) world.transfer("after-" + std::to_string(i));
  CHECK(world.show(id).at("nextAttemptAt").is_string());
  world.app.settle();
  const Json shown = world.show(id);
  CHECK(shown.at("legs").size() == 2);
  CHECK(shown.at("entries").size() == 4);
  CHECK(shown.at("sourceWalletId").is_null());
  CHECK(shown.at("events").size() == 3);
}

TEST_CASE("payment list: filters, pages, newest first") {
  World world;
  std::vector<std::string> made;
  for (int i = 0; i < 7; ++i) {
    world.app.clock.advance_ms(1'000);
    made.insert(made.begin(), world.transfer("t" + std::to_string(i)));
  }
  world.app.settle();
  made.insert(made.begin(), world.cash_out("1201"));
  world.pass(500);
  CHECK(ids(world.run("payment list", {}).json()) == made);

  std::vector<std::string> paged;
  Values page{{"limit", "3"}};
  for (;;) {
    const Ran ran = world.run("payment list", page);
    for (const std::string& id : ids(ran.json())) paged.push_back(id);
    CHECK(ran.err.empty());
    const Json next = Json::parse(ran.out).at("nextCursor");
    if (next.is_null()) break;
    page["cursor"] = next.get<std::string>();
  }
  CHECK(paged == made);

  const auto listed = [&](const Values& filter) {
    return world.run("payment list", filter).json().size();
  };
  CHECK(listed({{"status", "processing"}}) == 1);
  CHECK(listed({{"status", "succeeded"}, {"environment", "sandbox"}}) == 7);
  CHECK(listed({{"environment", "production"}}) == 0);
  CHECK(listed({{"association", world.app.association().to_string()}}) == 8);
  CHECK(listed({{"wallet", world.wallet}}) == 8);
  CHECK(listed({{"wallet", world.other}}) == 7);
  CHECK(listed({{"connector", world.connector}}) == 1);
  CHECK(listed({{"type", "offramp"}}) == 1);
  CHECK(listed({{"from", "2026-01-01T00:00:06Z"}}) == 3);
  CHECK(listed({{"to", "2026-01-01T00:00:06Z"}}) == 5);
  for (const Values& wrong : {Values{{"status", "gone"}},
                              {{"limit", "201"}},
                              {{"cursor", "x"}},
                              {{"from", "yesterday"}},
                              {{"wallet", "x"}}}) {
    CHECK(world.run("payment list", wrong).code == exit_code::kUsage);
  }
  CHECK(world.run("payment list", {{"wallet", kUnknownId}}).code == exit_code::kFailed);
}

TEST_CASE("payment list: amounts are found by their first digits, on both sides") {
  World world;
  for (const char* amount : {"13.48", "13.5", "13", "134", "1.3", "14"}) {
    world.transfer(std::string("of-") + amount, "REF-1", amount);
  }
  world.cash_out("0077");  // 100 USDC, 12750.52 KES
  const auto found = [&](const std::string& amount) {
    return member_of_each(world.run("payment list", {{"amount", amount}}).json(), "transactionId");
  };
  using Names = std::vector<std::string>;
  CHECK(found("13") == Names{"of-13", "of-13.5", "of-13.48"});
  CHECK(found("13.0") == Names{"of-13"});
  CHECK(found("13.4") == Names{"of-13.48"});
  CHECK(found("13.50") == Names{"of-13.5"});
  CHECK(found("134") == Names{"of-134"});
  CHECK(found("15").empty());
  CHECK(found("100").size() == 1);
  const Json paid = world.run("payment list", {{"type", "offramp"}}).json().at(0);
  CHECK(found(paid.at("receivingAmount").get<std::string>()).size() == 1);
  CHECK(found("922337203685.4775807").empty());
  const Json counted = world.run("payment count", {{"amount", "13"}}).json();
  CHECK(counted.at("payments") == 3);
  for (const char* wrong : {"0", "-1", "1e3", "1,348", "x", "922337203686"}) {
    CAPTURE(wrong);
    CHECK(world.run("payment list", {{"amount", wrong}}).code == exit_code::kUsage);
  }
}

TEST_CASE("payment list and show: names with masked accounts, and the actor of each step") {
  World world;
  const std::string rejected = world.cash_out("1102");
  const std::string moved = world.transfer("walk-1");
  world.pass(2'000);
  const Json rows = world.run("payment list", {{"text", "walk"}}).json();
  REQUIRE(ids(rows) == std::vector<std::string>{moved});
  CHECK(rows[0].at("sourceName") == "Own USDC");
  const std::string account = rows[0].at("sourceAccount");
  CHECK(account.starts_with("****"));
  CHECK(account.find_first_not_of('*') == account.size() - 4);
  const Json closed = world.run("payment list", {{"failure", "account_closed"}}).json();
  REQUIRE(ids(closed) == std::vector<std::string>{rejected});
  CHECK(closed[0].at("failureMessage").is_string());
  CHECK(closed[0].at("destinationAccount").get<std::string>().ends_with("1102"));
  CHECK(world.run("payment list", {{"failure", "gone"}}).code == exit_code::kUsage);
  const Json count = world.run("payment count", {{"type", "offramp"}}).json();
  CHECK(count.at("payments") == 1);
  CHECK(count.at("isExact") == true);

  const Json shown = world.show(rejected);
  const Json& timeline = shown.at("timeline");
  CHECK(timeline[0].at("actor") == shown.at("application"));
  CHECK(timeline[1].at("actor") == "coffer");
  CHECK(timeline[2].at("actor") == shown.at("connector"));
  CHECK(timeline[2].at("code") == "account_closed");
  CHECK(world.show(moved).at("timeline").back().at("actor") == "coffer");

  const std::string stuck = world.cash_out("1201");
  world.pass(1'000);
  const Json resolved = world.resolve(stuck, "failed").json();
  const std::string who = "command line, uid " + std::to_string(::geteuid());
  CHECK(resolved.at("timeline")[2].at("actor") == who);
  CHECK(resolved.at("timeline")[2].at("providerReference") == resolved.at("providerReference"));
  CHECK(resolved.at("providerAttempts").back().at("actor") == who);
  CHECK(resolved.at("providerAttempts")[0].at("actor") == "coffer");
}

TEST_CASE("payment find: by any identifier of a payment") {
  World world;
  const std::string id = world.transfer("order-77", "INV-2026");
  const std::string cash_out = world.cash_out("5678");
  world.pass(1'000);
  const Json record = world.me.record(id);
  const Json shown = world.show(id);
  const Json paid = world.me.record(cash_out);
  const auto found = [&](const std::string& text) {
    const Json rows = world.run("payment find", {{"TEXT", text}}).json();
    return rows.size() == 1 ? rows[0].at("id").get<std::string>() + " " +
                                  rows[0].at("foundAs").get<std::string>()
                            : std::to_string(rows.size()) + " rows";
  };
  CHECK(found(id) == id + " id");
  CHECK(found("order-77") == id + " transactionId");
  CHECK(found("INV-2026") == id + " reference");
  CHECK(found(world.other) == id + " wallet");
  CHECK(found(shown.at("requestId")) == id + " requestId");
  CHECK(found(shown.at("events")[0].at("id")) == id + " event");
  CHECK(found(record.at("ledgerTransactionHash")) == id + " ledgerHash");
  CHECK(found(paid.at("quoteId")) == cash_out + " quote");
  CHECK(found(paid.at("beneficiaryId")) == cash_out + " beneficiary");
  CHECK(found(paid.at("providerReference")) == cash_out + " providerReference");
  CHECK(found(kUnknownId) == "0 rows");
  CHECK(found("' OR 1=1 --") == "0 rows");
  CHECK(found(std::string(200, 'x')) == "0 rows");
}

TEST_CASE("payment retry: the next step is due immediately, and no step is repeated") {
  World world;
  const std::string id = world.cash_out("1201");
  world.pass(60'000);
  const std::string later = world.show(id).at("nextAttemptAt");
  const auto attempts = world.show(id).at("providerAttempts").size();
  const Ran retried = world.run("payment retry", {{"ID", id}});
  CHECK(retried.json().at("nextAttemptAt").get<std::string>() < later);
  world.app.settle();
  CHECK(world.show(id).at("providerAttempts").size() == attempts + 1);
  CHECK(world.funds() == "898.50/898.50/0.00");

  const std::string transfer = world.transfer("t");
  CHECK(world.run("payment retry", {{"ID", transfer}}).code == 0);
  world.app.settle();
  CHECK(world.show(transfer).at("status") == "succeeded");
  CHECK(world.run("payment retry", {{"ID", transfer}}).code == exit_code::kFailed);
  CHECK(world.run("payment retry", {{"ID", kUnknownId}}).code == exit_code::kFailed);
}

TEST_CASE("payment resolve: an off-ramp in progress gets the operator's result") {
  for (const auto& [as, status, funds] :
       {std::tuple("succeeded", "succeeded", "898.50/898.50/0.00"),
        std::tuple("failed", "refunded", "1000.00/1000.00/0.00"),
        std::tuple("refunded", "refunded", "1000.00/1000.00/0.00")}) {
    INFO(as);
    World world;
    const std::string id = world.cash_out("1201");
    world.pass(1'000);
    const Ran ran = world.resolve(id, as);
    INFO(ran.err);
    REQUIRE(ran.code == 0);
    CHECK(ran.json().at("status") == status);
    CHECK(world.funds() == funds);
    const std::string outcome = ran.json().at("providerAttempts").back().at("outcome");
    CHECK(outcome == "resolved as " + std::string(as) + " by command line, uid " +
                         std::to_string(::geteuid()) + ": Bank statement of 3 May");
    world.pass(60'000);
    CHECK(world.show(id).at("status") == status);
    CHECK(world.resolve(id, "succeeded").code == exit_code::kFailed);
    CHECK(world.resolve(id, "refunded").code == exit_code::kFailed);
  }
}

TEST_CASE(
    "payment resolve: a payment that was never sent fails and is released, but cannot be "
    "refunded") {
  World world;
  const std::string id = world.cash_out("5678");
  CHECK(world.funds() == "1000.00/898.50/101.50");
  CHECK(world.resolve(id, "refunded").err.starts_with("coffer: the wallet has not been debited"));
  const Ran ran = world.resolve(id, "failed");
  CHECK(ran.json().at("status") == "failed");
  CHECK(ran.json().at("failureCode") == "operator_failed");
  CHECK(world.funds() == "1000.00/1000.00/0.00");
  world.pass(5'000);
  CHECK(world.funds() == "1000.00/1000.00/0.00");
}

TEST_CASE("payment reverse: a part of a transfer goes back once") {
  World world;
  const std::string id = world.transfer("t-1");
  world.app.settle();
  const Values arguments{
      {"ID", id}, {"amount", "0.25"}, {"transaction-id", "back-1"}, {"reason", "Paid twice"}};
  CHECK(world.run("payment reverse", {{"ID", id}, {"reason", "r"}}).code == exit_code::kUsage);
  for (int i = 0; i < 2; ++i) {
    const Ran ran = world.run("payment reverse", arguments);
    INFO(ran.err);
    REQUIRE(ran.code == 0);
    const Json shown = ran.json();
    CHECK(shown.at("status") == "refunded");
    REQUIRE(shown.at("refunds").size() == 1);
    CHECK(shown.at("refunds")[0].at("amount") == "0.25");
    CHECK(shown.at("refunds")[0].at("state") == "booked");
    CHECK(shown.at("refunds")[0].at("transactionId") == "back-1");
    CHECK(shown.at("refunds")[0].at("reason") == "Paid twice");
    CHECK(shown.at("entries").back().at("kind") == "refund");
  }
  CHECK(world.me.balance(world.other, "USDC") == "0.75");
  Values more = arguments;
  more["transaction-id"] = "back-2";
  more["amount"] = "0.76";
  CHECK(world.run("payment reverse", more).code == exit_code::kFailed);
  more["transaction-id"] = "not valid";
  CHECK(world.run("payment reverse", more).code == exit_code::kUsage);
  CHECK(world.me.balance(world.other, "USDC") == "0.75");
}

TEST_CASE("payment reverse: a preview checks everything and moves nothing") {
  World world;
  const std::string id = world.transfer("t-1");
  world.app.settle();
  Values arguments{
      {"ID", id}, {"transaction-id", "back-1"}, {"reason", "Paid twice"}, {"preview", "true"}};
  const Ran ran = world.run("payment reverse", arguments);
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  CHECK(ran.json().at("amount") == "1.00");
  CHECK(ran.json().at("assetCode") == "USDC");
  CHECK(world.show(id).at("status") == "succeeded");
  CHECK(world.me.balance(world.other, "USDC") == "1.00");
  arguments["amount"] = "1.01";
  CHECK(world.run("payment reverse", arguments).code == exit_code::kFailed);
}

TEST_CASE("payment create: a payout with the price of its preview, once per transaction ID") {
  World world;
  Values arguments = world.payout(add_recipient(world.me));
  Values preview = arguments;
  preview["preview"] = "true";
  const Ran seen = world.run("payment create", preview);
  INFO(seen.err);
  REQUIRE(seen.code == 0);
  CHECK(seen.json().at("fee") == "1.50 USDC");
  CHECK(seen.json().at("total") == "101.50 USDC");
  CHECK(seen.json().at("recipientGets") == "12950.00 KES");
  CHECK(world.funds() == "1000.00/1000.00/0.00");
  CHECK(world.run("payment list", {}).json().empty());

  arguments["quote"] = seen.json().at("quoteId");
  for (const bool replayed : {false, true}) {
    const Ran ran = world.run("payment create", arguments);
    INFO(ran.err);
    REQUIRE(ran.code == 0);
    CHECK(ran.json().at("isIdempotent") == replayed);
  }
  CHECK(world.funds() == "1000.00/898.50/101.50");
  const Json made = world.run("payment list", {}).json();
  REQUIRE(made.size() == 1);
  CHECK(world.show(made[0].at("id")).at("quoteId") == arguments.at("quote"));
  arguments["amount"] = "99";
  arguments.erase("quote");
  const Ran other = world.run("payment create", arguments);
  CHECK(other.code == exit_code::kFailed);
  CHECK(other.err.find("amount") != std::string::npos);
}

TEST_CASE("payment create: an expired quote limits the price") {
  World world;
  Values arguments = world.payout(add_recipient(world.me));
  arguments["preview"] = "true";
  arguments["quote"] = world.run("payment create", arguments).json().at("quoteId");
  arguments.erase("preview");
  world.app.clock.advance_ms(kQuoteLifetimeMs + 1);
  REQUIRE(world.run("connector set-rate", {{"ID", world.connector}, {"RATE", "129"}}).code == 0);
  const Ran worse = world.run("payment create", arguments);
  CHECK(worse.code == exit_code::kFailed);
  CHECK(worse.err.find("price has become worse") != std::string::npos);
  CHECK(world.funds() == "1000.00/1000.00/0.00");
  REQUIRE(world.run("connector set-rate", {{"ID", world.connector}, {"RATE", "130"}}).code == 0);
  const Ran better = world.run("payment create", arguments);
  INFO(better.err);
  CHECK(better.json().at("recipientGets") == "13000.00 KES");
  CHECK(better.json().at("quoteId") != arguments.at("quote"));

  arguments["transaction-id"] = "other";
  arguments["amount"] = "50";
  CHECK(world.run("payment create", arguments).err.find("another payment") != std::string::npos);
}

TEST_CASE("payment create: it has the checks of the API") {
  World world;
  const std::string beneficiary = add_recipient(world.me);
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, std::string>>{{"amount", "2000"},
                                                                  {"amount", "1.00000001"},
                                                                  {"amount", "1,000"},
                                                                  {"purpose", "FUN"},
                                                                  {"transaction-id", "no spaces"},
                                                                  {"wallet", kUnknownId},
                                                                  {"beneficiary", kUnknownId},
                                                                  {"connector", kUnknownId},
                                                                  {"application", kUnknownId}}) {
    Values arguments = world.payout(beneficiary);
    arguments[name] = value;
    for (const bool preview : {true, false}) {
      if (preview) arguments["preview"] = "true";
      if (!preview) arguments.erase("preview");
      const Ran ran = world.run("payment create", arguments);
      INFO(name << " " << value << ": " << ran.err);
      CHECK(ran.code != 0);
      CHECK(world.funds() == "1000.00/1000.00/0.00");
    }
  }
  const Values transfer{{"type", "p2p_own"},       {"application", world.application()},
                        {"wallet", world.wallet},  {"to", world.other},
                        {"asset", "USDC"},         {"amount", "5"},
                        {"transaction-id", "walk"}};
  const Ran moved = world.run("payment create", transfer);
  INFO(moved.err);
  REQUIRE(moved.code == 0);
  world.app.settle();
  CHECK(world.me.balance(world.other, "USDC") == "5.00");
  REQUIRE(world.run("application suspend", {{"ID", world.application()}}).code == 0);
  Values again = transfer;
  again["transaction-id"] = "walk-2";
  CHECK(world.run("payment create", again).code == exit_code::kFailed);
}

TEST_CASE("wallet create and beneficiary create: a preview stores nothing") {
  World world;
  const std::string owner = world.app.association().to_string();
  Values wallet{{"NAME", "Payroll"}, {"asset", "USDC"}, {"association", owner}};
  Values person = wallet;
  person.insert({{"holder", "person"},
                 {"first-name", "Amina"},
                 {"last-name", "Otieno"},
                 {"date-of-birth", "1990-04-01"},
                 {"nationality", "KE"}});
  Values recipient{{"association", owner},  {"first-name", "Amina"},
                   {"last-name", "Otieno"}, {"method", "BANK"},
                   {"country", "KE"},       {"currency", "KES"},
                   {"account-name", "A"},   {"account-number", "011005678"}};
  struct Made {
    const char* command;
    Values values;
    const char* list;
    const char* status;
  };
  for (const Made& made : std::initializer_list<Made>{
           {"wallet create", wallet, "wallet list", "Verified"},
           {"wallet create", person, "wallet list", "Pending"},
           {"beneficiary create", recipient, "beneficiary list", "active"}}) {
    const auto rows = [&] { return world.run(made.list, {}).json().size(); };
    const auto before = rows();
    Values preview = made.values;
    preview["preview"] = "true";
    const Ran seen = world.run(made.command, preview);
    INFO(made.command << " " << seen.err);
    REQUIRE(seen.code == 0);
    CHECK(seen.json().at("status") == made.status);
    CHECK(rows() == before);
    const Ran ran = world.run(made.command, made.values);
    REQUIRE(ran.code == 0);
    CHECK(ran.json().at("status") == made.status);
    CHECK(ran.json().at("id").is_string());
    CHECK(rows() == before + 1);
  }
  const Json listed = world.run("beneficiary list", {}).json();
  const Json shown = world.run("beneficiary show", {{"ID", listed[0].at("id")}}).json();
  CHECK(shown.at("destinations")[0].at("accountNumber") == "011005678");
  for (const char* missing : {"first-name", "account-name", "country"}) {
    Values partial = recipient;
    partial.erase(missing);
    CHECK(world.run("beneficiary create", partial).code == exit_code::kUsage);
  }
}

TEST_CASE("connector add: a preview shows the price of a payment and adds nothing") {
  World world;
  const auto before = world.run("connector list", {}).json().size();
  Values connector{{"NAME", "Kenya"},  {"country", "KE"},     {"currency", "KES"},
                   {"asset", "USDC"},  {"rate", "129.50"},    {"min", "1"},
                   {"max", "10000"},   {"fee-fixed", "0.50"}, {"fee-bps", "100"},
                   {"preview", "true"}};
  const Ran seen = world.run("connector add", connector);
  INFO(seen.err);
  REQUIRE(seen.code == 0);
  CHECK(seen.json().at("total") == "101.50 USDC");
  CHECK(seen.json().at("recipientGets") == "12950.00 KES");
  CHECK(world.run("connector list", {}).json().size() == before);
  connector.erase("rate");
  CHECK(world.run("connector add", connector).code != 0);
}

TEST_CASE("payment reverse: a limit of four_eyes applies to what goes back at most") {
  World world;
  std::ostringstream out;
  const cli::Console console{out, out};
  cli::Interruption interruption;
  const Actor actor = command_line_actor(0);
  cli::Session session{world.app.core(), console, interruption, actor};
  const std::string id = world.transfer("t-1");
  const auto moved = [&](const Values& arguments) {
    const auto amount = cli::reversed_amount(session, {arguments});
    return amount ? amount->amount.to_string(2) + " " + amount->asset.value() : std::string();
  };
  CHECK(moved({{"ID", id}}) == "1.00 USDC");
  CHECK(moved({{"ID", id}, {"amount", "0.5"}}) == "0.50 USDC");
  CHECK(moved({{"ID", kUnknownId}}).empty());
}

TEST_CASE("payment resolve: a limit of four_eyes applies to what the wallet pays or receives") {
  World world;
  std::ostringstream out;
  const cli::Console console{out, out};
  cli::Interruption interruption;
  const Actor actor = command_line_actor(0);
  cli::Session session{world.app.core(), console, interruption, actor};
  const auto moved = [&](const std::string& id, Values values = {{"as", "succeeded"}}) {
    values.emplace("ID", id);
    const auto amount = cli::resolved_amount(session, {values});
    REQUIRE(amount);
    return amount->amount.to_string(2) + " " + amount->asset.value();
  };
  const std::string paid = world.cash_out("1201");
  const std::string collecting = add_connector(world.app, collection_connector());
  const std::string received = world.me.pay(
      "/v1/payments/onramp", collection_body(collection_quote(world.me, collecting), world.wallet));
  CHECK(moved(paid) == "101.50 USDC");
  CHECK(moved(received) == "74.175 USDC");
  // The amount counts only if it is credited.
  CHECK(moved(received, {{"as", "succeeded"}, {"amount", "1"}}) == "1.00 USDC");
  CHECK(moved(received, {{"as", "failed"}, {"amount", "1"}}) == "74.175 USDC");
}

TEST_CASE("payment resolve: a failed refund can be credited later, once") {
  World world;
  const std::string id = world.cash_out("1303");
  world.pass(2'000);
  REQUIRE(world.show(id).at("status") == "refund_failed");
  const std::string failed_at = world.show(id).at("updatedAt");
  CHECK(world.resolve(id, "failed").code == exit_code::kFailed);
  CHECK(world.resolve(id, "succeeded").code == exit_code::kFailed);
  world.app.clock.advance_ms(600'000);
  REQUIRE(world.resolve(id, "refunded").code == 0);
  CHECK(world.funds() == "1000.00/1000.00/0.00");
  const Json record = world.me.record(id);
  const std::vector<std::string> way{"initiated",      "processing",    "failed",
                                     "refund_pending", "refund_failed", "refunded"};
  CHECK(member_of_each(record.at("statusHistory"), "status") == way);
  CHECK(record.at("statusHistory")[4].at("at") == failed_at);
  CHECK(record.at("refund").at("status") == "refunded");
  CHECK(record.at("refund").at("at") == record.at("updatedAt"));
  CHECK(record.at("version") == 6);
  CHECK(exported(world.app, "refundClosedAt") == exported(world.app, "updatedAt"));
  CHECK(member_of_each(world.show(id).at("events"), "type").back() == "payment.refunded");
  CHECK(world.show(id).at("events").size() == 6);
  CHECK(world.resolve(id, "refunded").code == exit_code::kFailed);
  // Earlier events contain the record at their time.
  const Json events = world.me.get("/v1/events?limit=100").json().at("data");
  for (const Json& event : events) {
    if (event.at("type") != "payment.refund_failed") continue;
    CHECK(event.at("data").at("status") == "refund_failed");
    CHECK(event.at("data").at("statusHistory").size() == 5);
  }
}

TEST_CASE("payment resolve: payments without a provider cannot be resolved") {
  World world;
  const std::string id = world.transfer("t");
  CHECK(world.resolve(id, "succeeded").code == exit_code::kFailed);
  CHECK(world.resolve(kUnknownId, "succeeded").code == exit_code::kFailed);
  CHECK(world.run("payment resolve", {{"ID", id}, {"as", "succeeded"}}).code == exit_code::kUsage);
  CHECK(world.run("payment resolve", {{"ID", id}, {"as", "gone"}, {"reason", "x"}}).code ==
        exit_code::kUsage);
  world.app.settle();
  CHECK(world.show(id).at("status") == "succeeded");
}

TEST_CASE("wallet statement shows the sender's reference on a refund") {
  World world;
  world.cash_out("1301", {{"fromRef", "OFF-F"}, {"toRef", "OFF-T"}});
  world.pass(2'000);
  Json lines = world.run("wallet statement", {{"ID", world.wallet}}).json();
  REQUIRE(lines.size() == 5);  // newest first, the funding last
  for (std::size_t i = 0; i < 4; ++i) CHECK(lines[i].at("reference") == "OFF-F");
}

}  // namespace payment_commands_test
