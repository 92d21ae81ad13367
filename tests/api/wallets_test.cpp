// Wallets: creating, reading, updating, trustlines, and the review in the sandbox.
#include <catch2/catch.hpp>

#include "auth/strkey.h"
#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace {

const std::string kWallets = "/v1/wallets";

std::string wallet_path(const std::string& id, const char* rest = "") {
  return kWallets + "/" + id + rest;
}

std::string sandbox_path(const std::string& id, const char* action) {
  return "/v1/sandbox/wallets/" + id + "/" + action;
}

Json read(const Client& client, const std::string& id) {
  return client.get(wallet_path(id)).json();
}

}  // namespace

TEST_CASE("an own wallet is verified immediately and shown in full") {
  TestApp app;
  const Reply reply = app.me().post(
      kWallets, {{"walletName", "Treasury"}, {"assetCode", "USDC"}, {"ownAccount", true}});
  REQUIRE(reply.status == 201);
  const Json wallet = reply.json();
  CHECK(wallet.at("walletName") == "Treasury");
  CHECK(wallet.at("assetCode") == "USDC");
  CHECK(wallet.at("ownAccount") == true);
  CHECK(wallet.at("status") == "Verified");
  CHECK(wallet.at("networkName") == app.config().network_name);
  CHECK(auth::PublicKey::parse(wallet.at("publicKey").get<std::string>()));
  CHECK_FALSE(wallet.at("accountNumber").get<std::string>().empty());
  CHECK(wallet.at("createdAt") == "2026-01-01T00:00:00.000Z");
  CHECK(wallet.at("updatedAt") == wallet.at("createdAt"));
  CHECK_FALSE(wallet.contains("metadata"));
  CHECK_FALSE(wallet.contains("statusReason"));
  CHECK_FALSE(wallet.contains("balancesUnavailable"));
  REQUIRE(wallet.at("balances").size() == 1);
  const Json& balance = wallet.at("balances")[0];
  CHECK(balance.at("assetCode") == "USDC");
  CHECK(balance.at("decimals") == 7);
  CHECK(balance.at("balance") == "0.00");
  CHECK(balance.at("available") == "0.00");
  CHECK(balance.at("held") == "0.00");
  CHECK(balance.at("issuer") == app.me().get("/v1/assets/USDC").json().at("issuer"));
  CHECK(read(app.me(), wallet.at("id")) == wallet);
}

TEST_CASE("a third-party wallet waits for the review and keeps its metadata") {
  TestApp app;
  const Reply reply = app.me().post(
      kWallets, {{"walletName", "Supplier"}, {"assetCode", "KES"}, {"metadata", business()}});
  REQUIRE(reply.status == 201);
  const Json wallet = reply.json();
  CHECK(wallet.at("ownAccount") == false);
  CHECK(wallet.at("status") == "Pending");
  CHECK(wallet.at("metadata") == business());
  CHECK(read(app.me(), wallet.at("id")) == wallet);
}

TEST_CASE("wallets have separate names and keys") {
  TestApp app;
  const Json first = read(app.me(), app.wallet("USDC"));
  const Json second = read(app.me(), app.wallet("USDC"));
  for (const char* name : {"id", "publicKey", "accountNumber"}) {
    CHECK(first.at(name) != second.at(name));
  }
}

