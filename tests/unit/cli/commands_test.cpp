#include <catch2/catch.hpp>

#include "auth/strkey.h"
#include "base/platform/exit_code.h"
#include "flows/ledger/wallet_changes.h"
#include "store/identity/tenants.h"
#include "support/unknown_id.h"
#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::OpenFile;
using coffer::cli::test::Ran;
using coffer::test::kUnknownId;

namespace commands_test {
namespace {

std::string create_association(OpenFile& file) {
  return file.run("association create", {{"NAME", "Acme"}}).json().at("id");
}

void add_asset(OpenFile& file, const std::string& code, const std::string& decimals) {
  const Ran added =
      file.run("asset add", {{"CODE", code}, {"name", "The " + code}, {"decimals", decimals}});
  REQUIRE(added.code == 0);
}

/// A third party's wallet under review.
std::string register_wallet(OpenFile& file, const std::string& association) {
  const auto tenant =
      store::with_reader(file.app().database(), [&](store::Connection& db) -> Result<Tenant> {
        return *store::find_tenant(db, *AssociationId::parse(association), Environment::sandbox);
      });
  PersonMetadata person;
  person.first_name = "Ada";
  person.last_name = "Obi";
  person.date_of_birth = "1990-04-12";
  person.nationality = "NGA";
  const auto wallet = flows::register_wallet(file.app().flows(), *tenant,
                                             {"Ada", *AssetCode::parse("USDC"), false, person});
  return wallet->id.to_string();
}

}  // namespace

TEST_CASE("associations: create, list, suspend, activate", "[cli]") {
  OpenFile file;
  const std::string id = create_association(file);
  CHECK(file.run("association list").json().at(0).at("status") == "active");
  CHECK(file.run("association suspend", {{"ID", id}}).json().at("status") == "suspended");
  CHECK(file.run("association suspend", {{"ID", id}}).code == exit_code::kFailed);
  CHECK(file.run("association activate", {{"ID", id}}).json().at("status") == "active");
  CHECK(file.run("association create", {{"NAME", "B"}, {"pending", "true"}}).json().at("status") ==
        "pending");
  const Ran unknown = file.run("association activate", {{"ID", kUnknownId}});
  CHECK(unknown.code == exit_code::kFailed);
  CHECK(unknown.err.find("coffer association list") != std::string::npos);
}

TEST_CASE("associations: quotas and their use", "[cli]") {
  OpenFile file;
  const std::string id = create_association(file);
  add_asset(file, "USDC", "7");
  register_wallet(file, id);
  const auto row = [&](const nlohmann::json& rows, const std::string& quota,
                       const std::string& environment) {
    for (const auto& each : rows) {
      if (each.at("quota") == quota && each.at("environment") == environment) return each;
    }
    return nlohmann::json();
  };
  const auto all = file.run("association quotas", {{"association", id}}).json();
  CHECK(all.size() == 12);
  CHECK(row(all, "wallets", "sandbox").at("used") == 1);
  CHECK(row(all, "wallets", "sandbox").at("limit") == "10000");
  CHECK(row(all, "file_bytes", "production").at("limit") == "unlimited");
  const auto set = [&](const char* quota, const char* limit) {
    return file.run("association set-quota", {{"ID", id}, {"QUOTA", quota}, {"LIMIT", limit}});
  };
  CHECK(row(set("file_bytes", "2GiB").json(), "file_bytes", "sandbox").at("limit") == "2GiB");
  CHECK(row(set("wallets", "1").json(), "wallets", "sandbox").at("usedPercent") == "100.0");
  const auto fullest = file.run("association quotas").json();
  CHECK(fullest.at(0).at("quota") == "wallets");
  CHECK(row(set("wallets", "default").json(), "wallets", "sandbox").at("limit") == "10000");
  CHECK(set("wallets", "2GiB").code == exit_code::kUsage);
  CHECK(set("gold", "1").code == exit_code::kUsage);
}

TEST_CASE("applications: secrets are shown once, at creation", "[cli]") {
  OpenFile file;
  const std::string association = create_association(file);
  const Ran made = file.run("application register", {{"name", "backend"},
                                                     {"association", association},
                                                     {"environment", "production"},
                                                     {"scopes", "wallets:read"}});
  REQUIRE(made.code == 0);
  const auto json = made.json();
  for (const char* name : {"clientId", "clientSecret", "apiKey", "connectSecret", "signInSecret",
                           "publicKey", "secretSeed"}) {
    CHECK(json.at(name).is_string());
  }
  CHECK(json.at("scopes") == "wallets:read");
  CHECK(json.at("associationId") == association);

  const auto listed = file.run("application list").json().at(0);
  CHECK(listed.at("clientId") == json.at("clientId"));
  CHECK_FALSE(listed.contains("clientSecret"));

  const auto rotated = file.run("application rotate", {{"ID", json.at("id")}}).json();
  CHECK(rotated.at("clientSecret") != json.at("clientSecret"));
  CHECK(rotated.at("publicKey") == json.at("publicKey"));
  CHECK(rotated.at("secretSeed").is_null());
}

TEST_CASE("applications: one command replaces every credential, the key pair included", "[cli]") {
  OpenFile file;
  const auto json = file.run("application register", {{"name", "leaked"}}).json();
  const std::string id = json.at("id");
  const auto rotate = [&](const std::string& key, const std::string& hours = "0") {
    return file.run("application rotate", {{"ID", id}, {"public-key", key}, {"overlap-h", hours}});
  };
  const auto next = rotate("new").json();
  for (const char* name :
       {"clientSecret", "apiKey", "connectSecret", "signInSecret", "publicKey", "secretSeed"}) {
    INFO(name);
    CHECK(next.at(name).is_string());
    CHECK(next.at(name) != json.at(name));
  }
  const std::string own = auth::generate_key_pair(file.app().flows().random).public_key.to_string();
  const auto given = rotate(own).json();
  CHECK(given.at("publicKey") == own);
  CHECK(given.at("secretSeed").is_null());
  const auto other = file.run("application register", {{"name", "other"}}).json();
  for (const std::string& wrong :
       {std::string("GABC"), own, other.at("publicKey").get<std::string>()}) {
    INFO(wrong);
    CHECK(rotate(wrong).code != 0);
  }
  CHECK(rotate("new", "1").code == exit_code::kUsage);
  CHECK(file.run("application list").json().dump().find(own) != std::string::npos);
}

TEST_CASE("applications: a public key that anyone can sign for is rejected", "[cli]") {
  OpenFile file;
  const std::string id = file.run("application register", {{"name", "x"}}).json().at("id");
  // All zero, the neutral point, a point of order 8, and a number that is no point.
  for (const char* key : {"GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF",
                          "GAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAHV4",
                          "GATORFMPYKZCPMCFYP2IT4UY57YNLX5MAXJ4MMZZWE4AFCDNKP6AKDVN",
                          "GABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABVCX"}) {
    INFO(key);
    CHECK(file.run("application register", {{"name", "y"}, {"public-key", key}}).code ==
          exit_code::kUsage);
    CHECK(file.run("application rotate", {{"ID", id}, {"public-key", key}}).code ==
          exit_code::kUsage);
  }
}

TEST_CASE("applications: suspend, resume, scopes", "[cli]") {
  OpenFile file;
  const std::string id = file.run("application register", {{"name", "lonely"}}).json().at("id");
  CHECK(file.run("application list").json().at(0).at("associationId").is_null());
  CHECK(file.run("application suspend", {{"ID", id}}).json().at("status") == "suspended");
  CHECK(file.run("application resume", {{"ID", id}}).json().at("status") == "active");
  CHECK(file.run("application scopes", {{"ID", id}, {"SCOPES", "quotes:write"}})
            .json()
            .at("scopes") == "quotes:write");
  CHECK(file.run("application scopes", {{"ID", id}, {"SCOPES", "fly"}}).code == exit_code::kUsage);
  CHECK(file.run("application rotate", {{"ID", kUnknownId}}).code == exit_code::kFailed);
  CHECK(file.run("application register", {{"name", "x"}, {"public-key", "GABC"}}).code ==
        exit_code::kUsage);
  CHECK(file.run("application register", {{"name", "x"}, {"association", kUnknownId}}).code ==
        exit_code::kFailed);
}

TEST_CASE("market: assets, liquidity and rates of either environment", "[cli]") {
  OpenFile file;
  add_asset(file, "USDC", "7");
  add_asset(file, "NGNC", "2");
  CHECK(file.run("asset add", {{"CODE", "USDC"}, {"name", "again"}}).code == exit_code::kFailed);
  CHECK(file.run("asset add", {{"CODE", "A-B"}, {"name", "x"}}).code == exit_code::kUsage);
  CHECK(file.run("asset add", {{"CODE", "AB"}, {"name", "x"}, {"decimals", "8"}}).code ==
        exit_code::kUsage);
  CHECK(file.run("asset add", {{"CODE", "AB"}, {"name", "x"}, {"decimals", "7x"}}).code ==
        exit_code::kUsage);

  const auto funded =
      file.run("asset liquidity",
               {{"CODE", "NGNC"}, {"AMOUNT", "10.5"}, {"environment", "production"}})
          .json();
  CHECK(funded.at("productionLiquidity") == "10.50");
  CHECK(funded.at("sandboxLiquidity") == "0.00");

  const std::map<std::string, std::string> pair = {{"SELL", "USDC"}, {"BUY", "NGNC"}};
  auto with_rate = pair;
  with_rate["RATE"] = "1500";
  CHECK(file.run("rate set", with_rate).code == 0);
  with_rate["RATE"] = "1540.25";  // replaces it
  CHECK(file.run("rate set", with_rate).json().at("rate") == "1540.25");
  CHECK(file.run("rate list").json().size() == 1);
  CHECK(file.run("rate list", {{"environment", "production"}}).json().empty());
  CHECK(file.run("rate list").json()[0].at("fraction").is_null());  // the decimal is exact
  CHECK(file.run("rate remove", pair).code == 0);
  CHECK(file.run("rate remove", pair).code == exit_code::kFailed);
  CHECK(file.run("rate set", {{"SELL", "USDC"}, {"BUY", "USDC"}, {"RATE", "1"}}).code ==
        exit_code::kUsage);
  with_rate["RATE"] = "zero";
  CHECK(file.run("rate set", with_rate).code == exit_code::kUsage);
}

TEST_CASE("amounts are checked before any posting", "[cli]") {
  OpenFile file;
  add_asset(file, "NGNC", "2");
  for (const char* amount : {"0", "-1", "1.001", "ten", "1e30", "0x10", "99999999999999999999"}) {
    INFO(amount);
    CHECK(file.run("asset liquidity", {{"CODE", "NGNC"}, {"AMOUNT", amount}}).code ==
          exit_code::kUsage);
  }
  CHECK(file.run("asset list").json().at(0).at("sandboxLiquidity") == "0.00");
  CHECK(file.run("asset liquidity", {{"CODE", "NOPE"}, {"AMOUNT", "5"}}).code ==
        exit_code::kFailed);
}

TEST_CASE("wallets: review and funding", "[cli]") {
  OpenFile file;
  add_asset(file, "USDC", "7");
  const std::string association = create_association(file);
  const std::string first = register_wallet(file, association);
  const std::string second = register_wallet(file, association);

  CHECK(file.run("wallet list", {{"status", "Pending"}}).json().size() == 2);
  CHECK(file.run("wallet verify", {{"ID", first}}).json().at("status") == "Verified");
  CHECK(file.run("wallet verify", {{"ID", first}}).code == exit_code::kFailed);
  const auto rejected =
      file.run("wallet reject", {{"ID", second}, {"code", "expired"}, {"message", "Old id"}})
          .json();
  CHECK(rejected.at("status") == "Rejected");
  CHECK(rejected.at("statusCode") == "expired");
  CHECK(rejected.at("statusMessage") == "Old id");
  CHECK(file.run("wallet list", {{"status", "Pending"}}).json().empty());

  const auto funded =
      file.run("wallet fund", {{"ID", first}, {"asset", "USDC"}, {"amount", "2.5"}}).json();
  CHECK(funded.at("balances").at(0).at("balance") == "2.50");
  // In the sandbox, reason and ID are optional, and a description is stored without them.
  CHECK(
      file.run("wallet fund",
               {{"ID", first}, {"asset", "USDC"}, {"amount", "1"}, {"description", "Pocket money"}})
          .code == 0);
  CHECK(file.run("wallet statement", {{"ID", first}}).json().at(0).at("description") ==
        "Pocket money");
  CHECK(file.run("wallet fund", {{"ID", first}, {"asset", "EURC"}, {"amount", "1"}}).code ==
        exit_code::kFailed);
  CHECK(file.run("wallet fund", {{"ID", kUnknownId}, {"asset", "USDC"}, {"amount", "1"}}).code ==
        exit_code::kFailed);
}

TEST_CASE("verify: a valid file is 0, a changed one is 3 with the violation", "[cli]") {
  OpenFile file;
  add_asset(file, "USDC", "7");
  CHECK(file.run("asset liquidity", {{"CODE", "USDC"}, {"AMOUNT", "10"}}).code == 0);
  const Ran whole = file.run("verify");
  CHECK(whole.code == 0);
  CHECK(whole.json().at("ok") == true);

  file.reopen([&] {
    store::Connection db(file.path(), store::OpenMode::read_write);
    db.execute("UPDATE accounts SET balance = balance + 1 WHERE kind = 2");
  });
  const Ran broken = file.run("verify", {{"quick", "true"}});
  CHECK(broken.code == exit_code::kFault);
  CHECK(broken.json().at("ok") == false);
  CHECK_FALSE(broken.json().at("violations").empty());
  const Ran shown = file.run("verify", {}, false);
  CHECK(shown.code == exit_code::kFault);
  CHECK(shown.out.empty());
  CHECK(shown.err.find("balance_is_sum_of_entries") != std::string::npos);
  CHECK(shown.err.find("restore a backup") != std::string::npos);
}

TEST_CASE("verify stops when the server stops", "[cli]") {
  OpenFile file;
  std::ostringstream out;
  std::ostringstream err;
  Interruption interruption;
  interruption.interrupt();
  CHECK(run_request(file.app(), {.command = "verify"}, out, err, interruption) == exit_code::kBusy);
  CHECK(err.str().find("stopping") != std::string::npos);
}

TEST_CASE("commands that cannot run inside a server are rejected there", "[cli]") {
  OpenFile file;
  for (const char* command : {"serve", "demo", "init", "healthcheck", "frobnicate", ""}) {
    INFO(command);
    const Ran rejected = file.run(command);
    CHECK(rejected.code == exit_code::kUsage);
    CHECK(rejected.out.empty());
  }
  CHECK(file.run("association create", {}).code == exit_code::kUsage);
  CHECK(file.run("association create", {{"NAME", "\x1b[2J"}}).code == exit_code::kUsage);
}

}  // namespace commands_test
