// coffer apply: declarations in a file (docs/operating.md#fixtures).
#include <catch2/catch.hpp>
#include <set>
#include <sstream>

#include "base/platform/exit_code.h"
#include "cli/apply/json_lines.h"
#include "config/config_options.h"
#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::OpenFile;
using coffer::cli::test::Ran;
using Json = nlohmann::json;

namespace {

/// One object of every kind, which refer to each other by name.
Json everything() {
  return Json::parse(R"({
    "association": "Kestrel Pay",
    "assets": [{"code": "USDC", "name": "USD Coin"}, {"code": "XAF", "name": "CFA franc", "decimals": 0}],
    "rates": [{"sellAssetCode": "USDC", "buyAssetCode": "XAF", "rate": "605.5"}],
    "connectors": [{"name": "Kenya payout", "countryIsoCode2": "KE", "currencyIsoCode3": "KES",
                    "assetCode": "USDC", "rate": 129.5, "feeFixed": "0.50", "feeBasisPoints": 50,
                    "minAmount": "1", "maxAmount": "10000"}],
    "applications": [{"name": "backend", "scopes": "payments:write wallets:read"}],
    "fees": [{"connector": "Kenya payout", "transactionType": "B2C", "feeBasisPoints": 10}],
    "wallets": [{"walletName": "Treasury", "assetCode": "USDC", "ownAccount": true,
                 "trustlines": ["XAF"]},
                {"walletName": "Ada", "assetCode": "USDC",
                 "metadata": {"entityType": "Person", "firstName": "Ada", "lastName": "Obi",
                              "dateOfBirth": "1990-04-12", "nationality": "NG"}}],
    "fundings": [{"walletName": "Treasury", "assetCode": "USDC", "amount": "1000.5",
                  "transactionId": "SEED-1"}],
    "beneficiaries": [{"clientReference": "emp-1",
                       "individual": {"firstName": "Amina", "lastName": "Njoroge"},
                       "tags": ["staff"],
                       "paymentDestinations": [
                         {"method": "BANK", "countryIsoCode2": "KE", "currencyIsoCode3": "KES",
                          "bank": {"accountName": "Amina Njoroge", "accountNumber": "0123456789"}}]}],
    "webhooks": [{"application": "backend", "url": "https://example.com/hooks"}]
  })");
}

Ran applied(OpenFile& file, const Json& declared, bool dry_run = false) {
  std::map<std::string, std::string> values{{"FILE", declared.dump(2)}};
  if (dry_run) values["dry-run"] = "true";
  return file.run("apply", values);
}

std::map<std::string, int> actions(const Json& rows) {
  std::map<std::string, int> out;
  for (const Json& row : rows) ++out[row.at("action").get<std::string>()];
  return out;
}

/// Fields of an object that are shown once.
std::map<std::string, std::string> credentials_of(const Ran& ran, const std::string& kind) {
  std::map<std::string, std::string> out;
  const Json all = ran.json();
  for (const Json& row : all.at("credentials")) {
    if (row.at("kind") == kind) out[row.at("field")] = row.at("value");
  }
  return out;
}

Json row_of(const Json& rows, const std::string& kind) {
  for (const Json& row : rows) {
    if (row.at("kind") == kind) return row;
  }
  FAIL("no " << kind);
  return {};
}

using Actions = std::map<std::string, int>;

}  // namespace

TEST_CASE("json lines: the line of a path, or of its deepest part that exists", "[cli]") {
  const std::string text =
      "{\n \"a\": [1,\n  {\"b\": \"x]\\\"}\",\n   \"c\": {}}],\n \"d\":\n 5\n}";
  CHECK(line_of(text, "a") == 2);
  CHECK(line_of(text, "a[1]") == 3);
  CHECK(line_of(text, "a[1].b") == 3);
  CHECK(line_of(text, "a[1].c") == 4);
  CHECK(line_of(text, "a[1].c.nothing") == 4);
  CHECK(line_of(text, "a[7]") == 2);
  CHECK(line_of(text, "d") == 6);
  CHECK(line_of(text, "other") == 1);
  CHECK(line_of("{\"a\":\n1,\"b\":{\n\"a\":2},\n\"a\":\n3}", "a") == 5);
}

