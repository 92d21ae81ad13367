// Payment destinations: their rules, masking, and the business route.
#include <catch2/catch.hpp>

#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace beneficiary_destinations_test {
namespace {

Json place(const char* method) {
  return {{"method", method}, {"countryIsoCode2", "KE"}, {"currencyIsoCode3", "KES"}};
}

Json bank(const std::string& number = "0123456789") {
  Json out = place("BANK");
  out["bank"] = {{"accountName", "Amina Otieno"}, {"accountNumber", number}};
  return out;
}

Json mobile() {
  Json out = place("MOBILE_MONEY");
  out["mobileMoney"] = {{"provider", "M-Pesa"}, {"phoneNumber", "+254712345678"}};
  return out;
}

Json crypto(const std::string& network, const std::string& address) {
  return {{"method", "CRYPTO"},
          {"networkName", network},
          {"assetSymbol", "USDC"},
          {"walletAddress", address}};
}

struct World {
  TestApp app;
  std::string id = app.me()
                       .post("/v1/beneficiaries",
                             {{"individual", {{"firstName", "Amina"}, {"lastName", "Otieno"}}}})
                       .json()
                       .at("id");
  std::string list = "/v1/beneficiaries/" + id + "/payment-destinations";

  Json add(const Json& body) {
    const Reply reply = app.me().post(list, body);
    INFO(reply.text());
    REQUIRE(reply.status == 201);
    return reply.json();
  }
  std::string one(const Json& destination) const {
    return list + "/" + destination.at("id").get<std::string>();
  }
  std::string business(const std::string& destination) const {
    return "/v1/business/beneficiaries/" + app.association().to_string() + "/" + id +
           "/payment-destinations/" + destination;
  }
  std::string own_key() {
    return app.me().get("/v1/wallets/" + app.wallet("USDC")).json().at("publicKey");
  }
};

}  // namespace

TEST_CASE("a destination of every method, complete in single reads, masked in lists") {
  World world;
  const std::string key = world.own_key();
  Json iban = place("BANK");
  iban["countryIsoCode2"] = "de";
  iban["currencyIsoCode3"] = "eur";
  iban["label"] = "Salary";
  iban["bank"] = {{"accountName", "Amina Otieno"},
                  {"iban", "de89 3704 0044 0532 0130 00"},
                  {"bankName", "Bank"},
                  {"bankCode", "37040044"},
                  {"branchCode", "001"},
                  {"swiftBic", "cobadeff"}};
  const std::vector<Json> made{world.add(bank()), world.add(iban), world.add(mobile()),
                               world.add(crypto(world.app.config().network_name, key))};
  CHECK(made[1].at("countryIsoCode2") == "DE");
  CHECK(made[1].at("currencyIsoCode3") == "EUR");
  CHECK(made[1].at("bank").at("iban") == "DE89370400440532013000");
  CHECK(made[1].at("bank").at("swiftBic") == "COBADEFF");
  CHECK(made[3].at("crypto").at("walletAddress") == key);
  CHECK(made[0].at("createdAt") == "2026-01-01T00:00:00.000Z");
  for (const Json& destination : made) {
    CHECK(world.app.me().get(world.one(destination)).json() == destination);
  }
  const Json list = world.app.me().get(world.list).json();
  CHECK(list.at("hasMore") == false);
  REQUIRE(list.at("data").size() == 4);
  CHECK(list.at("data")[0].at("bank").at("accountNumber") == "******6789");
  CHECK(list.at("data")[1].at("bank").at("iban") == "******************3000");
  CHECK(list.at("data")[2].at("mobileMoney").at("phoneNumber") == "*********5678");
  CHECK(list.at("data")[3].at("crypto").at("walletAddress") ==
        std::string(52, '*') + key.substr(52));
  CHECK(world.app.me().get("/v1/beneficiaries/" + world.id).json().at("paymentDestinations") ==
        Json(made));
}

