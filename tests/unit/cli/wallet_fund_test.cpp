// Issuing value in production: `coffer wallet fund`, on the command line and the admin page.
#include <catch2/catch.hpp>

#include "base/platform/exit_code.h"
#include "cli/command.h"
#include "flows/ledger/wallet_changes.h"
#include "store/identity/tenants.h"
#include "support/unguarded.h"
#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::OpenFile;
using coffer::cli::test::Ran;

namespace wallet_fund_test {
namespace {

using Values = std::map<std::string, std::string>;

struct Production {
  Production() {
    REQUIRE(file.run("asset add", {{"CODE", "USDC"}, {"name", "US Dollar"}}).code == 0);
    const std::string association =
        file.run("association create", {{"NAME", "Acme"}}).json().at("id");
    tenant =
        store::with_reader(file.app().database(), [&](store::Connection& db) -> Result<Tenant> {
          return *store::find_tenant(db, *AssociationId::parse(association),
                                     Environment::production);
        }).value();
    wallet = add(true);
  }
  std::string add(bool own) {
    flows::NewWallet wanted{"Treasury", *AssetCode::parse("USDC"), own, {}};
    if (!own) {
      wanted.metadata = PersonMetadata{.first_name = "Ada",
                                       .last_name = "Obi",
                                       .date_of_birth = "1990-01-01",
                                       .nationality = "NG"};
    }
    return flows::register_wallet(file.app().flows(), tenant, wanted).value().id.to_string();
  }
  Ran fund(const Values& change = {}) {
    Values values{{"ID", wallet},
                  {"asset", "USDC"},
                  {"amount", "100.00"},
                  {"reason", "Bank credit of 20 November"},
                  {"transaction-id", "BANK-881"},
                  {"description", "Deposit"}};
    for (const auto& [name, value] : change) {
      value.empty() ? values.erase(name) : (values[name] = value, 0);
    }
    return file.run("wallet fund", values);
  }
  std::string balance() {
    return file.run("wallet show", {{"ID", wallet}}).json().at("balances").at(0).at("balance");
  }

  OpenFile file;
  Tenant tenant;
  std::string wallet;
};

}  // namespace

TEST_CASE("wallet fund: a production wallet is credited, on its statement and in the audit log",
          "[cli]") {
  Production house;
  const Ran funded = house.fund();
  INFO(funded.err);
  REQUIRE(funded.code == 0);
  CHECK(funded.json().at("balances").at(0).at("balance") == "100.00");
  CHECK(funded.json().at("isIdempotent") == false);

  const auto lines = house.file.run("wallet statement", {{"ID", house.wallet}}).json();
  REQUIRE(lines.size() == 1);
  CHECK(lines.at(0).at("amount") == "100.00");
  CHECK(lines.at(0).at("description") == "Deposit");
  CHECK(lines.at(0).at("counterparty") == "Funding");

  const auto acts = house.file.run("audit list").json();
  CHECK(acts.at(0).at("command") == "wallet fund");
  CHECK(acts.at(0).dump().find("Bank credit of 20 November") != std::string::npos);
  CHECK(house.file.run("verify").code == 0);
}

TEST_CASE(
    "wallet fund: a repeated command credits nothing, and a different one with its ID is rejected",
    "[cli]") {
  Production house;
  REQUIRE(house.fund().code == 0);
  const Ran again = house.fund();
  CHECK(again.code == 0);
  CHECK(again.json().at("isIdempotent") == true);
  CHECK(house.balance() == "100.00");
  const auto acts = house.file.run("audit list", {{"command", "wallet fund"}}).json();
  CHECK(acts.at(0).at("details") == "already funded under this transaction ID");  // newest first
  CHECK(acts.at(1).at("details") == "");
  const std::string other = house.add(true);
  for (const auto& [change, field] :
       std::vector<std::pair<Values, std::string>>{{{{"amount", "100.01"}}, "amount"},
                                                   {{{"ID", other}}, "walletId"},
                                                   {{{"description", "Else"}}, "description"},
                                                   {{{"description", ""}}, "description"}}) {
    INFO(field);
    const Ran rejected = house.fund(change);
    CHECK(rejected.code == exit_code::kFailed);
    CHECK(rejected.err.find(field) != std::string::npos);
  }
  CHECK(house.balance() == "100.00");
  CHECK(house.fund({{"transaction-id", "BANK-882"}}).code == 0);
  CHECK(house.balance() == "200.00");
}

TEST_CASE("wallet fund: production requires a reason, an ID and a verified wallet", "[cli]") {
  Production house;
  for (const auto& [change, words] : std::vector<std::pair<Values, std::string>>{
           {{{"reason", ""}}, "reason"},
           {{{"transaction-id", ""}}, "transactionId"},
           {{{"transaction-id", "a b"}}, "transactionId"},
           {{{"description", std::string(141, 'x')}}, "description"},
           {{{"ID", house.add(false)}}, "Verified"},
           {{{"amount", "0"}}, "amount"},
           {{{"amount", "1.00000001"}}, "amount"}}) {
    INFO(words);
    const Ran rejected = house.fund(change);
    CHECK(rejected.code != 0);
    CHECK(rejected.err.find(words) != std::string::npos);
  }
  CHECK(house.balance() == "0.00");
  // A rejected command does not use up its ID.
  CHECK(house.fund().code == 0);
}

TEST_CASE("wallet fund: requires an administrator", "[cli]") {
  REQUIRE(find_command("wallet fund") != nullptr);
  CHECK(find_command("wallet fund")->role == OperatorRole::administrator);
}

TEST_CASE("wallet fund: verification finds a funding with another kind of entry set", "[cli]") {
  Production house;
  REQUIRE(house.fund().code == 0);
  house.file.reopen([&] {
    store::Connection db(house.file.path(), store::OpenMode::read_write);
    coffer::test::change_unguarded(db, "UPDATE journal SET kind = 2");
  });
  const Ran broken = house.file.run("verify");
  CHECK(broken.code == exit_code::kFault);
  CHECK(broken.out.find("fundings_are_credits") != std::string::npos);
}

}  // namespace wallet_fund_test