TEST_CASE("apply: creates missing objects once", "[cli]") {
  OpenFile file;
  const Ran first = applied(file, everything());
  INFO(first.out << first.err);
  REQUIRE(first.code == 0);
  const Json rows = first.json().at("objects");
  CHECK(actions(rows) == Actions{{"create", 12}});
  for (const Json& row : rows) CHECK(row.at("status") == "done");
  auto application = credentials_of(first, "application");
  for (const char* secret : {"clientId", "clientSecret", "apiKey"}) {
    CHECK(application[secret].size() > 10);
  }
  CHECK(credentials_of(first, "webhook")["signingSecret"].starts_with("whsec_"));
  // The text output shows them once, too.
  CHECK(first.json().at("problem").is_null());

  const Ran again = applied(file, everything());
  REQUIRE(again.code == 0);
  CHECK(actions(again.json().at("objects")) == Actions{{"unchanged", 11}});
  const std::string wallet = row_of(rows, "wallet").at("id");
  const Json balances = file.run("wallet show", {{"ID", wallet}}).json().at("balances");
  REQUIRE(balances.size() == 2);
  CHECK(balances.at(0).at("balance") == "1000.50");
  CHECK(file.run("verify").code == 0);
}

TEST_CASE("apply: the text output shows the credentials once", "[cli]") {
  OpenFile file;
  const Ran ran = file.run("apply", {{"FILE", everything().dump()}}, false);
  REQUIRE(ran.code == 0);
  CHECK(ran.out.find("whsec_") != std::string::npos);
  CHECK(ran.out.find("clientSecret") != std::string::npos);
  CHECK(ran.err.find("You won't see them again") != std::string::npos);
}

TEST_CASE("apply: a rejected object ends the run, and a repeated run continues", "[cli]") {
  OpenFile file([](Config& config) {
    REQUIRE(set_config_value(*find_config_option("quota_sandbox"), "wallets=1", config));
  });
  const Ran stopped = applied(file, everything());
  CHECK(stopped.code == exit_code::kFailed);
  const Json objects = stopped.json().at("objects");
  CHECK(objects.back().at("kind") == "wallet");
  CHECK(objects.back().at("status") == "failed");
  CHECK_FALSE(stopped.json().at("problem").is_null());
  // Objects created earlier are kept, with their secrets.
  CHECK(credentials_of(stopped, "application").contains("apiKey"));
  Json fewer = everything();
  fewer["wallets"].erase(1);
  const Ran rest = applied(file, fewer);
  INFO(rest.err);
  CHECK(rest.code == 0);
  CHECK(actions(rest.json().at("objects")) == Actions{{"unchanged", 7}, {"create", 3}});
  CHECK(credentials_of(rest, "application").empty());
}

TEST_CASE("apply: a dry run shows the changes of a run without making them", "[cli]") {
  OpenFile file;
  const Ran empty = applied(file, everything(), true);
  REQUIRE(empty.code == 0);
  CHECK(actions(empty.json().at("objects")) == Actions{{"create", 12}});
  CHECK(file.run("association list").json().empty());
  CHECK(file.run("asset list").json().empty());

  REQUIRE(applied(file, everything()).code == 0);
  Json changed = everything();
  changed["rates"][0]["rate"] = "600";
  changed["connectors"][0]["feeFixed"] = "0.75";
  changed["connectors"][0]["status"] = "PAUSED";
  changed["applications"][0]["scopes"] = "payments:write";
  changed["fees"][0]["feeBasisPoints"] = 20;
  changed["wallets"][1]["metadata"]["lastName"] = "Eze";
  changed["beneficiaries"][0]["individual"]["lastName"] = "Otieno";
  changed["webhooks"][0]["eventTypes"] = {"payment.failed"};
  const Json planned = applied(file, changed, true).json().at("objects");
  CHECK(actions(planned) == Actions{{"change", 7}, {"unchanged", 4}});
  CHECK(row_of(planned, "rate").at("differences") == "rate: 605.5 -> 600");
  CHECK(row_of(planned, "connector").at("differences") ==
        "feeFixed: 0.50 -> 0.75; status: ACTIVE -> PAUSED");
  // Personal data is compared, but not printed.
  CHECK(planned.dump().find("Otieno") == std::string::npos);

  const Json done = applied(file, changed).json().at("objects");
  CHECK(actions(done) == Actions{{"change", 7}, {"unchanged", 4}});
  CHECK(actions(applied(file, changed, true).json().at("objects")) == Actions{{"unchanged", 11}});
  const std::string beneficiary = row_of(done, "beneficiary").at("id");
  const Json shown = file.run("beneficiary show", {{"ID", beneficiary}}).json();
  CHECK(shown.at("name") == "Amina Otieno");
  CHECK(shown.at("destinations").size() == 1);
}

