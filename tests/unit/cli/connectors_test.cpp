// coffer connector and coffer fee, as the operator uses them.
#include <catch2/catch.hpp>

#include "base/platform/exit_code.h"
#include "support/unknown_id.h"
#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::OpenFile;
using coffer::cli::test::Ran;
using coffer::test::kUnknownId;

namespace connectors_test {
namespace {

using Values = std::map<std::string, std::string>;

Values payouts() {
  return {{"NAME", "Payouts"}, {"method", "MOMO"}, {"country", "ke"},    {"currency", "kes"},
          {"asset", "USDC"},   {"rate", "129.5"},  {"fee-fixed", "0.5"}, {"fee-bps", "105"},
          {"min", "1"},        {"max", "1000"},    {"day-limit", "500"}, {"types", "b2c,B2B"}};
}

void add_asset(OpenFile& file) {
  REQUIRE(file.run("asset add", {{"CODE", "USDC"}, {"name", "US Dollar"}}).code == 0);
}

std::string add(OpenFile& file, const Values& values = payouts()) {
  const Ran ran = file.run("connector add", values);
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  return ran.json().at("id");
}

}  // namespace

TEST_CASE("connectors: add, show, list, pause, resume", "[cli]") {
  OpenFile file;
  add_asset(file);
  const std::string id = add(file);
  const auto shown = file.run("connector show", {{"ID", id}}).json();
  CHECK(shown.at("countryIsoCode2") == "KE");
  CHECK(shown.at("fee") == "0.50 + 1.05 %");
  CHECK(shown.at("dayLimit") == "500.00");
  CHECK(shown.at("monthLimit").is_null());
  CHECK(shown.at("transactionTypes") == "B2C,B2B");
  CHECK(shown.at("requirements").empty());
  CHECK(file.run("connector list").json().at(0).at("id") == id);
  CHECK(file.run("connector pause", {{"ID", id}}).json().at("status") == "PAUSED");
  CHECK(file.run("connector resume", {{"ID", id}}).json().at("status") == "ACTIVE");
  const Ran unknown = file.run("connector pause", {{"ID", kUnknownId}});
  CHECK(unknown.code == exit_code::kFailed);
  CHECK(unknown.err.find("coffer connector list") != std::string::npos);
}

TEST_CASE("connectors: terms can be changed", "[cli]") {
  OpenFile file;
  add_asset(file);
  const std::string id = add(file);
  CHECK(file.run("connector set-rate", {{"ID", id}, {"RATE", "130"}}).json().at("rate") == "130");
  CHECK(file.run("connector set-fee", {{"ID", id}, {"fee-bps", "7"}}).json().at("fee") ==
        "0.00 + 0.07 %");
  const auto limits =
      file.run("connector limits", {{"ID", id}, {"min", "2"}, {"max", "3"}, {"month-limit", "9"}});
  CHECK(limits.json().at("minAmount") == "2.00");
  CHECK(limits.json().at("dayLimit").is_null());
  CHECK(limits.json().at("monthLimit") == "9.00");
  CHECK(file.run("connector limits", {{"ID", id}, {"min", "3"}, {"max", "2"}}).code ==
        exit_code::kUsage);
  CHECK(file.run("connector set-rate", {{"ID", id}, {"RATE", "0"}}).code != 0);
  CHECK(file.run("connector rotate-secret", {{"ID", id}}).code == exit_code::kFailed);
}

TEST_CASE("connectors: the secret of an http connector is shown at creation", "[cli]") {
  OpenFile file;
  add_asset(file);
  Values values = payouts();
  values["driver"] = "http";
  CHECK(file.run("connector add", values).code == exit_code::kUsage);  // no address
  values["base-url"] = "https://provider.example";
  const auto made = file.run("connector add", values).json();
  const std::string secret = made.at("secret"), id = made.at("id");
  CHECK(secret.starts_with("psk_"));
  CHECK(made.at("timeoutMs") == 10'000);
  CHECK_FALSE(file.run("connector show", {{"ID", id}}).json().contains("secret"));
  const auto rotated = file.run("connector rotate-secret", {{"ID", id}}).json();
  CHECK(rotated.at("secret") != secret);
  const auto moved =
      file.run("connector set-url", {{"ID", id}, {"URL", "https://other.example"}}).json();
  CHECK(moved.at("baseUrl") == "https://other.example");
  const auto slower = file.run(
      "connector set-url", {{"ID", id}, {"URL", "https://other.example"}, {"timeout-ms", "2500"}});
  CHECK(slower.json().at("timeoutMs") == 2'500);
  const auto again = file.run("connector set-url", {{"ID", id}, {"URL", "https://third.example"}});
  CHECK(again.json().at("timeoutMs") == 2'500);  // unchanged, because it was not given
  CHECK(file.run("connector set-url", {{"ID", id}, {"URL", "ftp://other.example"}}).code ==
        exit_code::kUsage);
}

TEST_CASE("connectors: invalid registrations", "[cli]") {
  OpenFile file;
  add_asset(file);
  const auto rejected = [&](const Values& change) {
    Values values = payouts();
    for (const auto& [name, value] : change) values[name] = value;
    const Ran ran = file.run("connector add", values);
    INFO(ran.out);
    CHECK(ran.code != 0);
    return ran.err;
  };
  CHECK(rejected({{"country", "XX"}}).find("countryIsoCode2") != std::string::npos);
  CHECK(rejected({{"currency", "XXX"}}).find("currencyIsoCode3") != std::string::npos);
  CHECK(rejected({{"asset", "NOPE"}}).find("NOPE") != std::string::npos);
  CHECK(rejected({{"environment", "production"}}).find("driver") != std::string::npos);
  CHECK(rejected({{"flow", "BESPOKE"}}).find("flow") != std::string::npos);
  CHECK(rejected({{"references", "true"}}).find("issuesReferences") != std::string::npos);
  CHECK(rejected({{"fee-bps", "10001"}}).find("basisPoints") != std::string::npos);
  rejected({{"types", "B2X"}});
  rejected({{"min", "1.00000001"}});
  rejected({{"max", "0"}});
}

TEST_CASE("connectors: fields can be required, and this can be removed", "[cli]") {
  OpenFile file;
  add_asset(file);
  const std::string id = add(file);
  const Values field{{"ID", id},
                     {"NAME", "accountType"},
                     {"label", "Account type"},
                     {"types", "B2B"},
                     {"choices", "A=First,B"}};
  const auto all = file.run("connector require", field).json().at("requirements");
  REQUIRE(all.size() == 1);
  CHECK(all[0].at("choices") == "A=First,B=B");
  CHECK(all[0].at("transactionTypes") == "B2B");
  CHECK(all[0].at("required") == true);
  const auto changed =
      file.run("connector require", {{"ID", id}, {"NAME", "accountType"}, {"optional", "true"}});
  REQUIRE(changed.json().at("requirements").size() == 1);
  CHECK(changed.json().at("requirements")[0].at("required") == false);
  CHECK(file.run("connector require", {{"ID", id}, {"NAME", "x"}, {"pattern", "["}}).code != 0);
  CHECK(file.run("connector unrequire", {{"ID", id}, {"NAME", "accountType"}})
            .json()
            .at("requirements")
            .empty());
}

TEST_CASE("fees: set, list, remove", "[cli]") {
  OpenFile file;
  add_asset(file);
  const std::string id = add(file);
  const std::string association =
      file.run("association create", {{"NAME", "Acme"}, {"type", "person"}}).json().at("id");
  const Values row{{"ASSOCIATION", association}, {"CONNECTOR", id}, {"TYPE", "b2c"}};
  const Ran set = file.run("fee set", row);
  INFO(set.err);
  CHECK(set.json().at("fee") == "0.00 + 0.00 %");
  CHECK(file.run("fee list").json().at(0).at("transactionType") == "B2C");
  CHECK(file.run("fee remove", row).json().at("removed") == true);
  CHECK(file.run("fee remove", row).code == exit_code::kFailed);
  Values wrong = row;
  wrong["TYPE"] = "X";
  CHECK(file.run("fee set", wrong).code != 0);
  wrong = row;
  wrong["ASSOCIATION"] = kUnknownId;
  CHECK(file.run("fee set", wrong).code == exit_code::kFailed);
}

}  // namespace connectors_test
