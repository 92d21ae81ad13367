// Beneficiaries: create, read, merge, replace, archive, list.
#include <catch2/catch.hpp>

#include "store/file/connection.h"
#include "support/armed_fault.h"
#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace beneficiaries_test {
namespace {

const std::string kBeneficiaries = "/v1/beneficiaries";
const std::string kName = R"("individual":{"firstName":"A","lastName":"B"})";

Json amina() { return {{"individual", {{"firstName", "Amina"}, {"lastName", "Otieno"}}}}; }

Json bank_destination() {
  return {{"method", "BANK"},
          {"countryIsoCode2", "KE"},
          {"currencyIsoCode3", "KES"},
          {"bank", {{"accountName", "Amina Otieno"}, {"accountNumber", "0123456789"}}}};
}

Json mobile_destination() {
  return {{"method", "MOMO"},
          {"countryIsoCode2", "KE"},
          {"currencyIsoCode3", "KES"},
          {"mobileMoney", {{"provider", "M-Pesa"}, {"phoneNumber", "+254712345678"}}}};
}

Json created(const Client& client, const Json& body) {
  const Reply reply = client.post(kBeneficiaries, body);
  INFO(reply.text());
  REQUIRE(reply.status == 201);
  return reply.json();
}

std::string path_of(const Json& beneficiary) {
  return kBeneficiaries + "/" + beneficiary.at("id").get<std::string>();
}

Reply patch(const Client& client, const Json& beneficiary, const Json& body) {
  return client.send({"PATCH", path_of(beneficiary), {}, body.dump()});
}

Reply remove(const Client& client, const std::string& target) {
  return client.send({"DELETE", target, {}, {}});
}

std::vector<std::string> names_of(const std::vector<Json>& rows) {
  std::vector<std::string> out;
  for (const Json& row : rows) out.push_back(row.at("individual").at("firstName"));
  return out;
}

}  // namespace

TEST_CASE("an individual with all fields is shown completely and normalised") {
  TestApp app;
  Json body{{"individual",
             {{"firstName", " Amina "},
              {"lastName", "Otieno"},
              {"email", "amina@example.com"},
              {"phone", "+254712345678"},
              {"dateOfBirth", "1990-02-28"},
              {"nationality", "ke"}}},
            {"addresses",
             {{{"type", "home"},
               {"line1", "1 Moi Avenue"},
               {"line2", "Flat 2"},
               {"city", "Nairobi"},
               {"state", "Nairobi"},
               {"postalCode", "00100"},
               {"countryIsoCode2", "ke"}}}},
            {"tags", {"supplier", "vip"}},
            {"clientReference", "C-1"},
            {"displayName", "ignored"},
            {"paymentDestinations", {bank_destination(), mobile_destination()}}};
  const Json made = created(app.me(), body);
  CHECK(made.at("type") == "individual");
  CHECK(made.at("individual").at("firstName") == "Amina");
  CHECK(made.at("individual").at("nationality") == "KEN");
  CHECK(made.at("individual").at("dateOfBirth") == "1990-02-28");
  CHECK_FALSE(made.contains("business"));
  CHECK_FALSE(made.contains("displayName"));
  CHECK(made.at("addresses")[0].at("countryIsoCode2") == "KE");
  CHECK(made.at("addresses")[0].at("line2") == "Flat 2");
  CHECK(made.at("tags") == Json({"supplier", "vip"}));
  CHECK(made.at("clientReference") == "C-1");
  REQUIRE(made.at("paymentDestinations").size() == 2);
  CHECK(made.at("paymentDestinations")[0].at("bank").at("accountNumber") == "0123456789");
  CHECK(made.at("paymentDestinations")[1].at("method") == "MOBILE_MONEY");
  CHECK(made.at("createdAt") == "2026-01-01T00:00:00.000Z");
  CHECK(made.at("updatedAt") == made.at("createdAt"));
  CHECK(app.me().get(path_of(made)).json() == made);
  app.restart();
  CHECK(app.me().get(path_of(made)).json() == made);
}