TEST_CASE("apply: what the file does not contain stays, and null removes it", "[cli]") {
  OpenFile file;
  Json first = everything();
  first["connectors"][0].update(Json{{"provider", "Kestrel"},
                                     {"dayLimit", "500"},
                                     {"monthLimit", "900"},
                                     {"transactionTypes", {"B2C"}}});
  first["fees"][0]["feeFixed"] = "1";
  first["webhooks"][0].update(Json{{"description", "Ledger"}, {"eventTypes", {"payment.failed"}}});
  REQUIRE(applied(file, first).code == 0);
  // The names alone, with a dry run and a real one: nothing changes.
  const Json bare = Json::parse(R"({
    "association": "Kestrel Pay",
    "assets": [{"code": "USDC", "name": "USD Coin"}, {"code": "XAF", "name": "CFA franc"}],
    "connectors": [{"name": "Kenya payout", "countryIsoCode2": "KE", "currencyIsoCode3": "KES",
                    "assetCode": "USDC"}],
    "applications": [{"name": "backend"}],
    "fees": [{"connector": "Kenya payout", "transactionType": "B2C"}],
    "wallets": [{"walletName": "Treasury", "assetCode": "USDC", "ownAccount": true}],
    "beneficiaries": [{"clientReference": "emp-1"}],
    "webhooks": [{"application": "backend", "url": "https://example.com/hooks"}]
  })");
  const Ran unchanged = applied(file, bare, true);
  INFO(unchanged.err);
  REQUIRE(unchanged.code == 0);
  CHECK(actions(unchanged.json().at("objects")) == Actions{{"unchanged", 8}});
  Json change = bare;
  change["connectors"][0].update(
      Json{{"maxAmount", "700"}, {"dayLimit", nullptr}, {"feeFixed", nullptr}});
  change["fees"][0]["feeBasisPoints"] = 30;
  change["beneficiaries"][0]["tags"] = {"vip"};
  change["webhooks"][0]["description"] = nullptr;
  const Json done = applied(file, change).json().at("objects");
  CHECK(row_of(done, "connector").at("differences") ==
        "feeFixed: 0.50 -> 0.00; maxAmount: 10000.00 -> 700.00; dayLimit: 500.00 -> none");
  CHECK(row_of(done, "fee").at("differences") == "feeBasisPoints: 10 -> 30");
  CHECK(row_of(done, "webhook").at("differences") == "description: Ledger -> ");
  const std::string beneficiary = row_of(done, "beneficiary").at("id");
  const Json shown = file.run("beneficiary show", {{"ID", beneficiary}}).json();
  CHECK(shown.at("name") == "Amina Njoroge");
  CHECK(shown.at("destinations").size() == 1);
  CHECK(file.run("connector list").json().at(0).at("status") == "ACTIVE");
}

TEST_CASE("apply: null for a member that cannot be removed is an error", "[cli]") {
  OpenFile file;
  REQUIRE(applied(file, everything()).code == 0);
  const std::string before = file.run("connector list").out;
  const std::pair<const char*, const char*> members[] = {{"connectors", "maxAmount"},
                                                         {"connectors", "rate"},
                                                         {"connectors", "status"},
                                                         {"assets", "decimals"},
                                                         {"webhooks", "eventTypes"}};
  for (const auto& [section, member] : members) {
    Json wanted = everything();
    wanted[section][0][member] = nullptr;
    const Ran ran = applied(file, wanted);
    INFO(section << " " << member << " " << ran.out << ran.err);
    CHECK(ran.code != 0);
    CHECK(ran.err.find(member) != std::string::npos);
    CHECK(ran.err.find("cannot be removed") != std::string::npos);
  }
  CHECK(file.run("connector list").out == before);
}

