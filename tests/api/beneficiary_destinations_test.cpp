// Payment destinations: their rules, masking, and the business route.
#include <catch2/catch.hpp>

#include "domain/parties/beneficiary.h"
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

// A masked number is how lists show it, and never a value (docs/contract.md#destinations).

/// The members of destinations that lists mask, as `bank.accountNumber`, from their tables.
std::vector<std::string> masked_members() {
  std::vector<std::string> out;
  const auto add = [&](const char* object, const auto& rows) {
    for (const TextFact& fact : rows) {
      if (fact.rule.masked) out.push_back(object + ("." + std::string(fact.name)));
    }
  };
  add("bank", TextFields<BankDetails>::rows);
  add("mobileMoney", TextFields<MobileMoneyDetails>::rows);
  add("crypto", TextFields<CryptoDetails>::rows);
  return out;
}

Json iban_destination() {
  Json out = place("BANK");
  out["countryIsoCode2"] = "DE";
  out["bank"] = {{"accountName", "Amina Otieno"}, {"iban", "DE89370400440532013000"}};
  return out;
}

struct MaskedWorld : World {
  std::vector<Json> samples{bank(), iban_destination(), mobile(),
                            crypto(app.config().network_name, own_key()),
                            crypto("Ethereum", "0x52908400098527886E0F7030069857D2E4169EE7")};
  std::string path = "/v1/beneficiaries/" + id;

  Json read() { return app.me().get(path).json(); }
  Json listed() { return app.me().get("/v1/beneficiaries?q=amina").json().at("data")[0]; }
  /// The details of all destinations, without what is new in each replacement.
  Json details() {
    Json out = read().at("paymentDestinations");
    for (Json& one : out) {
      one.erase("id");
      one.erase("createdAt");
    }
    return out;
  }
};

TEST_CASE("a destination can be sent back as a list or a single read shows it") {
  MaskedWorld world;
  for (const Json& sample : world.samples) world.add(sample);
  const Json details = world.details();
  const Client& me = world.app.me();
  for (const bool listed : {false, true}) {
    INFO(listed);
    const auto shown = [&] { return listed ? world.listed() : world.read(); };
    Reply reply = me.put(world.path, shown());
    INFO(reply.text());
    CHECK(reply.status == 200);
    CHECK(world.details() == details);
    Json patch = shown();
    patch["tags"] = {"changed"};
    reply = me.send({"PATCH", world.path, {}, patch.dump()});
    CHECK(reply.status == 200);
    CHECK(world.details() == details);
    const Json all =
        listed ? me.get(world.list).json().at("data") : world.read().at("paymentDestinations");
    for (const Json& one : all) CHECK(me.put(world.business(one.at("id")), one).status == 200);
    CHECK(world.details() == details);
  }
  // What changes beside the number is changed.
  Json all = world.listed();
  all["paymentDestinations"][0]["bank"]["bankName"] = "New Bank";
  CHECK(me.put(world.path, all).status == 200);
  const Json first = world.read().at("paymentDestinations")[0].at("bank");
  CHECK(first.at("bankName") == "New Bank");
  CHECK(first.at("accountNumber") == bank().at("bank").at("accountNumber"));
}

TEST_CASE("a masked number is not accepted as a value") {
  MaskedWorld world;
  std::vector<std::string> members = masked_members();
  CHECK(members == std::vector<std::string>{"bank.accountNumber", "bank.iban",
                                            "mobileMoney.phoneNumber", "crypto.walletAddress"});
  std::vector<std::string> seen;
  const Client& me = world.app.me();
  for (const Json& sample : world.samples) {
    const Json made = world.add(sample);
    const std::string id = made.at("id");
    const Json before = me.get(world.one(made)).json();
    for (const std::string& member : members) {
      const Json::json_pointer at("/" + member.substr(0, member.find('.')) + "/" +
                                  member.substr(member.find('.') + 1));
      if (!made.contains(at)) continue;
      seen.push_back(member);
      const std::string number = made.at(at);
      const std::string end = number.substr(number.size() - 4);
      // Of another number, of another length, of a short one, and of a statement.
      for (const std::string& wrong : {std::string(number.size() - 4, '*') + "0000", "*" + end,
                                       std::string("****"), number.substr(0, 4) + "****" + end}) {
        INFO(member << " " << wrong);
        Json body = made;
        body[at] = wrong;
        const auto refused = [&](const Reply& reply, const std::string& prefix) {
          INFO(reply.text());
          CHECK((reply.status == 422 || reply.status == 400));
          CHECK(reply.fields() == std::vector<std::string>{prefix + member});
          CHECK_THAT(reply.message(prefix + member), Catch::Matchers::Contains("is masked"));
        };
        refused(me.post(world.list, body), "");
        Json whole = world.read();
        whole["paymentDestinations"] = {body};
        refused(me.put(world.path, whole), "paymentDestinations[0].");
        refused(me.post("/v1/beneficiaries", whole), "paymentDestinations[0].");
        refused(me.send({"PATCH", world.path, {}, whole.dump()}), "paymentDestinations[0].");
        const Json row = me.post("/v1/beneficiaries/bulk", {{"beneficiaries", {whole}}}).json();
        CHECK(row.at("failed") == 1);
        const Reply business = me.put(world.business(id), body);
        CHECK(business.status >= 400);
        CHECK_THAT(business.text(), Catch::Matchers::Contains("is masked"));
      }
      // The mask of a number belongs to the destination with its ID.
      Json copy = made;
      copy.erase("id");
      copy[at] = masked(number);
      Json whole = world.read();
      whole["paymentDestinations"] = {copy};
      CHECK(me.put(world.path, whole).status >= 400);
    }
    CHECK(me.get(world.one(made)).json() == before);
  }
  std::ranges::sort(seen);
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  std::ranges::sort(members);
  CHECK(seen == members);
}

TEST_CASE("a change that changes nothing leaves the time of the last change") {
  MaskedWorld world;
  const Json made = world.add(bank());
  const Client& me = world.app.me();
  const Json before = world.read();
  world.app.clock.advance_ms(5'000);
  CHECK(me.put(world.business(made.at("id")), made).status == 200);
  CHECK(me.send({"PATCH", world.path, {}, R"({"tags":[]})"}).status == 200);
  CHECK(world.read() == before);
  const std::string wallet = "/v1/wallets/" + world.app.wallet("USDC");
  const Json shown = me.get(wallet).json();
  world.app.clock.advance_ms(5'000);
  CHECK(me.put(wallet, shown).json() == shown);
  CHECK(me.put(wallet, {{"walletName", "New name"}}).json().at("updatedAt") !=
        shown.at("updatedAt"));
  CHECK(me.put(wallet, {{"createdAt", "2020-01-01T00:00:00.000Z"}}).status == 422);
}

}  // namespace beneficiary_destinations_test
