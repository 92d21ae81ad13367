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
  const auto fee = [&](Values values) {
    values["ID"] = id;
    return file.run("connector set-fee", values).json().at("fee").get<std::string>();
  };
  CHECK(fee({{"fee-bps", "7"}}) == "0.50 + 0.07 %");
  CHECK(fee({{"fee-fixed", "1.25"}}) == "1.25 + 0.07 %");
  CHECK(fee({{"fee-fixed", "0.00"}, {"fee-bps", "0"}}) == "0.00 + 0.00 %");
  const auto limits = [&](Values values) {
    values["ID"] = id;
    const auto shown = file.run("connector limits", values).json();
    std::string out;
    for (const char* name : {"minAmount", "maxAmount", "dayLimit", "monthLimit"}) {
      out += shown.at(name).is_null() ? "- " : shown.at(name).get<std::string>() + " ";
    }
    return out;
  };
  CHECK(limits({{"min", "2"}}) == "2.00 1000.00 500.00 - ");
  CHECK(limits({{"month-limit", "900"}}) == "2.00 1000.00 500.00 900.00 ");
  CHECK(limits({{"max", "3"}}) == "2.00 3.00 500.00 900.00 ");
  CHECK(limits({{"no-day-limit", "true"}}) == "2.00 3.00 - 900.00 ");
  CHECK(limits({{"day-limit", "4"}, {"no-month-limit", "true"}}) == "2.00 3.00 4.00 - ");
  CHECK(file.run("connector limits", {{"ID", id}, {"day-limit", "4"}, {"no-day-limit", "true"}})
            .code == exit_code::kUsage);
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
  for (const char* price : {"rate", "fee-fixed", "fee-bps"}) values.erase(price);
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

TEST_CASE("connectors: a price that would not act is rejected and hidden", "[cli]") {
  OpenFile file;
  add_asset(file);
  Values values = payouts();
  values["driver"] = "http";
  values["base-url"] = "https://provider.example";
  for (const char* price : {"rate", "fee-fixed", "fee-bps"}) {
    Values one = values;
    for (const char* other : {"rate", "fee-fixed", "fee-bps"}) {
      if (std::string_view(other) != price) one.erase(other);
    }
    const Ran ran = file.run("connector add", one);
    INFO(price << ": " << ran.err);
    CHECK(ran.code == exit_code::kUsage);
    CHECK(ran.err.find("has no effect") != std::string::npos);
  }
  for (const char* price : {"rate", "fee-fixed", "fee-bps"}) values.erase(price);
  const std::string id = add(file, values);
  const auto shown = [&] { return file.run("connector show", {{"ID", id}}).json(); };
  CHECK_FALSE(shown().contains("rate"));
  CHECK_FALSE(shown().contains("fee"));
  CHECK_FALSE(file.run("connector list").json().at(0).contains("rate"));
  CHECK(file.run("connector set-rate", {{"ID", id}, {"RATE", "1"}}).code == exit_code::kUsage);
  CHECK(file.run("connector set-fee", {{"ID", id}, {"fee-bps", "1"}}).code == exit_code::kUsage);
  // A tolerance makes both act, as a limit of the provider's price.
  const auto tolerance = [&](Values more) {
    more["ID"] = id;
    return file.run("connector set-tolerance", more);
  };
  CHECK(tolerance({{"tolerance-bps", "200"}}).code == exit_code::kUsage);  // no rate
  const auto limited = tolerance({{"tolerance-bps", "200"}, {"rate", "129.5"}}).json();
  CHECK(limited.at("rate") == "129.5");
  CHECK(limited.at("fee") == "0.00 + 0.00 %");
  CHECK(limited.at("toleranceBasisPoints") == 200);
  CHECK(file.run("connector set-rate", {{"ID", id}, {"RATE", "130"}}).json().at("rate") == "130");
  CHECK(tolerance({{"tolerance-bps", "100"}}).json().at("rate") == "130");
  CHECK(tolerance({{"tolerance-bps", "10001"}}).code == exit_code::kUsage);
  CHECK_FALSE(tolerance({{"no-tolerance-bps", "true"}}).json().contains("rate"));
  CHECK_FALSE(shown().contains("fee"));
  // Without a provider that sets the price, a rate is required and a tolerance is rejected.
  Values own = payouts();
  own["tolerance-bps"] = "100";
  CHECK(file.run("connector add", own).code == exit_code::kUsage);
  own.erase("tolerance-bps");
  own.erase("rate");
  CHECK(file.run("connector add", own).err.find("rate is required") != std::string::npos);
}

