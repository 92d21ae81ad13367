// A collection credits the amount that the provider collected, not only the quoted one.
#include <catch2/catch.hpp>

#include "base/mutex.h"
#include "store/file/connection.h"
#include "support/connectors.h"
#include "support/recipients.h"
#include "support/test_app.h"
#include "unit/http/running_server.h"

using namespace coffer;
using namespace coffer::test;

namespace collected_amount_test {
namespace {

/// A provider that reports a collection at the first request, with these members and the status.
struct World {
  TestApp app{[](Config& config) { config.token_lifetime_s = 86'400; }};
  const Client& me = app.me();
  std::string wallet = app.wallet("USDC");
  // 10,000 KES, of which 110 are the fee: 9,890 x 0.0075 = 74.175 USDC.
  std::string quote =
      R"({"sendAmount":"10000","receiveAmount":"74.175","fee":"110","rate":"0.0075"})";
  Mutex mutex;
  Json says COFFER_GUARDED_BY(mutex) = Json::object();
  http::test::RunningServer provider{{},
                                     [this](http::Request& request) { return answer(request); }};
  std::string connector = add_connector(app, [&] {
    flows::NewConnector out = collection_connector();
    out.terms.driver = DriverKind::http;
    out.terms.endpoint = ProviderEndpoint{"http://127.0.0.1:" + std::to_string(provider.port()),
                                          Secret("shared"), 5'000};
    return out;
  }());

  http::Response answer(const http::Request& request) {
    http::Response out;
    if (request.path == "/quotes") {
      out.body = quote;
      return out;
    }
    Json body{{"instructions", {{"accountNumber", "1"}}}, {"status", "pending"}};
    const Lock lock(mutex);
    for (const char* shown : {"instructions", "unknown"}) {
      if (says.contains(shown)) body[shown] = says.at(shown);
    }
    if (request.method == "GET") {
      body["id"] = request.path.substr(request.path.rfind('/') + 1);
      body["status"] = "collected";
      body.update(says);
    } else {
      body["id"] = Json::parse(request.body).at("id");
    }
    out.body = body.dump();
    return out;
  }

  void say(const Json& members) {
    const Lock lock(mutex);
    says = members;
  }
  /// The record of a collection after this report of its provider.
  Json collected(const Json& members) {
    say(members);
    const std::string id =
        me.pay("/v1/payments/onramp", collection_body(collection_quote(me, connector), wallet));
    pass(1'000);
    return me.record(id);
  }
  void pass(int ms) {
    for (int passed = 0; passed < ms; passed += 250) {
      app.clock.advance_ms(250);
      app.settle();
    }
  }
  std::string balance() { return me.balance(wallet, "USDC"); }
};

}  // namespace

TEST_CASE("without a reported amount, the quoted amount was collected") {
  World world;
  const Json record = world.collected(Json::object());
  CHECK(record.at("status") == "succeeded");
  CHECK(record.at("receivingAmount") == "74.175");
  CHECK(record.at("collectedAmount") == "10000.00");
  CHECK_FALSE(record.contains("substatus"));
  CHECK(world.balance() == "74.175");
}

TEST_CASE("an underpaid on-ramp credits the collected amount, after the fee of the quote") {
  World world;
  const Json record = world.collected({{"collectedAmount", "5000"}});
  // (5,000 - 110) x 0.0075
  CHECK(record.at("status") == "succeeded");
  CHECK(world.balance() == "36.675");
  CHECK(record.at("receivingAmount") == "36.675");
  CHECK(record.at("collectedAmount") == "5000.00");
  CHECK(record.at("substatus") == "underpaid");
  CHECK(record.at("sendingAmount") == "10000.00");
}

TEST_CASE("texts that are only shown are cut, and never hold up a collection") {
  World world;
  const Json failure{{"code", "account_closed"}, {"message", std::string(9'000, 'm')}};
  CHECK(world.collected({{"status", "failed"}, {"failure", failure}}).at("status") == "failed");
  Json instructions{{"long", std::string(5'000, 'a') + "b"}, {"name", "Amina"}};
  instructions[std::string(5'000, 'n')] = "long name";
  const Json shown = world.collected({{"instructions", instructions}});
  CHECK(shown.at("status") == "succeeded");
  CHECK(shown.at("instructions").at("long") == std::string(4'096, 'a'));
  CHECK(shown.at("instructions").at("name") == "Amina");
  CHECK(shown.at("instructions").at(std::string(200, 'n')) == "long name");
  // As many members and values as 256 KiB contain.
  Json many = Json::object();
  for (int i = 0; i < 3'000; ++i) many["m" + std::to_string(10'000 + i)] = "x";
  const Json wide = world.collected({{"instructions", many}, {"unknown", Json(60'000, 1)}});
  CHECK(wide.at("status") == "succeeded");
  CHECK(wide.at("instructions").size() == 50);
  CHECK(world.balance() == "148.35");
}

TEST_CASE("an overpaid on-ramp credits the quoted amount and shows the excess") {
  World world;
  const Json record = world.collected({{"collectedAmount", "10000.01"}});
  CHECK(record.at("status") == "succeeded");
  CHECK(world.balance() == "74.175");
  CHECK(record.at("receivingAmount") == "74.175");
  CHECK(record.at("collectedAmount") == "10000.01");
  CHECK(record.at("excessAmount") == "0.01");
  CHECK(record.at("substatus") == "overpaid");
  CHECK_FALSE(world.collected({{"collectedAmount", "10000"}}).contains("excessAmount"));
}

TEST_CASE("the largest amount credits no more than the quote") {
  World world;
  const Json record = world.collected({{"collectedAmount", "922337203685.47"}});
  CHECK(record.at("status") == "succeeded");
  CHECK(world.balance() == "74.175");
}

TEST_CASE("an on-ramp with nothing left after the fee fails with its reason") {
  World world;
  for (const char* amount : {"0.01", "109.99", "110"}) {
    const Json record = world.collected({{"collectedAmount", amount}});
    INFO(record.dump());
    CHECK(record.at("status") == "failed");
    CHECK(record.at("statusReason").at("code") == "underpaid");
    CHECK(record.at("substatus") == "underpaid");
    CHECK(record.at("receivingAmount") == "74.175");  // the quoted amount
  }
  CHECK(world.balance() == "0.00");
  const Json record = world.collected({{"collectedAmount", "110.01"}});
  CHECK(record.at("status") == "succeeded");
  CHECK(record.at("receivingAmount") == "0.000075");
}

TEST_CASE("an amount that a provider cannot have collected credits nothing and is logged") {
  struct Row {
    Json amount;
    const char* reason;
  };
  for (const Row& row : {Row{"0", "not greater than 0"}, Row{"-1", "not greater than 0"},
                         Row{"1.005", "more decimal places"}, Row{"922337203685.48", "too large"},
                         Row{"1e3", "not a decimal string"}, Row{"many", "not a decimal string"},
                         Row{5000, "not a decimal string"}, Row{Json::array(), "not a decimal"}}) {
    World world;
    const Json record = world.collected({{"collectedAmount", row.amount}});
    INFO(row.amount.dump());
    CHECK(record.at("status") == "processing");
    CHECK(world.balance() == "0.00");
    CHECK(world.app.log().find(row.reason) != std::string::npos);
    // A later status request returns the corrected amount.
    world.say({{"collectedAmount", "9000"}});
    world.pass(20'000);
    CHECK(world.me.record(record.at("id")).at("substatus") == "underpaid");
    CHECK(world.balance() == "66.675");
  }
}

TEST_CASE("a quote that contradicts itself is rejected, and the log names the contradiction") {
  World world;
  for (const char* quote :
       {R"({"sendAmount":"10000","receiveAmount":"74.175","fee":"110","rate":"1540.25"})",
        R"({"sendAmount":"10000","receiveAmount":"75","fee":"110","rate":"0.00750"})",
        R"({"sendAmount":"10000","receiveAmount":"74.175","fee":"0","rate":"0.007500"})"}) {
    INFO(quote);
    world.quote = quote;
    for (const char* path : {"/v1/quotes?type=onramp", "/v1/connect-quotes/send"}) {
      INFO(path);
      const Reply reply =
          world.me.post(path, {{"connectorId", world.connector}, {"amount", "10000"}});
      CHECK(reply.status == 502);
      CHECK(reply.slug() == "provider-error");
    }
    CHECK(world.app.log().find("contradicts `rate`") != std::string::npos);
  }
  store::Connection db(world.app.config().db, store::OpenMode::read_only);
  store::Query quotes(db, "SELECT count(*) FROM quotes");
  REQUIRE(quotes.step());
  CHECK(quotes.integer(0) == 0);
}

TEST_CASE("an unpaid collection with a collected amount is a contradiction") {
  World world;
  for (const char* status : {"failed", "expired"}) {
    const Json record = world.collected({{"status", status}, {"collectedAmount", "10000"}});
    INFO(status);
    CHECK(record.at("status") == "processing");
    CHECK(world.app.log().find("contradicts `status`") != std::string::npos);
  }
}

TEST_CASE("the final event contains the collected amount, and no earlier one does") {
  World world;
  const Json record = world.collected({{"collectedAmount", "5000"}});
  int ends = 0;
  for (const Json& event : world.me.all("/v1/events")) {
    const Json& data = event.at("data");
    if (data.at("id") != record.at("id")) continue;
    const bool end = event.at("type") == "payment.succeeded";
    ends += end;
    CHECK(data.contains("collectedAmount") == end);
    CHECK(data.contains("substatus") == end);
    CHECK(data.at("receivingAmount") == (end ? "36.675" : "74.175"));
  }
  CHECK(ends == 1);
}

TEST_CASE("the collected amount counts while the wallet waits for its review") {
  World world;
  world.wallet = world.me.third_party_wallet("USDC");
  world.me.send({"POST", "/v1/sandbox/wallets/" + world.wallet + "/verify", {}, {}});
  world.say({{"collectedAmount", "5000"}});
  const std::string id =
      world.me.pay("/v1/payments/onramp",
                   collection_body(collection_quote(world.me, world.connector), world.wallet));
  Json other = world.me.get("/v1/wallets/" + world.wallet).json().at("metadata");
  other["lastName"] = "Kamau";
  REQUIRE(world.me.put("/v1/wallets/" + world.wallet, {{"metadata", other}}).status == 200);
  world.pass(1'000);
  const Json waits = world.me.record(id);
  CHECK(waits.at("status") == "processing");
  CHECK(waits.at("collectedAmount") == "5000.00");
  CHECK(waits.at("substatus") == "underpaid");
  // An operator's decision still credits the amount that the provider reported.
  world.me.send({"POST", "/v1/sandbox/wallets/" + world.wallet + "/verify", {}, {}});
  REQUIRE(world.me.send({"POST", "/v1/sandbox/transactions/" + id + "/succeed", {}, {}}).status ==
          200);
  CHECK(world.balance() == "36.675");
  CHECK(world.me.record(id).at("status") == "succeeded");
}

}  // namespace collected_amount_test