TEST_CASE("a business, and a beneficiary without optional fields") {
  TestApp app;
  const Json made = created(app.me(), {{"business",
                                        {{"companyName", "Kahawa Ltd"},
                                         {"registrationNumber", "C-1234"},
                                         {"email", "office@kahawa.example"},
                                         {"phone", "+254700000000"},
                                         {"registrationCountry", "Ken"}}},
                                       {"individual", nullptr}});
  CHECK(made.at("type") == "business");
  CHECK(made.at("business").at("registrationCountry") == "KEN");
  CHECK_FALSE(made.contains("individual"));
  CHECK_FALSE(made.contains("clientReference"));
  for (const char* list : {"addresses", "tags", "paymentDestinations"}) {
    CHECK(made.at(list) == Json::array());
  }
}

TEST_CASE("malformed and invalid beneficiaries") {
  TestApp app;
  run_scenarios(
      app.me(),
      {{"neither", kBeneficiaries, "{}", 422, "validation-failed", {"individual", "business"}},
       {"both",
        kBeneficiaries,
        "{" + kName + R"(,"business":{"companyName":"K"}})",
        422,
        "validation-failed",
        {"individual", "business"}},
       {"no object", kBeneficiaries, "[]", 400, "malformed-request", {"body"}},
       {"wrong types",
        kBeneficiaries,
        R"({"individual":1,"addresses":{},"tags":"x","clientReference":[],"paymentDestinations":1})",
        400,
        "malformed-request",
        {"individual", "addresses", "tags", "clientReference", "paymentDestinations"}},
       {"wrong types inside",
        kBeneficiaries,
        R"({"individual":{"firstName":1,"lastName":"B"},"addresses":[1],"tags":[1,null],)"
        R"("paymentDestinations":[1]})",
        400,
        "malformed-request",
        {"individual.firstName", "addresses[0]", "tags[0]", "tags[1]", "paymentDestinations[0]"}},
       {"missing and blank",
        kBeneficiaries,
        R"({"individual":{"lastName":" "},"addresses":[{}]})",
        400,
        "malformed-request",
        {"individual.firstName", "individual.lastName", "addresses[0].line1", "addresses[0].city",
         "addresses[0].countryIsoCode2"}},
       {"wrong values",
        kBeneficiaries,
        R"({"individual":{"firstName":"A","lastName":"B","email":"x","nationality":"XX",)"
        R"("dateOfBirth":"2027-01-01"},"addresses":[{"line1":"1","city":"C","countryIsoCode2":"XX"}]})",
        422,
        "validation-failed",
        {"individual.email", "individual.nationality", "individual.dateOfBirth",
         "addresses[0].countryIsoCode2"}},
       {"values of another shape",
        kBeneficiaries,
        R"({"individual":{"firstName":"A","lastName":"B","phone":"0712"},)"
        R"("addresses":[{"line1":"1","city":"C","countryIsoCode2":"KEN"}]})",
        400,
        "malformed-request",
        {"individual.phone", "addresses[0].countryIsoCode2"}},
       {"control characters",
        kBeneficiaries,
        R"({"individual":{"firstName":"A\u001b[0m","lastName":"B"},"clientReference":"a\u0085b"})",
        400,
        "malformed-request",
        {"individual.firstName", "clientReference"}},
       {"a company without its name",
        kBeneficiaries,
        R"({"business":{}})",
        400,
        "malformed-request",
        {"business.companyName"}}});
}

TEST_CASE("lists of a beneficiary: maximum numbers and valid elements") {
  TestApp app;
  const std::string& name = kName;
  const auto many = [](const std::string& item, int count) {
    std::string out = item;
    for (int i = 1; i < count; ++i) out += "," + item;
    return "[" + out + "]";
  };
  const std::string address = R"({"line1":"1","city":"C","countryIsoCode2":"KE"})";
  const std::string destination = mobile_destination().dump();
  run_scenarios(
      app.me(),
      {{"a tag twice",
        kBeneficiaries,
        "{" + name + R"(,"tags":["a","b","a"]})",
        422,
        "validation-failed",
        {"tags[2]"}},
       {"tags too long and blank",
        kBeneficiaries,
        "{" + name + R"(,"tags":["  ",")" + std::string(51, 't') + R"("]})",
        400,
        "malformed-request",
        {"tags[0]", "tags[1]"}},
       {"21 tags",
        kBeneficiaries,
        "{" + name + R"(,"tags":)" + many("\"t\"", 21) + "}",
        400,
        "malformed-request",
        {"tags"}},
       {"11 addresses",
        kBeneficiaries,
        "{" + name + R"(,"addresses":)" + many(address, 11) + "}",
        400,
        "malformed-request",
        {"addresses"}},
       {"10 addresses", kBeneficiaries, "{" + name + R"(,"addresses":)" + many(address, 10) + "}",
        201},
       {"21 destinations",
        kBeneficiaries,
        "{" + name + R"(,"paymentDestinations":)" + many(destination, 21) + "}",
        400,
        "malformed-request",
        {"paymentDestinations"}},
       {"20 destinations", kBeneficiaries,
        "{" + name + R"(,"paymentDestinations":)" + many(destination, 20) + "}", 201},
       {"a bad destination among good ones",
        kBeneficiaries,
        "{" + name + R"(,"paymentDestinations":[)" + destination + R"(,{"method":"BANK"}]})",
        400,
        "malformed-request",
        {"paymentDestinations[1].countryIsoCode2", "paymentDestinations[1].currencyIsoCode3",
         "paymentDestinations[1].bank"}}});
}

TEST_CASE("a patch merges: members change, null removes, arrays are replaced") {
  TestApp app;
  Json body = amina();
  body["individual"]["email"] = "amina@example.com";
  body["individual"]["phone"] = "+254712345678";
  body["tags"] = {"a", "b"};
  body["clientReference"] = "C-1";
  body["paymentDestinations"] = {bank_destination()};
  Json expected = created(app.me(), body);
  app.clock.advance_ms(5'000);
  const Reply reply = patch(app.me(), expected,
                            {{"individual", {{"email", nullptr}, {"lastName", "Wanjiku"}}},
                             {"tags", {"c"}},
                             {"clientReference", nullptr},
                             {"unknown", 1}});
  REQUIRE(reply.status == 200);
  expected["individual"]["lastName"] = "Wanjiku";
  expected["individual"].erase("email");
  expected["tags"] = {"c"};
  expected.erase("clientReference");
  expected["updatedAt"] = "2026-01-01T00:00:05.000Z";
  CHECK(reply.json() == expected);  // destinations keep their ids
  CHECK(app.me().get(path_of(expected)).json() == expected);
  // From an individual to a business, and without destinations.
  const Json business = patch(app.me(), expected,
                              {{"individual", nullptr},
                               {"business", {{"companyName", "Kahawa Ltd"}}},
                               {"paymentDestinations", nullptr}})
                            .json();
  CHECK(business.at("type") == "business");
  CHECK(business.at("paymentDestinations") == Json::array());
  CHECK(patch(app.me(), expected, Json::object()).json().at("business") == business.at("business"));
}

TEST_CASE("the merged result of a patch must be a beneficiary") {
  TestApp app;
  const Json made = created(app.me(), amina());
  const auto row = [&](const char* name, const char* body, int status,
                       const std::vector<std::string>& fields) {
    return Scenario{name,
                    path_of(made),
                    body,
                    status,
                    status == 400 ? "malformed-request" : "validation-failed",
                    fields,
                    {},
                    "PATCH"};
  };
  run_scenarios(
      app.me(),
      {row("both", R"({"business":{"companyName":"K"}})", 422, {"individual", "business"}),
       row("neither", R"({"individual":null})", 422, {"individual", "business"}),
       row("a required member removed", R"({"individual":{"firstName":null}})", 400,
           {"individual.firstName"}),
       row("wrong shape", R"({"individual":{"phone":"1"}})", 400, {"individual.phone"}),
       row("wrong value", R"({"individual":{"nationality":"XX"}})", 422,
           {"individual.nationality"}),
       row("wrong type", R"({"individual":"x"})", 400, {"individual"}),
       row("no object", "[]", 400, {"body"}),
       row("a bad destination", R"({"paymentDestinations":[{}]})", 400,
           {"paymentDestinations[0].method", "paymentDestinations[0].countryIsoCode2",
            "paymentDestinations[0].currencyIsoCode3"})});
  CHECK(app.me().get(path_of(made)).json() == made);
}

TEST_CASE("a replacement is the full state: omitted members are removed") {
  TestApp app;
  Json body = amina();
  body["tags"] = {"a"};
  body["addresses"] = {{{"line1", "1"}, {"city", "C"}, {"countryIsoCode2", "KE"}}};
  body["paymentDestinations"] = {bank_destination(), mobile_destination()};
  const Json made = created(app.me(), body);
  app.clock.advance_ms(1'000);
  const Reply again = app.me().put(path_of(made), body);
  REQUIRE(again.status == 200);
  CHECK(again.json().at("id") == made.at("id"));
  CHECK(again.json().at("createdAt") == made.at("createdAt"));
  CHECK(again.json().at("updatedAt") == "2026-01-01T00:00:01.000Z");
  // Destinations are recreated with new IDs.
  for (const Json& old : made.at("paymentDestinations")) {
    CHECK(app.me()
              .get(path_of(made) + "/payment-destinations/" + old.at("id").get<std::string>())
              .status == 404);
  }
  const Json now_there = again.json();
  for (const Json& now : now_there.at("paymentDestinations")) {
    CHECK(app.me()
              .get(path_of(made) + "/payment-destinations/" + now.at("id").get<std::string>())
              .json() == now);
  }
  const Json bare = app.me().put(path_of(made), amina()).json();
  for (const char* list : {"addresses", "tags", "paymentDestinations"}) {
    CHECK(bare.at(list) == Json::array());
  }
  run_scenario(app.me(), {"neither",
                          path_of(made),
                          "{}",
                          422,
                          "validation-failed",
                          {"individual", "business"},
                          {},
                          "PUT"});
  CHECK(app.me().get(path_of(made)).json() == bare);
}

TEST_CASE("an archived beneficiary, and no other, is not found on every route") {
  TestApp app;
  Json body = amina();
  body["paymentDestinations"] = {bank_destination()};
  const Json made = created(app.me(), body);
  const Json other = created(app.me(), body);
  const std::string destination = path_of(made) + "/payment-destinations/" +
                                  made.at("paymentDestinations")[0].at("id").get<std::string>();
  const Reply gone = remove(app.me(), path_of(made));
  CHECK(gone.status == 204);
  CHECK(gone.body.empty());
  CHECK(app.me().get(path_of(made)).status == 404);
  CHECK(app.me().put(path_of(made), amina()).status == 404);
  CHECK(patch(app.me(), made, Json::object()).status == 404);
  CHECK(remove(app.me(), path_of(made)).status == 404);
  CHECK(app.me().get(path_of(made) + "/payment-destinations").status == 404);
  CHECK(app.me().post(path_of(made) + "/payment-destinations", bank_destination()).status == 404);
  CHECK(app.me().get(destination).status == 404);
  CHECK(remove(app.me(), destination).status == 404);
  CHECK(member_of_each(app.me().all(kBeneficiaries), "id") ==
        std::vector<std::string>{other.at("id")});
}

TEST_CASE("a malformed or unknown ID is not found") {
  TestApp app;
  const std::string unknown_id = app.random.uuid_v7(app.clock.now()).to_string();
  for (const std::string& id : {std::string("1"), std::string("not-a-uuid"), unknown_id}) {
    const Json named{{"id", id}};
    INFO(id);
    CHECK(app.me().get(path_of(named)).status == 404);
    CHECK(app.me().put(path_of(named), amina()).status == 404);
    CHECK(patch(app.me(), named, Json::object()).status == 404);
    CHECK(remove(app.me(), path_of(named)).status == 404);
  }
}

TEST_CASE("the list is newest first, in stable pages, with numbers masked") {
  TestApp app;
  const auto make = [&](const std::string& name) {
    Json body = amina();
    body["individual"]["firstName"] = name;
    body["paymentDestinations"] = {bank_destination(), mobile_destination()};
    return created(app.me(), body);
  };
  for (const char* name : {"A", "B", "C", "D", "E"}) make(name);
  const Json first = app.me().get(kBeneficiaries + "?limit=2").json();
  CHECK(names_of(first.at("data")) == std::vector<std::string>{"E", "D"});
  make("F");
  const std::string next = first.at("nextCursor");
  const Json second = app.me().get(kBeneficiaries + "?limit=2&cursor=" + next).json();
  CHECK(names_of(second.at("data")) == std::vector<std::string>{"C", "B"});
  const std::string back = second.at("prevCursor");
  CHECK(names_of(app.me().get(kBeneficiaries + "?limit=2&cursor=" + back).json().at("data")) ==
        std::vector<std::string>{"E", "D"});
  CHECK(names_of(app.me().all(kBeneficiaries + "?limit=4")) ==
        std::vector<std::string>{"F", "E", "D", "C", "B", "A"});
  const Json& shown = second.at("data")[0].at("paymentDestinations");
  CHECK(shown[0].at("bank").at("accountNumber") == "******6789");
  CHECK(shown[1].at("mobileMoney").at("phoneNumber") == "*********5678");
  // A cursor belongs to its filters and its list.
  for (const std::string& target : {kBeneficiaries + "?tag=x&", std::string("/v1/wallets?")}) {
    CHECK(app.me().get(target + "cursor=" + next).slug() == "invalid-cursor");
  }
  CHECK(app.me().get(kBeneficiaries + "?limit=0").fields() == std::vector<std::string>{"limit"});
}

TEST_CASE("filters of the list: a tag, and beginnings of words of name, e-mail and reference") {
  TestApp app;
  const auto make = [&](const char* first, const char* last, const char* mail,
                        const char* reference, const Json& tags) {
    created(app.me(), {{"individual", {{"firstName", first}, {"lastName", last}, {"email", mail}}},
                       {"clientReference", reference},
                       {"tags", tags}});
  };
  make("Amina", "Otieno", "amina@example.com", "REF-1", {"vip", "supplier"});
  make("J\xc3\xbcrgen", "M\xc3\x9cLLER", "jm@example.org", "REF-2", {"vip"});
  make("S\u0326tefan", "\u021aURCANU", "st@example.com", "REF-4", Json::array());
  make("\u0404\u0432\u0433\u0435\u043d", "\u0490\u0430\u043b\u0430\u0490\u0430\u043d",
       "eg@example.com", "REF-5", Json::array());
  make("100%", "_Real", "x@example.net", "a_b", Json::array());
  using List = std::vector<std::string>;
  const auto found = [&](const std::string& query) {
    return names_of(app.me().all(kBeneficiaries + query));
  };
  CHECK(found("?tag=vip") == List{"J\xc3\xbcrgen", "Amina"});
  CHECK(found("?tag=supplier") == List{"Amina"});
  CHECK(found("?tag=VIP") == List{});
  CHECK(found("?q=OTIEN") == List{"Amina"});
  CHECK(found("?q=tieno") == List{});
  CHECK(found("?q=" + escaped("oti ami")) == List{"Amina"});
  CHECK(found("?q=" + escaped("oti jm")) == List{});
  CHECK(found("?q=" + escaped("m\xc3\xbcller")) == List{"J\xc3\xbcrgen"});
  CHECK(found("?q=" + escaped("mu\u0308ller")) == List{"J\xc3\xbcrgen"});
  CHECK(found("?q=" + escaped("\u0218TEFAN \u021burcanu")) == List{"S\u0326tefan"});
  CHECK(found("?q=" + escaped("\u0454\u0432 \u0491\u0410")) ==
        List{"\u0404\u0432\u0433\u0435\u043d"});
  CHECK(found("?q=EXAMPLE.ORG") == List{"J\xc3\xbcrgen"});
  CHECK(found("?q=ref-").size() == 4);
  CHECK(found("?q=ref-&tag=vip") == List{"J\xc3\xbcrgen", "Amina"});
  CHECK(found("?q=ref-&tag=supplier") == List{"Amina"});
  CHECK(found("?q=example&tag=vip") == List{"J\xc3\xbcrgen", "Amina"});
  // Punctuation separates words and is not a pattern; a text without a word finds nothing.
  CHECK(found("?q=" + escaped("100%")) == List{"100%"});
  CHECK(found("?q=" + escaped("a_b")) == List{"100%"});
  CHECK(found("?q=" + escaped("%")) == List{});
  CHECK(found("?q=" + escaped("#vip")) == List{});
  CHECK(found("?q=" + escaped("'\"--")) == List{});
  CHECK(found("?q=").size() == 5);
}

TEST_CASE("a search reflects changes and archiving") {
  TestApp app;
  const auto found = [&](const std::string& query) {
    return app.me().all(kBeneficiaries + query).size();
  };
  Json body = amina();
  body["tags"] = {"vip", "supplier"};
  const std::string one = kBeneficiaries + "/" + std::string(created(app.me(), body).at("id"));
  CHECK((found("?q=amina") == 1 && found("?tag=vip") == 1));
  const Json change{{"individual", {{"firstName", "Wanjiku"}}}, {"tags", {"supplier"}}};
  REQUIRE(app.me().send({"PATCH", one, {}, change.dump()}).status == 200);
  CHECK((found("?q=amina") == 0 && found("?tag=vip") == 0));
  CHECK((found("?q=wanji") == 1 && found("?tag=supplier") == 1));
  REQUIRE(app.me().send({"DELETE", one, {}, {}}).status == 204);
  CHECK((found("?q=wanji") == 0 && found("?tag=supplier") == 0));
  // Archiving removes all words from the index.
  store::Connection db(app.config().db, store::OpenMode::read_only);
  store::Query terms(db, "SELECT count(*) FROM beneficiary_terms");
  REQUIRE(terms.step());
  CHECK(terms.integer(0) == 0);
}

TEST_CASE("beneficiaries are visible only to their tenant") {
  TestApp app;
  const Json mine = created(app.me(), amina());
  for (const Client& other : {app.stranger(), app.production()}) {
    CHECK(other.all(kBeneficiaries).empty());
    CHECK(other.get(path_of(mine)).status == 404);
    CHECK(patch(other, mine, Json::object()).status == 404);
    CHECK(remove(other, path_of(mine)).status == 404);
  }
  const Client sibling(app, app.register_application(app.association()));
  CHECK(sibling.get(path_of(mine)).json() == mine);
}

TEST_CASE("a change that cannot be stored changes nothing and returns a problem") {
  TestApp app;
  const Json made = created(app.me(), amina());
  const ArmedFault fault("queue.full:0=fail");
  const Reply rejected = app.me().put(path_of(made), amina());
  CHECK(rejected.status == 503);
  CHECK(rejected.slug() == "overloaded");
  const Reply bulk =
      app.me().post(kBeneficiaries + "/bulk", {{"beneficiaries", {amina(), {{"x", 1}}}}});
  REQUIRE(bulk.status == 200);
  CHECK(bulk.json().at("failed") == 2);
  CHECK(bulk.json().at("results")[0].at("problem").at("status") == 503);
  CHECK(bulk.json().at("results")[1].at("problem").at("status") == 422);
  CHECK(app.me().get(path_of(made)).json() == made);
}

}  // namespace beneficiaries_test