TEST_CASE("apply: a price that a provider would not use is an error", "[cli]") {
  OpenFile file;
  Json wanted = everything();
  wanted.erase("fees");
  wanted["connectors"][0].update(Json{{"driver", "http"}, {"baseUrl", "https://provider.example"}});
  const Ran rejected = applied(file, wanted);
  CHECK(rejected.code != 0);
  CHECK(rejected.err.find("connectors[0].rate: has no effect") != std::string::npos);
  wanted["connectors"][0]["toleranceBasisPoints"] = 100;
  CHECK(applied(file, wanted).code == 0);
  CHECK(actions(applied(file, wanted, true).json().at("objects")) == Actions{{"unchanged", 10}});
  // The driver is fixed.
  wanted["connectors"][0]["driver"] = "sandbox";
  CHECK(applied(file, wanted).err.find("connectors[0].driver: cannot be changed") !=
        std::string::npos);
}

TEST_CASE("apply: limits of payments", "[cli]") {
  OpenFile file;
  Json wanted = everything();
  wanted["limits"] = Json::parse(R"([
    {"assetCode": "USDC", "perPayment": "500", "countPerDay": 9},
    {"assetCode": "USDC", "application": "backend", "perDay": "1000"},
    {"assetCode": "XAF", "walletName": "Treasury", "perMonth": "7"}])");
  const Json made = applied(file, wanted).json().at("objects");
  CHECK(row_of(made, "limit").at("name") == "USDC, association");
  CHECK(file.run("limit list").json().size() == 3);
  CHECK(actions(applied(file, wanted).json().at("objects")) == Actions{{"unchanged", 14}});
  wanted["limits"][0]["perPayment"] = nullptr;
  CHECK(row_of(applied(file, wanted).json().at("objects"), "limit").at("differences") ==
        "perPayment: 500.00 -> none");
  wanted["limits"][1]["walletName"] = "Treasury";
  CHECK(applied(file, wanted).err.find("limits[1].walletName: must not") != std::string::npos);
}

TEST_CASE("apply: every error is reported with its line, and no object is changed", "[cli]") {
  OpenFile file;
  Json wrong = everything();
  wrong["assets"][0]["decimals"] = 9;
  wrong["wallets"][0]["walletname"] = "x";
  wrong["wallets"][1]["metadata"]["nationality"] = "Atlantis";
  wrong["fees"][0]["connector"] = "Unknown";
  wrong["beneficiaries"][0]["paymentDestinations"][0]["bank"].erase("accountNumber");
  wrong["webhooks"][0]["url"] = "http://10.0.0.1/";
  wrong["fundings"][0]["amount"] = "-1";
  wrong["other"] = 1;
  const std::string text = wrong.dump(2);
  const Ran rejected = file.run("apply", {{"FILE", text}});
  CHECK(rejected.code != 0);
  CHECK(rejected.out.empty());
  for (const char* path :
       {"assets[0].decimals", "wallets[0].walletname", "wallets[1].metadata.nationality",
        "fees[0].connector", "beneficiaries[0].paymentDestinations[0].bank", "fundings[0].amount",
        "other"}) {
    const std::string said = "line " + std::to_string(line_of(text, path)) + ": " + path;
    INFO(said << " in\n" << rejected.err);
    CHECK(rejected.err.find(said) != std::string::npos);
  }
  CHECK(file.run("association list").json().empty());
  CHECK(file.run("asset list").json().empty());
  CHECK(file.run("apply", {{"FILE", "{\"assets\": ["}}).code != 0);
}