TEST_CASE("the list by method; MOMO is MOBILE_MONEY") {
  World world;
  world.add(bank());
  world.add(mobile());
  const auto methods = [&](const std::string& query) {
    return member_of_each(world.app.me().get(world.list + query).json().at("data"), "method");
  };
  using List = std::vector<std::string>;
  CHECK(methods("") == List{"BANK", "MOBILE_MONEY"});
  CHECK(methods("?method=BANK") == List{"BANK"});
  CHECK(methods("?method=MOMO") == List{"MOBILE_MONEY"});
  CHECK(methods("?method=MOBILE_MONEY") == List{"MOBILE_MONEY"});
  CHECK(methods("?method=CRYPTO").empty());
  run_scenario(world.app.me(), {"no such method",
                                world.list + "?method=bank",
                                "",
                                400,
                                "malformed-request",
                                {"method"},
                                {},
                                "GET"});
}

TEST_CASE("rules of destinations") {
  World world;
  const std::string network = world.app.config().network_name;
  const std::string key = world.own_key();
  std::string other = key;
  other[20] = other[20] == 'A' ? 'B' : 'A';
  std::string lower = key;
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  const auto changed = [](Json body, const char* object, const char* field, const Json& value) {
    (object == nullptr ? body : body[object])[field] = value;
    return body.dump();
  };
  const auto row = [&](const char* name, const std::string& body, int status,
                       const std::vector<std::string>& fields = {}) {
    const char* slug = status == 400   ? "malformed-request"
                       : status == 422 ? "validation-failed"
                                       : "";
    return Scenario{name, world.list, body, status, slug, fields};
  };
  run_scenarios(
      world.app.me(),
      {row("nothing", "{}", 400, {"method", "countryIsoCode2", "currencyIsoCode3"}),
       row("no object", "1", 400, {"body"}),
       row("unknown method", changed(bank(), nullptr, "method", "CARD"), 400, {"method"}),
       row("alpha-3 country", changed(bank(), nullptr, "countryIsoCode2", "KEN"), 400,
           {"countryIsoCode2"}),
       row("currency of two letters", changed(bank(), nullptr, "currencyIsoCode3", "KE"), 400,
           {"currencyIsoCode3"}),
       row("no country", changed(bank(), nullptr, "countryIsoCode2", "XX"), 422,
           {"countryIsoCode2"}),
       row("no currency", changed(bank(), nullptr, "currencyIsoCode3", "ABC"), 422,
           {"currencyIsoCode3"}),
       row("wrong type", changed(bank(), "bank", "accountNumber", 123), 400,
           {"bank.accountNumber"}),
       row("number and IBAN", changed(bank(), "bank", "iban", "DE89370400440532013000"), 422,
           {"bank.accountNumber", "bank.iban"}),
       row("neither", changed(bank(), "bank", "accountNumber", nullptr), 422,
           {"bank.accountNumber", "bank.iban"}),
       row("BIC", changed(bank(), "bank", "swiftBic", "COBAXXFF"), 422, {"bank.swiftBic"}),
       row("no details", place("BANK").dump(), 400, {"bank"}),
       row("other details", changed(bank(), nullptr, "mobileMoney", mobile().at("mobileMoney")),
           422, {"mobileMoney"}),
       row("national number", changed(mobile(), "mobileMoney", "phoneNumber", "0712345678"), 400,
           {"mobileMoney.phoneNumber"}),
       row("no number", changed(mobile(), "mobileMoney", "phoneNumber", nullptr), 400,
           {"mobileMoney.phoneNumber"}),
       row("unknown fields", changed(bank(), nullptr, "unknown", 1), 201),
       row("internal ids do not matter to banks", changed(bank(), nullptr, "assetId", "1"), 201),
       row("crypto without inputs", place("CRYPTO").dump(), 400,
           {"networkName", "assetSymbol", "walletAddress"}),
       row("a wrong checksum", crypto(network, other).dump(), 422, {"walletAddress"}),
       row("lower case", crypto(network, lower).dump(), 422, {"walletAddress"}),
       row("a foreign address", crypto("stellar", "0xabc").dump(), 422, {"walletAddress"}),
       row("Stellar", crypto("Stellar", key).dump(), 201),
       row("another network", crypto("Ethereum", "0xabc").dump(), 201),
       row("too long an address", crypto("Ethereum", std::string(129, 'a')).dump(), 400,
           {"walletAddress"}),
       row("28 bytes of memo", changed(crypto(network, key), nullptr, "memo", std::string(28, 'm')),
           201),
       row("29 bytes of memo", changed(crypto(network, key), nullptr, "memo", std::string(29, 'm')),
           400, {"memo"})});
}

