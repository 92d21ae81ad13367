// The contract's common fields on payments that do not need them: a value that repeats the request
// is accepted, one that contradicts it is 422, and a replay ignores them.
#include <catch2/catch.hpp>

#include "route_samples.h"

using namespace coffer;
using namespace coffer::test;

namespace redundant_fields_test {
namespace {

const std::string kPay = "/v1/payments/";

struct World {
  TestApp app;
  Names mine = belongings_of(app, app.me());

  /// The sample body of a schema's route with members added or replaced.
  std::string body(const char* operation, const std::string& patch = "{}") const {
    for (const api::Route& route : api::routes()) {
      if (route.operation != operation) continue;
      Json json = Json::parse(sample_of(route).body);
      json.update(Json::parse(patch));
      return json.dump();
    }
    throw InternalError("no operation " + std::string(operation));
  }
  /// The same for the only leg of a multi-transfer.
  std::string leg(const std::string& patch) const {
    Json json = Json::parse(body("transferBetweenOwnWalletsAtomically"));
    json["transfers"][0].update(Json::parse(patch));
    return json.dump();
  }
};

}  // namespace

TEST_CASE("a receivingAssetCode that repeats sendingAssetCode is accepted where one asset moves") {
  World world;
  const char* own = "transferBetweenOwnWallets";
  const char* to = "payBeneficiary";
  const auto rows = std::vector<Scenario>{
      {"own, same", kPay + "p2p/own", world.body(own, R"({"receivingAssetCode":"USDC"})"), 202},
      {"own, null", kPay + "p2p/own", world.body(own, R"({"receivingAssetCode":null})"), 202},
      {"own, other",
       kPay + "p2p/own",
       world.body(own, R"({"receivingAssetCode":"EURC"})"),
       422,
       "validation-failed",
       {"receivingAssetCode"},
       {"must be null or equal to sendingAssetCode"}},
      {"own, misshapen",
       kPay + "p2p/own",
       world.body(own, R"({"receivingAssetCode":"US-DC"})"),
       400,
       "malformed-request",
       {"receivingAssetCode"}},
      {"own, wrong type",
       kPay + "p2p/own",
       world.body(own, R"({"receivingAssetCode":1})"),
       400,
       "malformed-request",
       {"receivingAssetCode"}},
      {"beneficiary, same", kPay + "p2p/beneficiary",
       world.body(to, R"({"receivingAssetCode":"USDC"})"), 202},
      {"beneficiary, null", kPay + "p2p/beneficiary",
       world.body(to, R"({"receivingAssetCode":null})"), 202},
      {"beneficiary, other",
       kPay + "p2p/beneficiary",
       world.body(to, R"({"receivingAssetCode":"EURC"})"),
       422,
       "validation-failed",
       {"receivingAssetCode"}},
      {"leg, same", kPay + "p2p/own/multi", world.leg(R"({"receivingAssetCode":"USDC"})"), 202},
      {"leg, null", kPay + "p2p/own/multi", world.leg(R"({"receivingAssetCode":null})"), 202},
      {"leg, other",
       kPay + "p2p/own/multi",
       world.leg(R"({"receivingAssetCode":"EURC"})"),
       422,
       "validation-failed",
       {"transfers[0].receivingAssetCode"}},
      {"of the whole multi-transfer",
       kPay + "p2p/own/multi",
       world.body("transferBetweenOwnWalletsAtomically", R"({"receivingAssetCode":"USDC"})"),
       400,
       "malformed-request",
       {"receivingAssetCode"}},
  };
  run_scenarios(world.app.me(), rows, world.mine);
}

TEST_CASE("asset codes of a quoted payment are accepted if they match the quote") {
  World world;
  const char* out = "executeOfframp";
  const char* in = "executeOnramp";
  const char* cash = "executeConnectCashIn";
  const auto fresh = [&](const Scenario& row) {
    add_fresh_payment_samples(world.app, world.app.me(), world.mine,
                              {"POST", row.target, row.body});
    run_scenario(world.app.me(), row, world.mine);
  };
  for (const Scenario& row : std::vector<Scenario>{
           {"off-ramp, the quote's", kPay + "offramp",
            world.body(out, R"({"sendingAssetCode":"USDC","receivingAssetCode":"KES"})"), 202},
           {"off-ramp, null", kPay + "offramp",
            world.body(out, R"({"sendingAssetCode":null,"receivingAssetCode":null})"), 202},
           {"off-ramp, other",
            kPay + "offramp",
            world.body(out, R"({"sendingAssetCode":"EURC","receivingAssetCode":"UGX"})"),
            422,
            "validation-failed",
            {"sendingAssetCode", "receivingAssetCode"},
            {"the quote"}},
           {"off-ramp, misshapen",
            kPay + "offramp",
            world.body(out, R"({"sendingAssetCode":"US-DC"})"),
            400,
            "malformed-request",
            {"sendingAssetCode"}},
           {"on-ramp, the quote's", kPay + "onramp",
            world.body(in, R"({"sendingAssetCode":"KES","receivingAssetCode":"USDC"})"), 202},
           {"on-ramp, other",
            kPay + "onramp",
            world.body(in, R"({"sendingAssetCode":"USDC","receivingAssetCode":"KES"})"),
            422,
            "validation-failed",
            {"sendingAssetCode", "receivingAssetCode"}},
           {"cash-in, other",
            "/v1/connect-cashin",
            world.body(cash, R"({"sendingAssetCode":"USDC"})"),
            422,
            "validation-failed",
            {"sendingAssetCode"}},
       }) {
    fresh(row);
  }
}

TEST_CASE("an on-ramp has no beneficiary to notify") {
  World world;
  struct Route {
    const char* target;
    const char* operation;
  };
  for (const Route& route : {Route{"/v1/payments/onramp", "executeOnramp"},
                             Route{"/v1/connect-onramp", "executeConnectOnramp"},
                             Route{"/v1/connect-cashin", "executeConnectCashIn"}}) {
    for (const Scenario& row : std::vector<Scenario>{
             {"both true",
              route.target,
              world.body(route.operation, R"({"notifyEmail":true,"notifyWhatsApp":true})"),
              422,
              "validation-failed",
              {"notifyEmail", "notifyWhatsApp"},
              {"no beneficiary"}},
             {"wrong type",
              route.target,
              world.body(route.operation, R"({"notifyEmail":"no"})"),
              400,
              "malformed-request",
              {"notifyEmail"}},
             {"both false", route.target,
              world.body(route.operation, R"({"notifyEmail":false,"notifyWhatsApp":false})"), 202},
             {"null", route.target,
              world.body(route.operation, R"({"notifyEmail":null,"notifyWhatsApp":null})"), 202}}) {
      INFO(route.operation);
      add_fresh_payment_samples(world.app, world.app.me(), world.mine,
                                {"POST", row.target, row.body});
      run_scenario(world.app.me(), row, world.mine);
    }
  }
}

TEST_CASE("fields of earlier versions are rejected with their replacement") {
  World world;
  struct Rejected {
    const char* field;
    const char* way;
  };
  for (const api::Route& route : api::routes()) {
    if (!route.moves_money || route.body != api::Body::json) continue;
    const bool payment = route.request_schema != "NewReference";
    for (const Rejected& rejected : {Rejected{"idempotencyKey", "send transactionId"},
                                     Rejected{"externalReference", "send transactionId"}}) {
      Json json = Json::parse(sample_of(route).body);
      json[rejected.field] = "x";
      const Reply reply = world.app.me().send({"POST",
                                               filled(sample_of(route).target, world.mine),
                                               {},
                                               filled(json.dump(), world.mine)});
      INFO(route.operation << " " << reply.text());
      CHECK(reply.status == 400);
      CHECK(reply.fields() == std::vector<std::string>{rejected.field});
      if (payment) {
        CHECK_THAT(reply.message(rejected.field), Catch::Matchers::Contains(rejected.way));
      }
    }
  }
  for (const char* operation : {"payBeneficiary", "swapToBeneficiary", "executeOfframp"}) {
    for (const api::Route& route : api::routes()) {
      if (route.operation != operation) continue;
      const Reply reply =
          run_scenario(world.app.me(),
                       {operation,
                        std::string(route.pattern),
                        world.body(operation, R"({"destinationWalletId":"$second"})"),
                        400,
                        "malformed-request",
                        {"destinationWalletId"}},
                       world.mine);
      CHECK_THAT(reply.message("destinationWalletId"), Catch::Matchers::Contains("beneficiaryId"));
    }
  }
}

TEST_CASE("internal IDs are rejected on every crypto destination") {
  World world;
  const std::string at =
      "/v1/beneficiaries/" + world.mine.at("beneficiary") + "/payment-destinations";
  for (const char* id : {"networkId", "assetId", "connectorId"}) {
    for (const bool inside : {false, true}) {
      Json coins{
          {"networkName", "Other"}, {"assetSymbol", "ABC"}, {"walletAddress", "x"}, {id, "1"}};
      Json json{{"method", "CRYPTO"}};
      if (inside) {
        json["crypto"] = coins;
      } else {
        json.update(coins);
      }
      const std::string field = inside ? "crypto." + std::string(id) : id;
      const Reply reply = world.app.me().post(at, json);
      INFO(reply.text());
      CHECK(reply.status == 400);
      CHECK(reply.fields() == std::vector<std::string>{field});
      CHECK_THAT(reply.message(field),
                 Catch::Matchers::Contains("networkName, assetSymbol and walletAddress"));
    }
  }
}

TEST_CASE("a replay compares canonical fields: redundant ones may differ") {
  World world;
  const Client& me = world.app.me();
  struct Row {
    const char* operation;
    const char* repeats;
    const char* differs;  // empty: 422 comes before the comparison
    std::vector<std::string> fields;
  };
  for (const Row& row :
       std::vector<Row>{{"transferBetweenOwnWallets", R"({"receivingAssetCode":"USDC"})", "", {}},
                        {"payBeneficiary", R"({"receivingAssetCode":"USDC"})", "", {}},
                        {"executeOfframp",
                         R"({"sendingAssetCode":"USDC","receivingAssetCode":"KES"})",
                         R"({"sendingAssetCode":"EURC","receivingAssetCode":"UGX"})",
                         {"sendingAssetCode", "receivingAssetCode"}},
                        {"executeOnramp",
                         R"({"sendingAssetCode":"KES","notifyEmail":false})",
                         R"({"sendingAssetCode":"UGX"})",
                         {"sendingAssetCode"}}}) {
    for (const api::Route& route : api::routes()) {
      if (route.operation != row.operation) continue;
      INFO(row.operation);
      const std::string target(route.pattern);
      const std::string plain = filled(world.body(row.operation), world.mine);
      const auto with = [&](const char* patch) {
        Json json = Json::parse(plain);
        json.update(Json::parse(patch));
        return me.post_text(target, json.dump());
      };
      CHECK(me.post_text(target, plain).status == 202);
      const Reply again = with(row.repeats);
      INFO(again.text());
      CHECK(again.status == 202);
      CHECK(again.json().at("isIdempotent") == true);
      if (*row.differs == '\0') continue;
      const Reply conflict = with(row.differs);
      INFO(conflict.text());
      CHECK(conflict.status == 409);
      CHECK(conflict.fields() == row.fields);
    }
  }
}

}  // namespace redundant_fields_test