TEST_CASE(
    "apply: values that the objects would reject are errors of the file, also of declared objects",
    "[cli]") {
  OpenFile file;
  Json wrong = everything();
  wrong["assets"][0]["issuer"] = "GNONE";
  wrong["assets"].push_back({{"code", "EURC"}, {"name", "Euro"}, {"decimals", 2}});
  wrong["fees"][0]["feeFixed"] = "0.123";
  wrong["connectors"][0]["assetCode"] = "EURC";
  wrong["wallets"].push_back(
      {{"walletName", "Euros"}, {"assetCode", "EURC"}, {"ownAccount", true}});
  const auto fund = [](const char* wallet, const char* asset, const char* amount, const char* id) {
    return Json{
        {"walletName", wallet}, {"assetCode", asset}, {"amount", amount}, {"transactionId", id}};
  };
  wrong["fundings"] = {fund("Euros", "EURC", "5.001", "SEED-2"),
                       fund("Euros", "XAF", "5", "SEED-3"), fund("Euros", "EURC", "5", "SEED 4"),
                       fund("Euros", "EURC", "5.01", "SEED-5")};
  wrong["webhooks"].push_back({{"application", "backend"}, {"url", "https://example.com/two"}});
  for (const bool dry_run : {true, false}) {
    const Ran rejected = applied(file, wrong, dry_run);
    INFO(rejected.err);
    CHECK(rejected.code != 0);
    CHECK(rejected.out.empty());
    for (const char* said :
         {"assets[0].issuer: must be a public key",
          "fees[0].feeFixed: ", "fundings[0].amount: has too many decimal places: EURC has 2",
          "fundings[1].assetCode: must be an asset for which the wallet has a trustline",
          "fundings[2].transactionId: must have 1 to 64 characters",
          "webhooks[1].eventTypes: payment.initiated is delivered to https://example.com/hooks"}) {
      INFO(said);
      CHECK(rejected.err.find(said) != std::string::npos);
    }
    CHECK(rejected.err.find("fundings[3]") == std::string::npos);
    CHECK(file.run("association list").json().empty());
    CHECK(file.run("asset list").json().empty());
  }
  // The same rules for objects that exist.
  REQUIRE(applied(file, everything()).code == 0);
  Json more{{"association", "Kestrel Pay"}, {"environment", "sandbox"}};
  more["fundings"] = {fund("Treasury", "XAF", "5.5", "SEED-6"), fund("Ada", "XAF", "5", "SEED-7"),
                      fund("Treasury", "XAF", "5", "SEED-8")};
  more["webhooks"] = {{{"application", "backend"},
                       {"url", "https://example.com/two"},
                       {"eventTypes", {"payment.failed"}}}};
  const Ran rejected = applied(file, more, true);
  for (const char* said :
       {"fundings[0].amount", "fundings[1].assetCode", "webhooks[0].eventTypes"}) {
    INFO(said << " in\n" << rejected.err);
    CHECK(rejected.err.find(said) != std::string::npos);
  }
  CHECK(rejected.err.find("fundings[2]") == std::string::npos);
}

TEST_CASE("apply: changes of fixed values and duplicate names are rejected", "[cli]") {
  OpenFile file;
  REQUIRE(applied(file, everything()).code == 0);
  Json wrong = everything();
  wrong["assets"][0]["name"] = "Other";
  wrong["connectors"][0]["countryIsoCode2"] = "NG";
  wrong["wallets"][0]["assetCode"] = "XAF";
  wrong["wallets"][1]["walletName"] = "Treasury";
  wrong["fundings"][0]["amount"] = "2000";
  const Ran rejected = applied(file, wrong);
  CHECK(rejected.code != 0);
  for (const char* said :
       {"assets[0].name: cannot be changed", "connectors[0].countryIsoCode2: cannot be changed",
        "wallets[0].assetCode: cannot be changed", "wallets[1].walletName: is declared twice",
        "fundings[0].transactionId: was already used"}) {
    INFO(said << " in\n" << rejected.err);
    CHECK(rejected.err.find(said) != std::string::npos);
  }
}

TEST_CASE("apply: funding and the sandbox driver are rejected in production", "[cli]") {
  OpenFile file;
  Json wanted = everything();
  wanted["environment"] = "production";
  const Ran rejected = applied(file, wanted);
  CHECK(rejected.code != 0);
  CHECK(rejected.err.find("fundings[0].transactionId") != std::string::npos);
  CHECK(rejected.err.find("connectors[0].driver") != std::string::npos);
  for (const char* section : {"fundings", "connectors", "fees"}) wanted.erase(section);
  const Ran done = applied(file, wanted);
  INFO(done.err);
  CHECK(done.code == 0);
  CHECK(file.run("wallet list", {{"environment", "sandbox"}}).json().empty());
}

