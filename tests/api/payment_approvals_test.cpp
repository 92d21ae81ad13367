// Payments of operators under four eyes (docs/operating.md#four-eyes): what was previewed or
// approved is what is paid, and the approver sees whom.
#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "cli/payments/payments.h"
#include "cli/run/dispatch.h"
#include "domain/providers/quote.h"
#include "flows/identity/operators.h"
#include "support/commands.h"
#include "support/connectors.h"
#include "support/recipients.h"
#include "support/test_app.h"
#include "support/unknown_id.h"

using namespace coffer;
using namespace coffer::test;

namespace payment_approvals_test {
namespace {

/// The body of a reply of the admin page, or the problem.
struct Done {
  std::optional<Problem> problem;
  Json body;
  bool waits() const { return body.value("waits", false); }
  const Json& data() const { return body.at("data"); }
};

/// Two administrators, of whom the second approves.
struct Office {
  explicit Office(const char* four_eyes = "all")
      : app([four_eyes](Config& config) {
          config.four_eyes = FourEyes::parse(four_eyes).value();
        }) {}

  Actor actor(const std::string& name) {
    const auto row =
        flows::ensure_administrator(app.flows(), name, Secret("correct horse battery"), false);
    return {name, OperatorRole::administrator, row.value().id};
  }
  Done run_as(const Actor& who, const std::string& path, Values values) {
    std::ostringstream out;
    const cli::Console console{out, out};
    cli::Interruption interruption;
    cli::Session session{app.core(), console, interruption, who};
    const cli::Command* command = cli::find_command(path);
    REQUIRE(command != nullptr);
    cli::Arguments arguments{std::move(values)};
    const auto checked = cli::check_arguments(*command, arguments);
    if (!checked) return {checked.error(), {}};
    const auto done = cli::carry_out(session, *command, arguments);
    if (!done) return {done.error(), {}};
    return {{}, Json::parse(cli::to_json(*done))};
  }
  Done preview(Values values) {
    values["preview"] = "true";
    const Done seen = run_as(ada, "payment create", values);
    INFO((seen.problem ? seen.problem->detail : ""));
    REQUIRE_FALSE(seen.problem);
    return seen;
  }
  /// The ID of the request that waits.
  std::string request(const Values& values, const std::string& command = "payment create") {
    const Done asked = run_as(ada, command, values);
    INFO((asked.problem ? asked.problem->detail : asked.body.dump()));
    REQUIRE(asked.waits());
    return asked.data().at("id");
  }
  Done approve(const std::string& id) { return run_as(bob, "approval approve", {{"ID", id}}); }
  Json show(const std::string& id) {
    return run_command(app, "approval show", {{"ID", id}}).json();
  }
  /// The request stays open with this problem, and no money is held.
  void refuses(const std::string& id, Slug slug, const std::string& said) {
    const Done done = approve(id);
    INFO(done.body.dump());
    REQUIRE(done.problem);
    INFO(done.problem->detail);
    CHECK(done.problem->slug == slug);
    CHECK(done.problem->detail.find(said) != std::string::npos);
    CHECK(show(id).at("status") == "waiting");
    CHECK(me.funds(wallet, "USDC").ends_with("/0.00"));
  }
  /// The beneficiary is now paid at another number.
  void replace_destination(const std::string& beneficiary, const std::string& digits = "9999") {
    Json body{
        {"individual", {{"firstName", "Amina"}, {"lastName", "Otieno"}}},
        {"paymentDestinations",
         {{{"method", "MOBILE_MONEY"},
           {"countryIsoCode2", "KE"},
           {"currencyIsoCode3", "KES"},
           {"mobileMoney", {{"provider", "M-Pesa"}, {"phoneNumber", "+25471234" + digits}}}}}}};
    const Reply reply = me.put("/v1/beneficiaries/" + beneficiary, body);
    INFO(reply.text());
    REQUIRE(reply.status == 200);
  }
  Values payment(const std::string& type, const std::string& amount) {
    return {{"type", type},
            {"application", application},
            {"wallet", wallet},
            {"amount", amount},
            {"transaction-id", "op-1"}};
  }
  Values payout(const std::string& beneficiary, const std::string& amount = "100") {
    Values out = payment("offramp", amount);
    out.insert({{"beneficiary", beneficiary},
                {"connector", connector},
                {"purpose", "SALARY"},
                {"source-of-funds", "SALARY"},
                {"relationship", "EMPLOYEE"}});
    return out;
  }
  Values transfer(const std::string& amount = "5") {
    Values out = payment("p2p_own", amount);
    out.insert({{"to", other}, {"asset", "USDC"}});
    return out;
  }
  void expire_quotes() { app.clock.advance_ms(kQuoteLifetimeMs + 1); }