TEST_CASE("an invalid IBAN is reported as an error of its field") {
  World world;
  // The last ones are valid, but the destination is in KE.
  for (const char* iban :
       {"DE89370400440532013001", "DE8937040044053201300", "XX89370400440532013000",
        "GB82WEST12345698765433", "DE89370400440532013000", "KE8612345678901234567890"}) {
    Json body = bank();
    body["bank"] = {{"accountName", "A"}, {"iban", iban}};
    const Reply reply = world.app.me().post(world.list, body);
    INFO(iban);
    CHECK(reply.status == 422);
    CHECK(reply.fields() == std::vector<std::string>{"bank.iban"});
  }
}

TEST_CASE("internal IDs are rejected on crypto destinations") {
  World world;
  for (const char* id : {"networkId", "assetId", "connectorId"}) {
    for (const bool nested : {false, true}) {
      Json body = crypto("Ethereum", "0xabc");
      if (nested) body["crypto"] = {{id, "1"}};
      if (!nested) body[id] = "1";
      const Reply reply = world.app.me().post(world.list, body);
      const std::string field = std::string(nested ? "crypto." : "") + id;
      INFO(field << " " << reply.text());
      CHECK(reply.status == 400);
      CHECK(reply.fields() == std::vector<std::string>{field});
      for (const char* name : {"networkName", "assetSymbol", "walletAddress"}) {
        CHECK_THAT(reply.message(field), Catch::Matchers::Contains(name));
      }
    }
  }
}

TEST_CASE("crypto members at the top level and in `crypto` are equivalent") {
  World world;
  const Json flat = world.add(crypto("Ethereum", "0xabc"));
  Json body{{"method", "CRYPTO"},
            {"countryIsoCode2", "KE"},
            {"currencyIsoCode3", "KES"},
            {"crypto",
             {{"networkName", "Ethereum"}, {"assetSymbol", "USDC"}, {"walletAddress", "0xabc"}}}};
  const Json nested = world.add(body);
  CHECK(flat.at("crypto") == nested.at("crypto"));
  CHECK(nested.at("countryIsoCode2") == "KE");
  body["walletAddress"] = "0xdef";
  CHECK(world.app.me().post(world.list, body).fields() ==
        std::vector<std::string>{"walletAddress"});
}

TEST_CASE("a beneficiary has at most 20 destinations at a time") {
  World world;
  std::string last;
  for (int i = 0; i < 20; ++i) last = world.one(world.add(bank()));
  const Reply rejected = world.app.me().post(world.list, bank());
  CHECK(rejected.status == 409);
  CHECK(rejected.slug() == "conflict");
  CHECK(world.app.me().send({"DELETE", last, {}, {}}).status == 204);
  CHECK(world.app.me().get(last).status == 404);
  CHECK(world.app.me().send({"DELETE", last, {}, {}}).status == 404);
  CHECK(world.app.me().post(world.list, bank()).status == 201);
}

