// POST /v1/beneficiaries/bulk: each row has its own result.
#include <catch2/catch.hpp>

#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace {

const std::string kBulk = "/v1/beneficiaries/bulk";

Json row(const std::string& first_name) {
  return {{"individual", {{"firstName", first_name}, {"lastName", "Otieno"}}}};
}

}  // namespace

TEST_CASE("bulk: valid rows are created, invalid ones have a problem, in order") {
  TestApp app;
  Json good = row("Amina");
  good["paymentDestinations"] = {
      {{"method", "MOMO"},
       {"countryIsoCode2", "KE"},
       {"currencyIsoCode3", "KES"},
       {"mobileMoney", {{"provider", "M-Pesa"}, {"phoneNumber", "+254712345678"}}}}};
  Json bad_destination = good;
  bad_destination["paymentDestinations"][0]["mobileMoney"]["phoneNumber"] = "1";
  const Json rows = {good, Json::object(), 5, row("Baraka"), bad_destination, {{"individual", 1}}};
  const Reply reply =
      app.me().with("X-Request-Id", "bulk-1").post(kBulk, {{"beneficiaries", rows}});
  REQUIRE(reply.status == 200);
  const Json body = reply.json();
  CHECK(body.at("created") == 2);
  CHECK(body.at("failed") == 4);
  const Json& results = body.at("results");
  REQUIRE(results.size() == 6);
  for (std::size_t i = 0; i < results.size(); ++i) {
    CHECK(results[i].at("index") == i);
    const bool created = i == 0 || i == 3;
    CHECK(results[i].at("status") == (created ? "created" : "failed"));
    CHECK(results[i].contains("beneficiaryId") == created);
    CHECK(results[i].contains("problem") != created);
  }
  const Json& problem = results[1].at("problem");
  CHECK(problem.at("type") == "urn:coffer:problem:validation-failed");
  CHECK(problem.at("code") == "validation_failed");
  CHECK(problem.at("status") == 422);
  CHECK(problem.at("requestId") == "bulk-1");
  CHECK(member_of_each(problem.at("errors"), "field") ==
        std::vector<std::string>{"individual", "business"});
  CHECK(results[2].at("problem").at("status") == 400);
  CHECK(results[4].at("problem").at("errors")[0].at("field") ==
        "paymentDestinations[0].mobileMoney.phoneNumber");
  CHECK(results[5].at("problem").at("errors")[0].at("field") == "individual");
  const auto stored = app.me().all("/v1/beneficiaries");
  CHECK(member_of_each(stored, "id") ==
        std::vector<std::string>{results[3].at("beneficiaryId"), results[0].at("beneficiaryId")});
  CHECK(stored[1].at("paymentDestinations").size() == 1);
}

TEST_CASE("bulk: 500 rows in a body beyond 64 KiB, over the wire") {
  TestApp app;
  app.listen();
  Json rows = Json::array();
  for (int i = 0; i < 500; ++i) {
    Json item =
        i % 100 == 99 ? Json{{"business", {{"companyName", ""}}}} : row("Row " + std::to_string(i));
    item["clientReference"] = std::string(150, 'r') + std::to_string(i);
    rows.push_back(std::move(item));
  }
  const Json body{{"beneficiaries", std::move(rows)}};
  CHECK(body.dump().size() > 64 * 1024);
  const Reply reply = app.me().over_wire().post(kBulk, body);
  REQUIRE(reply.status == 200);
  CHECK(reply.json().at("created") == 495);
  CHECK(reply.json().at("failed") == 5);
  const auto stored = app.me().all("/v1/beneficiaries?limit=100");
  REQUIRE(stored.size() == 495);
  // Created in the order of the request: the last row is the newest.
  CHECK(stored.front().at("individual").at("firstName") == "Row 498");
  CHECK(stored.back().at("individual").at("firstName") == "Row 0");
  CHECK(
      app.me().over_wire().post("/gw" + kBulk, {{"beneficiaries", {row("Second mount")}}}).status ==
      200);
}

TEST_CASE("bulk: 1 to 500 rows") {
  TestApp app;
  run_scenarios(
      app.me(),
      {{"none", kBulk, R"({"beneficiaries":[]})", 400, "malformed-request", {"beneficiaries"}},
       {"missing", kBulk, "{}", 400, "malformed-request", {"beneficiaries"}},
       {"no array", kBulk, R"({"beneficiaries":{}})", 400, "malformed-request", {"beneficiaries"}},
       {"no object", kBulk, "[]", 400, "malformed-request", {"body"}}});
  Json rows = Json::array();
  for (int i = 0; i < 501; ++i) rows.push_back(row("x"));
  CHECK(app.me().post(kBulk, {{"beneficiaries", rows}}).fields() ==
        std::vector<std::string>{"beneficiaries"});
  CHECK(app.me().all("/v1/beneficiaries").empty());
}