  TestApp app;
  const Client& me = app.me();
  std::string wallet = app.wallet("USDC", "1000");
  std::string other = app.wallet("USDC");
  std::string connector = add_connector(app);  // 129.5, fee 0.50 and 1 %
  std::string application = run_command(app, "application list", {}).json()[0].at("id");
  Actor ada = actor("ada");
  Actor bob = actor("bob");
};

/// The values of {name, value} rows.
Json pairs_of(const Json& rows) {
  Json out = Json::object();
  for (const Json& row : rows) out[row.at("name").get<std::string>()] = row.at("value");
  return out;
}

}  // namespace

TEST_CASE("payment approval: a destination that is replaced after the preview is not paid") {
  Office office;
  const std::string beneficiary = add_recipient(office.me, "5555");
  Values payout = office.payout(beneficiary);
  const Json seen = office.preview(payout).data();
  CHECK(seen.at("destinationAccount") == "*********5555");
  SECTION("with the quote of the preview") { payout["quote"] = seen.at("quoteId"); }
  SECTION("without it") {}
  SECTION("with the destination by its ID") {
    const Json shown = office.me.get("/v1/beneficiaries/" + beneficiary).json();
    payout["destination"] = shown.at("paymentDestinations")[0].at("id");
  }
  const std::string id = office.request(payout);
  office.replace_destination(beneficiary);
  office.expire_quotes();
  const Done done = office.approve(id);
  REQUIRE(done.problem);
  INFO(done.problem->detail);
  const bool named = payout.contains("destination");
  CHECK(done.problem->slug == (named ? Slug::not_found : Slug::conflict));
  if (!named) CHECK(done.problem->detail.find("destination") != std::string::npos);
  CHECK(office.show(id).at("status") == "waiting");
  CHECK(office.me.funds(office.wallet, "USDC") == "1000.00/1000.00/0.00");
}

TEST_CASE("payment approval: a destination that is replaced under its ID is not paid") {
  Office office;
  const std::string beneficiary = add_recipient(office.me, "5555");
  const Json shown = office.me.get("/v1/beneficiaries/" + beneficiary).json();
  Values payout = office.payout(beneficiary);
  const std::string destination = shown.at("paymentDestinations")[0].at("id");
  payout["destination"] = destination;
  const std::string id = office.request(payout);
  const std::string path = "/v1/business/beneficiaries/" + office.app.association().to_string() +
                           "/" + beneficiary + "/payment-destinations/";
  const Reply replaced =
      office.me.put(path + destination,
                    {{"method", "MOBILE_MONEY"},
                     {"countryIsoCode2", "KE"},
                     {"currencyIsoCode3", "KES"},
                     {"mobileMoney", {{"provider", "M-Pesa"}, {"phoneNumber", "+254712349999"}}}});
  INFO(replaced.text());
  REQUIRE(replaced.status == 200);
  office.expire_quotes();
  office.refuses(id, Slug::conflict, "destination");
}

TEST_CASE("payment create: an expired quote pays only the destination that it was for") {
  Office office("off");
  const std::string beneficiary = add_recipient(office.me, "5555");
  Values payout = office.payout(beneficiary);
  payout["quote"] = office.preview(payout).data().at("quoteId");
  office.replace_destination(beneficiary);
  office.expire_quotes();
  const Done refused = office.run_as(office.ada, "payment create", payout);
  REQUIRE(refused.problem);
  CHECK(refused.problem->slug == Slug::conflict);
  // The same account again is what was previewed.
  office.replace_destination(beneficiary, "5555");
  CHECK_FALSE(office.run_as(office.ada, "payment create", payout).problem);
}

TEST_CASE("payment create: the check value of a preview names what has changed") {
  Office office("off");
  const std::string beneficiary = add_recipient(office.me, "5555");
  Values payout = office.payout(beneficiary);
  payout["preview-check"] = office.preview(payout).data().at("previewCheck");
  const auto changed = [&](const char* name, const std::string& value) {
    Values other = payout;
    other[name] = value;
    const Done done = office.run_as(office.ada, "payment create", other);
    REQUIRE(done.problem);
    CHECK(done.problem->slug == Slug::conflict);
    return done.problem->detail;
  };
  CHECK(changed("amount", "101").find("changed: amount or assets.") != std::string::npos);
  CHECK(changed("wallet", office.app.wallet("USDC", "500")).find("changed: wallet.") !=
        std::string::npos);
  CHECK(changed("connector", add_connector(office.app)).find("changed: connector.") !=
        std::string::npos);
  CHECK(changed("beneficiary", add_recipient(office.me, "5555")).find("changed: recipient.") !=
        std::string::npos);
  payout["preview-check"] = "x";
  CHECK(office.run_as(office.ada, "payment create", payout).problem->slug ==
        Slug::malformed_request);
}

TEST_CASE("payment approval: payments to an address and swaps go where the request showed") {
  Office office;
  office.app.rate("USDC", "EURC", "0.92");
  office.app.liquidity("EURC", "1000");
  const std::string first = office.me.get("/v1/wallets/" + office.other).json().at("publicKey");
  const std::string second =
      office.me.get("/v1/wallets/" + office.app.wallet("USDC")).json().at("publicKey");
  for (const bool swap : {false, true}) {
    INFO(swap);
    const std::string asset = swap ? "EURC" : "USDC";
    const std::string beneficiary = add_ledger_recipient(office.me, first, asset);
    Values values = office.payment(swap ? "swap_beneficiary" : "p2p_beneficiary", "10");
    values.insert({{"beneficiary", beneficiary}, {"asset", "USDC"}});
    if (swap) values["receive-asset"] = "EURC";
    const std::string id = office.request(values);
    const Json seen = pairs_of(office.show(id).at("previewed"));
    CHECK(seen.at("destinationName") == "Ledger Partner");
    CHECK(seen.at("destinationMethod") == "CRYPTO");
    if (swap) CHECK(seen.at("recipientGets") == "9.20 EURC");
    if (swap) CHECK(seen.at("rate") == "0.92");
    if (swap) {
      office.app.rate("USDC", "EURC", "0.91");
      office.refuses(id, Slug::conflict, "price has become worse");
      office.app.rate("USDC", "EURC", "0.92");
    }
    const Json body{{"business", {{"companyName", "Ledger Partner"}}},
                    {"paymentDestinations",
                     {{{"method", "CRYPTO"},
                       {"countryIsoCode2", "US"},
                       {"currencyIsoCode3", "USD"},
                       {"networkName", "COFFER"},
                       {"assetSymbol", asset},
                       {"walletAddress", second}}}}};
    REQUIRE(office.me.put("/v1/beneficiaries/" + beneficiary, body).status == 200);
    office.refuses(id, Slug::conflict, "destination");
  }
}

TEST_CASE("payment approval: a file pays only the destinations of the request") {
  Office office;
  const std::string beneficiary = add_recipient(office.me, "5555");
  const std::string file =
      "transactionId,sourceWalletId,beneficiaryId,connectorId,amount,purposeOfPayment,"
      "sourceOfFunds,relationship\nPAY-1," +
      office.wallet + "," + beneficiary + "," + office.connector + ",100,SALARY,SALARY,EMPLOYEE\n";
  const std::string id =
      office.request({{"FILE", file}, {"application", office.application}}, "payment bulk");
  CHECK(office.show(id).at("previewed")[0].at("value").get<std::string>().find("1 valid") == 0);
  office.replace_destination(beneficiary);
  office.refuses(id, Slug::conflict, "destination");
  office.replace_destination(beneficiary, "5555");
  Values second{{"FILE", file}, {"application", office.application}};
  second["FILE"].replace(file.find("PAY-1"), 5, "PAY-2");
  const std::string dearer = office.request(second, "payment bulk");
  const auto set = [&](const char* command, const char* name, const char* value) {
    const Values values{{"ID", office.connector}, {name, value}};
    REQUIRE(run_command(office.app, command, values).code == 0);
  };
  set("connector set-fee", "fee-fixed", "0.60");
  office.refuses(dearer, Slug::conflict, "rate or fee");
  set("connector set-fee", "fee-fixed", "0.50");
  set("connector set-rate", "RATE", "1");
  office.refuses(dearer, Slug::conflict, "rate or fee");
  set("connector set-rate", "RATE", "129.5");
  CHECK_FALSE(office.approve(id).problem);
  CHECK(office.me.funds(office.wallet, "USDC") == "1000.00/898.50/101.50");
}

TEST_CASE("payment approval: the request says who is paid, and then which payment was made") {
  Office office;
  Values payout = office.payout(add_recipient(office.me, "5555"));
  const std::string id = office.request(payout);
  const Json asked = office.show(id);
  CHECK(asked.at("subject") == "101.50 USDC, Amina Otieno, *********5555");
  const Json seen = pairs_of(asked.at("previewed"));
  CHECK(seen.at("sourceName") == "Own USDC");
  CHECK(seen.at("destinationName") == "Amina Otieno");
  CHECK(seen.at("destinationAccount") == "*********5555");
  CHECK(seen.at("destinationMethod") == "MOBILE_MONEY");
  CHECK(seen.at("connector").is_string());
  CHECK(seen.at("fee") == "1.50 USDC");
  CHECK(seen.at("total") == "101.50 USDC");
  CHECK(seen.at("recipientGets") == "12950.00 KES");
  CHECK(seen.at("rate") == "129.5");
  const Done done = office.approve(id);
  REQUIRE_FALSE(done.problem);
  const Json decided = office.show(id);
  CHECK(decided.at("status") == "done");
  CHECK(decided.at("outcome").is_null());
  CHECK(decided.at("transactionRecordId") == done.data().at("transactionRecordId"));
  CHECK(office.me.record(decided.at("transactionRecordId")).at("quoteId") == seen.at("quoteId"));
  const Json listed = run_command(office.app, "approval list", {}).json();
  CHECK(listed[0].at("transactionRecordId") == decided.at("transactionRecordId"));
}

TEST_CASE("payment approval: what fails at the approval leaves the request of a payout open") {
  Office office;
  const std::string beneficiary = add_recipient(office.me, "5555");
  const std::string payout = office.request(office.payout(beneficiary));
  Values moved = office.transfer("950");
  moved["transaction-id"] = "op-2";
  const std::string transfer = office.request(moved);
  office.me.transfer(office.wallet, office.other, "950");
  office.app.settle();
  office.expire_quotes();
  office.refuses(payout, Slug::insufficient_funds, "sufficient funds");
  office.refuses(transfer, Slug::insufficient_funds, "sufficient funds");
  office.me.fund(office.wallet, "USDC", "950");
  const Values worse{{"ID", office.connector}, {"RATE", "129"}};
  const Values same{{"ID", office.connector}, {"RATE", "129.5"}};
  REQUIRE(run_command(office.app, "connector set-rate", worse).code == 0);
  office.refuses(payout, Slug::conflict, "price has become worse");
  REQUIRE(run_command(office.app, "connector set-rate", same).code == 0);
  const Done done = office.approve(payout);
  REQUIRE_FALSE(done.problem);
  CHECK(office.show(payout).at("status") == "done");
  CHECK(office.me.funds(office.wallet, "USDC") == "1000.00/898.50/101.50");
}

TEST_CASE("payment create: a limit of four_eyes exempts payouts by what they debit") {
  Office office("USDC=10");
  const std::string beneficiary = add_recipient(office.me, "5555");
  const auto waits = [&](Values values) {
    static int count = 0;
    values["transaction-id"] = "t-" + std::to_string(++count);
    const Done done = office.run_as(office.ada, "payment create", values);
    INFO((done.problem ? done.problem->detail : ""));
    REQUIRE_FALSE(done.problem);
    return done.waits();
  };
  // 9 and its fee of 0.59 are 9.59; 9.45 and 0.5945 are more than 10.
  for (const bool quoted : {false, true}) {
    INFO(quoted);
    for (const auto& [amount, expected] :
         {std::pair("1", false), std::pair("9", false), std::pair("9.45", true)}) {
      INFO(amount);
      Values values = office.payout(beneficiary, amount);
      if (quoted) values["quote"] = office.preview(values).data().at("quoteId");
      CHECK(waits(values) == expected);
    }
  }
  CHECK_FALSE(waits(office.transfer("10")));
  CHECK(waits(office.transfer("10.01")));
}

TEST_CASE("payment create: hints and refusals name what is wrong") {
  Office office("off");
  const std::string beneficiary = add_recipient(office.me, "5555");
  struct Wrong {
    const char* name;
    std::string value;
    const char* said;
  };
  for (const Wrong& wrong : std::initializer_list<Wrong>{
           {"quote", kUnknownId, "coffer quote list"},
           {"beneficiary", kUnknownId, "coffer beneficiary list"},
           {"application", kUnknownId, "coffer application list"},
           {"amount", "1.00000001", "at most 7 decimal places"},
           {"receive-asset", "EURC", "receive-asset does not apply to --type offramp"}}) {
    INFO(wrong.name);
    Values values = office.payout(beneficiary);
    values[wrong.name] = wrong.value;
    const Ran ran = run_command(office.app, "payment create", values);
    INFO(ran.err);
    CHECK(ran.code != 0);
    CHECK(ran.err.find(wrong.said) != std::string::npos);
    if (std::string(wrong.name) != "application") {
      CHECK(ran.err.find("List applications") == std::string::npos);
    }
  }
  Values quoted = office.transfer();
  quoted["quote"] = kUnknownId;
  CHECK(run_command(office.app, "payment create", quoted).err.find("quote does not apply") !=
        std::string::npos);
  const Values scopes{{"ID", office.application}, {"SCOPES", "wallets:read"}};
  REQUIRE(run_command(office.app, "application scopes", scopes).code == 0);
  const Ran ran = run_command(office.app, "payment create", office.transfer());
  CHECK(ran.err.find("the application lacks the scope payments:write") != std::string::npos);
  CHECK(ran.err.find("token") == std::string::npos);
}

TEST_CASE("wallet create and beneficiary create: fields that do not apply are refused") {
  Office office("off");
  const std::string owner = office.app.association().to_string();
  const Values wallet{{"NAME", "W"}, {"asset", "USDC"}, {"association", owner}};
  const auto refused = [&](const std::string& command, Values values, const Values& more) {
    values.insert(more.begin(), more.end());
    const Ran ran = run_command(office.app, command, values);
    INFO(ran.err);
    CHECK(ran.err.find("does not apply") != std::string::npos);
    return ran.code == 2;
  };
  CHECK(refused("wallet create", wallet, {{"holder", "person"}, {"company-name", "X"}}));
  CHECK(refused("wallet create", wallet, {{"holder", "own"}, {"first-name", "X"}}));
  CHECK(refused("beneficiary create",
                {{"association", owner}, {"first-name", "A"}, {"last-name", "B"}},
                {{"method", "none"}, {"country", "KE"}}));
}

}  // namespace payment_approvals_test