TEST_CASE("a destination belongs to its beneficiary") {
  World world;
  const Json mine = world.add(bank());
  const std::string other = world.app.me()
                                .post("/v1/beneficiaries", {{"business", {{"companyName", "K"}}}})
                                .json()
                                .at("id");
  const std::string id = mine.at("id");
  const std::string path = "/v1/beneficiaries/" + other + "/payment-destinations/";
  CHECK(world.app.me().get(path + id).status == 404);
  CHECK(world.app.me().get(path + "1").status == 404);
  CHECK(world.app.me().get("/v1/beneficiaries/1/payment-destinations/" + id).status == 404);
  CHECK(world.app.me().send({"DELETE", path + id, {}, {}}).status == 404);
  CHECK(world.app.me().get(path.substr(0, path.size() - 1)).json().at("data").empty());
  CHECK(world.app.me().get(world.one(mine)).status == 200);
}

TEST_CASE("the business route replaces a destination and keeps its ID") {
  World world;
  const Json first = world.add(bank());
  const Json second = world.add(mobile());
  world.app.clock.advance_ms(5'000);
  const Reply reply = world.app.me().put(world.business(first.at("id")), bank("999988887777"));
  REQUIRE(reply.status == 200);
  const Json envelope = reply.json();
  CHECK(envelope.at("success") == true);
  CHECK_FALSE(envelope.at("message").get<std::string>().empty());
  const Json& data = envelope.at("data");
  CHECK(data.at("id") == first.at("id"));
  CHECK(data.at("createdAt") == first.at("createdAt"));
  CHECK(data.at("bank").at("accountNumber") == "999988887777");
  CHECK(world.app.me().get(world.one(first)).json() == data);
  // The destination keeps its position, and the beneficiary has changed.
  const Json beneficiary = world.app.me().get("/v1/beneficiaries/" + world.id).json();
  CHECK(beneficiary.at("paymentDestinations") == Json({data, second}));
  CHECK(beneficiary.at("updatedAt") == "2026-01-01T00:00:05.000Z");
  // Another method, and the same one again.
  CHECK(
      world.app.me().put(world.business(first.at("id")), mobile()).json().at("data").at("method") ==
      "MOBILE_MONEY");
  CHECK(world.app.me().put(world.business(first.at("id")), mobile()).status == 200);
}

TEST_CASE("the business route uses the envelope for rejections too") {
  World world;
  const std::string id = world.add(bank()).at("id");
  const std::string mine = world.app.association().to_string();
  const std::string unknown_id = world.app.random.uuid_v7(world.app.clock.now()).to_string();
  const auto path = [](const std::string& association, const std::string& beneficiary,
                       const std::string& destination) {
    return "/v1/business/beneficiaries/" + association + "/" + beneficiary +
           "/payment-destinations/" + destination;
  };
  const auto check = [&](const std::string& target, const Json& body, int status,
                         const char* code) {
    const Reply reply = world.app.me().put(target, body);
    INFO(reply.text());
    CHECK(reply.status == status);
    CHECK(reply.json().at("success") == false);
    CHECK(reply.json().at("data").is_null());
    CHECK(reply.json().at("message").get<std::string>().starts_with(std::string(code) + ": "));
  };
  for (const std::string& wrong : {unknown_id, std::string("x")}) {
    check(path(wrong, world.id, id), bank(), 404, "NOT_FOUND");
    check(path(mine, wrong, id), bank(), 404, "NOT_FOUND");
    check(path(mine, world.id, wrong), bank(), 404, "NOT_FOUND");
  }
  check(world.business(id), Json::object(), 400, "MALFORMED_REQUEST");
  Json wrong = bank();
  wrong["currencyIsoCode3"] = "ABC";
  check(world.business(id), wrong, 422, "VALIDATION_FAILED");
  // An association ID is accepted in upper case.
  std::string upper = mine;
  for (char& c : upper) c = static_cast<char>(c >= 'a' && c <= 'f' ? c - 32 : c);
  CHECK(world.app.me().put(path(upper, world.id, id), bank()).status == 200);
}

}  // namespace beneficiary_destinations_test