TEST_CASE("malformed wallets") {
  TestApp app;
  // A row in two lines is easier to read than in seven.
  // clang-format off
  run_scenarios(
      app.me(),
      {
          {"nothing", kWallets, "{}", 400, "malformed-request",
           {"walletName", "assetCode", "metadata"}},
          {"an own wallet needs name and asset", kWallets, R"({"ownAccount":true})", 400,
           "malformed-request", {"walletName", "assetCode"}},
          {"blank name", kWallets, R"({"walletName":"  ","assetCode":"USDC","ownAccount":true})",
           400, "malformed-request", {"walletName"}},
          {"name too long", kWallets,
           R"({"walletName":")" + std::string(201, 'x') + R"(","assetCode":"USDC","ownAccount":true})",
           400, "malformed-request", {"walletName"}},
          {"the longest name", kWallets,
           R"({"walletName":")" + std::string(200, 'x') + R"(","assetCode":"USDC","ownAccount":true})",
           201},
          {"wrong types", kWallets,
           R"({"walletName":1,"assetCode":[],"ownAccount":"yes","metadata":"x"})", 400,
           "malformed-request", {"walletName", "assetCode", "ownAccount", "metadata"}},
          {"asset with its issuer", kWallets,
           R"({"walletName":"x","assetCode":"USDC:GA","ownAccount":true})", 400, "malformed-request",
           {"assetCode"}},
          {"no such asset", kWallets, R"({"walletName":"x","assetCode":"NOPE","ownAccount":true})",
           422, "validation-failed", {"assetCode"}},
          {"a third party without metadata", kWallets,
           R"({"walletName":"x","assetCode":"USDC","ownAccount":false})", 400, "malformed-request",
           {"metadata"}},
          {"null is as good as absent", kWallets,
           R"({"walletName":"x","assetCode":"USDC","ownAccount":null,"metadata":null})", 400,
           "malformed-request", {"metadata"}},
          {"platform fields are not inputs and are ignored", kWallets,
           R"({"walletName":"x","assetCode":"USDC","ownAccount":true,"networkName":"other"})", 201,
           "", {}, {"\"networkName\":\"COFFER\""}},
      });
  // clang-format on
}