TEST_CASE("apply: a value of a wrong type is one error, not also a missing member", "[cli]") {
  OpenFile file;
  const Json declared = everything();
  const Json flat = declared.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    Json wrong = declared;
    wrong[Json::json_pointer(pointer)] = value.is_boolean() ? Json(5) : Json(Json::array({true}));
    const Ran ran = applied(file, wrong, true);
    INFO(pointer << " " << ran.err);
    CHECK(ran.code != 0);
    CHECK(ran.err.find("is required") == std::string::npos);
    std::set<std::string> lines;
    std::istringstream said(ran.err);
    for (std::string line; std::getline(said, line);) CHECK(lines.insert(line).second);
  }
}

TEST_CASE("apply: every error of the file, once and in the order of lines", "[cli]") {
  OpenFile file;
  const Ran ran = file.run("apply", {{"FILE", R"({
 "association": "A",
 "webhooks": [{"url": "http://10.0.0.1/", "application": "none",
   "eventTypes": 5}],
 "wallets": [{"walletName": "W", "assetCode": "NONE", "ownAccount": true,
   "trustlines": ["SOME", "SOME"],
   "other": 1,
   "walletName": "V",
   "walletName": "V"}],
 "rates": [{"sellAssetCode": "NONE", "buyAssetCode": "SOME",
   "rate": 0}],
 "fundings": [{"walletName": "U", "assetCode": "NONE",
   "amount": "x",
   "transactionId": ")" + std::string(5'000, 'x') +
                                                  R"("}],
 "fees": [{"connector": "C",
   "transactionType": "X"}],
 "wallets": []
})"}});
  CHECK(ran.code != 0);
  std::istringstream said(ran.err);
  std::vector<std::string> places;
  std::string line;
  for (std::getline(said, line); std::getline(said, line);) {
    places.push_back(line.substr(2, line.find(": ", line.find(": ") + 2) - 2));
  }
  INFO(ran.err);
  CHECK(places == std::vector<std::string>{
                      "line 3: webhooks[0].application", "line 4: webhooks[0].eventTypes",
                      "line 5: wallets[0].assetCode", "line 6: wallets[0].trustlines",
                      "line 7: wallets[0].other", "line 9: wallets[0].walletName",
                      "line 10: rates[0].buyAssetCode", "line 10: rates[0].sellAssetCode",
                      "line 11: rates[0].rate", "line 12: fundings[0].assetCode",
                      "line 12: fundings[0].walletName", "line 13: fundings[0].amount",
                      "line 14: fundings[0].transactionId", "line 15: fees[0].connector",
                      "line 16: fees[0].transactionType", "line 17: wallets"});
}

TEST_CASE("apply: an error of the JSON states its line", "[cli]") {
  OpenFile file;
  const auto said = [&](const std::string& text) {
    const Ran ran = file.run("apply", {{"FILE", text}});
    CHECK(ran.code == exit_code::kUsage);
    CHECK(ran.err.find("byte") == std::string::npos);
    CHECK(ran.err.find("body") == std::string::npos);
    return ran.err;
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(said("{\n \"association\": \"A\",\n \"assets\": [,]\n}"), Contains("at line 3"));
  CHECK_THAT(said("{\n \"association\": \"A"), Contains("at line 2"));
  CHECK_THAT(said("{\n \"assets\": [\n  {\"code\": \"" + std::string(5'000, 'x') + "\"}]}"),
             Contains("line 3: assets[0].code: "));
  CHECK_THAT(said("{\n \"rates\":\n" + std::string(40, '[') + std::string(40, ']') + "}"),
             Contains("line 3: rates"));
  CHECK_THAT(said(std::string("{\n\0}", 4)), Contains("a NUL character at line 2"));
  CHECK_THAT(said("{\n \"rates\":\n 1,\n \"rates\": 2, ]"),
             Contains("at line 4") && Contains("line 4: rates: appears twice"));
  CHECK_THAT(said("[]"), Contains("must contain a JSON object, not an array"));
}