TEST_CASE("connectors: the decimals of a currency are its minor units, and can be changed",
          "[cli]") {
  OpenFile file;
  add_asset(file);
  for (const auto& [currency, decimals] :
       {std::pair("KES", 2), std::pair("jpy", 0), std::pair("UGX", 0), std::pair("BHD", 3)}) {
    Values values = payouts();
    values["currency"] = currency;
    INFO(currency);
    const std::string id = add(file, values);
    CHECK(file.run("connector show", {{"ID", id}}).json().at("currencyDecimals") == decimals);
    CHECK(file.run("connector set-decimals", {{"ID", id}, {"DECIMALS", "1"}})
              .json()
              .at("currencyDecimals") == 1);
    CHECK(file.run("connector set-decimals", {{"ID", id}, {"DECIMALS", "8"}}).code ==
          exit_code::kUsage);
  }
  Values values = payouts();
  values["currency"] = "JPY";
  values["currency-decimals"] = "2";
  const std::string said = add(file, values);
  CHECK(file.run("connector show", {{"ID", said}}).json().at("currencyDecimals") == 2);
  values = payouts();
  values["currency"] = "XAU";
  CHECK(file.run("connector add", values).code == exit_code::kUsage);  // no minor unit
  // Amounts of the collection currency must fit its new decimals.
  values = payouts();
  values["direction"] = "ON_RAMP";
  values["min"] = "1.50";
  const std::string on_ramp = add(file, values);
  CHECK(file.run("connector set-decimals", {{"ID", on_ramp}, {"DECIMALS", "0"}}).code ==
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
  CHECK(rejected({{"references", "true"}}).find("references does not apply") != std::string::npos);
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
  const auto field_now = changed.json().at("requirements")[0];
  CHECK(field_now.at("required") == false);
  // What is not given stays.
  CHECK(field_now.at("label") == "Account type");
  CHECK(field_now.at("transactionTypes") == "B2B");
  CHECK(field_now.at("choices") == "A=First,B=B");
  const auto freed = file.run("connector require", {{"ID", id},
                                                    {"NAME", "accountType"},
                                                    {"no-choices", "true"},
                                                    {"no-optional", "true"},
                                                    {"max-length", "9"}});
  const auto free_text = freed.json().at("requirements")[0];
  CHECK(free_text.at("choices") == "");
  CHECK(free_text.at("required") == true);
  CHECK(free_text.at("maxLength") == 9);
  CHECK(free_text.at("label") == "Account type");
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
  const auto set = [&](const Values& change) {
    Values values = row;
    values.insert(change.begin(), change.end());
    return file.run("fee set", values).json().at("fee").get<std::string>();
  };
  CHECK(set({{"fee-fixed", "0"}}) == "0.00 + 0.00 %");
  CHECK(set({{"fee-fixed", "1"}, {"fee-bps", "25"}}) == "1.00 + 0.25 %");
  CHECK(set({{"fee-bps", "10"}}) == "1.00 + 0.10 %");
  CHECK(set({{"fee-fixed", "2"}}) == "2.00 + 0.10 %");
  CHECK(file.run("fee list").json().at(0).at("transactionType") == "B2C");
  CHECK(file.run("fee remove", row).json().at("removed") == true);
  CHECK(file.run("fee remove", row).code == exit_code::kFailed);
  Values wrong = row;
  wrong["fee-bps"] = "1";
  wrong["TYPE"] = "X";
  CHECK(file.run("fee set", wrong).code != 0);
  wrong["TYPE"] = row.at("TYPE");
  wrong["ASSOCIATION"] = kUnknownId;
  CHECK(file.run("fee set", wrong).code == exit_code::kFailed);
}

TEST_CASE("limits of payments: set, list, change, remove", "[cli]") {
  OpenFile file;
  file.run("asset add", {{"CODE", "KES"}, {"name", "Shilling"}, {"decimals", "2"}});
  const std::string association =
      file.run("association create", {{"NAME", "Acme"}}).json().at("id");
  const std::string application =
      file.run("application register",
               {{"name", "Shop"}, {"association", association}, {"environment", "production"}})
          .json()
          .at("id");
  const Values of{{"application", application}, {"asset", "KES"}};
  const auto with = [&](Values more) {
    more.insert(of.begin(), of.end());
    return more;
  };
  const auto set = file.run("limit set", with({{"per-day", "5000"}, {"count-per-month", "0"}}));
  INFO(set.err);
  const auto row = set.json();
  CHECK(row.at("holder") == "application");
  CHECK(row.at("environment") == "production");
  CHECK(row.at("associationId") == association);
  CHECK(row.at("perDay") == "5000.00");
  CHECK(row.at("perPayment").is_null());
  CHECK(row.at("countPerMonth") == 0);
  CHECK(row.at("usedToday") == "0.00");
  const auto changed =
      file.run("limit set", with({{"per-payment", "1.5"}, {"no-per-day", "true"}})).json();
  CHECK(changed.at("perPayment") == "1.50");
  CHECK(changed.at("perDay").is_null());
  CHECK(changed.at("countPerMonth") == 0);
  CHECK(file.run("limit list").json().size() == 1);

  for (const Values& wrong :
       std::vector<Values>{with({{"per-day", "0"}}),
                           with({{"per-day", "1.001"}}),
                           with({{"count-per-day", "-1"}}),
                           with({{"per-day", "1"}, {"association", association}}),
                           with({{"per-day", "1"}, {"environment", "sandbox"}}),
                           {{"asset", "KES"}, {"per-day", "1"}},
                           {{"association", association}, {"asset", "XXX"}, {"per-day", "1"}},
                           {{"wallet", association}, {"asset", "KES"}, {"per-day", "1"}},
                           with({{"no-per-payment", "true"}, {"no-count-per-month", "true"}})}) {
    const auto ran = file.run("limit set", wrong);
    INFO(ran.out << ran.err);
    CHECK(ran.code != 0);
  }
  CHECK(file.run("limit set", {{"association", association}, {"asset", "KES"}, {"per-day", "1"}})
            .json()
            .at("environment") == "sandbox");
  CHECK(file.run("limit remove", of).json().at("removed") == true);
  CHECK(file.run("limit remove", of).code != 0);
  CHECK(file.run("limit list").json().size() == 1);
}

}  // namespace connectors_test