TEST_CASE("a wallet's name and metadata can be changed, nothing else") {
  TestApp app;
  const std::string own = app.wallet("USDC");
  app.clock.advance_ms(5'000);
  const Reply renamed = app.me().put(wallet_path(own), {{"walletName", "New name"}});
  CHECK(renamed.status == 200);
  CHECK(renamed.json().at("walletName") == "New name");
  CHECK(renamed.json().at("status") == "Verified");
  CHECK(renamed.json().at("createdAt") == "2026-01-01T00:00:00.000Z");
  CHECK(renamed.json().at("updatedAt") == "2026-01-01T00:00:05.000Z");
  CHECK(read(app.me(), own) == renamed.json());
  run_scenarios(app.me(), {{"fixed",
                            wallet_path(own),
                            R"({"assetCode":"EURC","networkName":"X","ownAccount":false})",
                            422,
                            "validation-failed",
                            {"assetCode", "networkName", "ownAccount"},
                            {},
                            "PUT"},
                           {"blank name",
                            wallet_path(own),
                            R"({"walletName":" "})",
                            400,
                            "malformed-request",
                            {"walletName"},
                            {},
                            "PUT"},
                           {"wrong types",
                            wallet_path(own),
                            R"({"walletName":1,"metadata":[]})",
                            400,
                            "malformed-request",
                            {"walletName", "metadata"},
                            {},
                            "PUT"},
                           {"nothing to change", wallet_path(own), "{}", 200, "", {}, {}, "PUT"}});
  CHECK(read(app.me(), own).at("walletName") == "New name");
}

TEST_CASE("a wallet can be sent back as it was read, and a changed fixed member is named") {
  TestApp app;
  for (const std::string& id : {app.wallet("USDC", "10"), app.me().third_party_wallet("USDC"),
                                app.me().third_party_wallet("EURC", "Waits001")}) {
    const Json before = read(app.me(), id);
    app.clock.advance_ms(1'000);
    const Reply same = app.me().put(wallet_path(id), before);
    INFO(same.text());
    REQUIRE(same.status == 200);
    CHECK(same.json() == before);
    const std::map<std::string, Json> changes = {
        {"id", "019b7653-d4c0-7000-8000-000000000001"},
        {"accountNumber", "1"},
        {"publicKey", "G"},
        {"networkName", "another"},
        {"assetCode", before.at("assetCode") == "USDC" ? "EURC" : "USDC"},
        {"ownAccount", !before.at("ownAccount").get<bool>()},
        {"status", before.at("status") == "Pending" ? "Verified" : "Pending"}};
    for (const auto& [name, value] : changes) {
      INFO(name);
      Json body = before;
      body[name] = value;
      const Reply rejected = app.me().put(wallet_path(id), body);
      CHECK(rejected.status == 422);
      CHECK(rejected.fields() == std::vector<std::string>{name});
    }
    Json typed = before;
    typed["ownAccount"] = before.at("ownAccount") == true ? "true" : "false";
    CHECK(app.me().put(wallet_path(id), typed).status == 422);
    CHECK(read(app.me(), id).at("walletName") == before.at("walletName"));
  }
}

TEST_CASE("the sandbox rejects a wallet with any part of a reason, or without a body") {
  TestApp app;
  const std::pair<const char*, const char*> rows[] = {{"", "sandbox_rejected"},
                                                      {"{}", "sandbox_rejected"},
                                                      {R"({"message":"No."})", "sandbox_rejected"},
                                                      {R"({"code":"unreadable"})", "unreadable"}};
  for (const auto& [body, code] : rows) {
    INFO(body);
    const std::string id = app.me().third_party_wallet("USDC", "Waits003");
    const Reply reply = app.me().post_text(sandbox_path(id, "reject"), body);
    CHECK(reply.status == 200);
    CHECK(reply.json().at("status") == "Rejected");
    CHECK(reply.json().at("statusReason").at("code") == code);
  }
}

TEST_CASE("a change of metadata returns a third party's wallet to the review") {
  TestApp app;
  const std::string id = app.me().third_party_wallet("USDC");
  CHECK(app.me().post(sandbox_path(id, "verify"), Json::object()).json().at("status") ==
        "Verified");
  // A new name alone does not require a review.
  CHECK(app.me().put(wallet_path(id), {{"walletName", "Renamed"}}).json().at("status") ==
        "Verified");
  // Neither does the same metadata.
  CHECK(app.me().put(wallet_path(id), {{"metadata", person()}}).json().at("status") == "Verified");
  const Json changed = app.me().put(wallet_path(id), {{"metadata", business()}}).json();
  CHECK(changed.at("status") == "Pending");
  CHECK(changed.at("metadata") == business());
  // An own wallet may keep compliance details, and stays verified.
  const std::string own = app.wallet("USDC");
  CHECK(app.me().put(wallet_path(own), {{"metadata", person()}}).json().at("status") == "Verified");
}

TEST_CASE("a rejected wallet shows the reason and returns to the review with new metadata") {
  TestApp app;
  const std::string id = app.me().third_party_wallet("USDC");
  const Reply rejected = app.me().post(sandbox_path(id, "reject"),
                                       {{"code", "document_expired"}, {"message", "Expired."}});
  REQUIRE(rejected.status == 200);
  CHECK(rejected.json().at("status") == "Rejected");
  CHECK(rejected.json().at("statusReason") ==
        Json{{"code", "document_expired"}, {"message", "Expired."}});
  const Json back = app.me().put(wallet_path(id), {{"metadata", person("Otieno")}}).json();
  CHECK(back.at("status") == "Pending");
  CHECK_FALSE(back.contains("statusReason"));
  CHECK(app.me().post(sandbox_path(id, "verify"), Json::object()).json().at("status") ==
        "Verified");
}

TEST_CASE("a trustline is added once: 201, then 200") {
  TestApp app;
  const std::string id = app.wallet("USDC");
  const Reply first = app.me().post(wallet_path(id, "/trustlines"), {{"assetCode", "EURC"}});
  CHECK(first.status == 201);
  CHECK(first.json().at("balances").size() == 2);
  const Reply again = app.me().post(wallet_path(id, "/trustlines"), {{"assetCode", "EURC"}});
  CHECK(again.status == 200);
  CHECK(again.json().at("balances").size() == 2);
  CHECK(app.me().post(wallet_path(id, "/trustlines"), {{"assetCode", "USDC"}}).status == 200);
  CHECK(again.json().at("assetCode") == "USDC");
  run_scenarios(
      app.me(),
      {{"no such asset",
        wallet_path(id, "/trustlines"),
        R"({"assetCode":"NOPE"})",
        422,
        "validation-failed",
        {"assetCode"}},
       {"missing", wallet_path(id, "/trustlines"), "{}", 400, "malformed-request", {"assetCode"}},
       {"blank",
        wallet_path(id, "/trustlines"),
        R"({"assetCode":""})",
        400,
        "malformed-request",
        {"assetCode"}}});
}

TEST_CASE("a malformed or unknown path ID is not found") {
  TestApp app;
  const std::string unknown_id = app.random.uuid_v7(app.clock.now()).to_string();
  for (const std::string& id : {std::string("1"), std::string("not-a-uuid"), unknown_id,
                                std::string("00000000-0000-0000-0000-000000000000")}) {
    INFO(id);
    CHECK(app.me().get(wallet_path(id)).status == 404);
    CHECK(app.me().put(wallet_path(id), Json::object()).status == 404);
    CHECK(app.me().post(wallet_path(id, "/trustlines"), {{"assetCode", "USDC"}}).status == 404);
  }
}

TEST_CASE("names that select the result of the sandbox's review") {
  TestApp app;
  const auto status_of = [&](const Json& metadata) {
    return app.me()
        .post(kWallets, {{"walletName", "x"}, {"assetCode", "USDC"}, {"metadata", metadata}})
        .json();
  };
  const Json stays = status_of(person("Stays001"));
  CHECK(stays.at("status") == "Pending");
  const Reply verify = app.me().post(sandbox_path(stays.at("id"), "verify"), Json::object());
  CHECK(verify.status == 409);
  CHECK(verify.slug() == "conflict");
  CHECK(app.me().post(sandbox_path(stays.at("id"), "reject"), Json::object()).status == 409);
  const Json rejected = status_of(business("Rejected002"));
  CHECK(rejected.at("status") == "Rejected");
  CHECK_FALSE(rejected.at("statusReason").at("code").get<std::string>().empty());
  CHECK(status_of(person("Waits003")).at("status") == "Pending");
}

TEST_CASE("the sandbox reviews a pending wallet once") {
  TestApp app;
  const std::string id = app.me().third_party_wallet("USDC");
  CHECK(app.me().post(sandbox_path(id, "verify"), Json::object()).status == 200);
  CHECK(app.me().post(sandbox_path(id, "verify"), Json::object()).slug() == "conflict");
  CHECK(app.me().post(sandbox_path(id, "reject"), Json::object()).slug() == "conflict");
  const std::string own = app.wallet("USDC");
  CHECK(app.me().post(sandbox_path(own, "verify"), Json::object()).status == 409);
}

TEST_CASE("the sandbox credits a wallet in an asset it holds") {
  TestApp app;
  const std::string id = app.wallet("KES");
  const Reply funded =
      app.me().post(sandbox_path(id, "fund"), {{"assetCode", "KES"}, {"amount", "12.5"}});
  REQUIRE(funded.status == 200);
  CHECK(funded.json().at("balances")[0].at("balance") == "12.50");
  run_scenarios(app.me(), {{"no trustline",
                            sandbox_path(id, "fund"),
                            R"({"assetCode":"USDC","amount":1})",
                            422,
                            "trustline-missing",
                            {"assetCode"}},
                           {"no asset",
                            sandbox_path(id, "fund"),
                            R"({"assetCode":"NOPE","amount":1})",
                            422,
                            "validation-failed",
                            {"assetCode"}},
                           {"precision",
                            sandbox_path(id, "fund"),
                            R"({"assetCode":"KES","amount":"1.005"})",
                            422,
                            "amount-precision",
                            {"amount"}},
                           {"zero",
                            sandbox_path(id, "fund"),
                            R"({"assetCode":"KES","amount":0})",
                            422,
                            "amount-out-of-range",
                            {"amount"}},
                           {"missing",
                            sandbox_path(id, "fund"),
                            "{}",
                            400,
                            "malformed-request",
                            {"assetCode", "amount"}},
                           {"unknown field",
                            sandbox_path(id, "fund"),
                            R"({"assetCode":"KES","amount":1,"x":1})",
                            400,
                            "malformed-request",
                            {"x"}}});
  CHECK(app.me().balance(id, "KES") == "12.50");
  // The largest amount fits once; an overflow is rejected and changes nothing.
  const std::string full = app.wallet("USDC", "922337203685.4775807");
  CHECK(
      app.me().post(sandbox_path(full, "fund"), {{"assetCode", "USDC"}, {"amount", "1"}}).status ==
      422);
  CHECK(app.me().balance(full, "USDC") == "922337203685.4775807");
}

TEST_CASE("sandbox routes are not found with production credentials") {
  TestApp app;
  const Client production = app.production();
  const std::string id = production.third_party_wallet("USDC");
  const std::string own = production.wallet("USDC");
  for (const Reply& reply :
       {production.post(sandbox_path(id, "verify"), Json::object()),
        production.post(sandbox_path(id, "reject"), Json::object()),
        production.post(sandbox_path(own, "fund"), {{"assetCode", "USDC"}, {"amount", "1"}})}) {
    CHECK(reply.status == 404);
    CHECK(reply.slug() == "not-found");
  }
  // In production, the sandbox's special names have no effect.
  const std::string named = production.third_party_wallet("USDC", "Mwangi002");
  CHECK(read(production, named).at("status") == "Pending");
}
