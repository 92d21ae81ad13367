// Media types of each route, generated from the route table: PATCH also accepts a merge patch (RFC
// 7396) with its own type.
#include <catch2/catch.hpp>

#include "api/about/openapi.h"
#include "route_samples.h"

using namespace coffer;
using namespace coffer::test;

namespace {

const std::string kMergePatch = "application/merge-patch+json";

}  // namespace

TEST_CASE(
    "PATCH takes application/merge-patch+json, no other method does, and the document says so") {
  TestApp app;
  const Names mine = belongings_of(app, app.me());
  const Json paths = Json::parse(api::openapi_document()).at("paths");
  int patches = 0;
  for (const api::Route& route : api::routes()) {
    if (route.body == api::Body::none) continue;
    HttpCall call = sample_of(route).call(mine);
    call.headers = {{"Content-Type", kMergePatch}};
    const Reply reply = app.me().send(call);
    INFO(route.operation << " " << reply.text());
    const bool patch = route.method == "PATCH";
    CHECK(reply.status == (patch ? 200 : 415));
    const bool form = route.body == api::Body::form;
    const std::string first = form ? "application/x-www-form-urlencoded" : "application/json";
    if (!patch) CHECK_THAT(reply.body, Catch::Matchers::Contains(first));
    std::string method(route.method);
    for (char& c : method) c = static_cast<char>(c + 32);
    const Json& content =
        paths.at(std::string(route.pattern)).at(method).at("requestBody").at("content");
    CHECK(content.contains(first));
    CHECK(content.size() == (patch || route.body == api::Body::json_or_form ? 2 : 1));
    CHECK(content.contains(kMergePatch) == patch);
    patches += patch ? 1 : 0;
  }
  CHECK(patches == 3);
}

TEST_CASE("a merge patch removes with null and names its type with parameters and in any case") {
  TestApp app;
  const Json made =
      app.me()
          .post(
              "/v1/beneficiaries",
              {{"individual", {{"firstName", "A"}, {"lastName", "B"}, {"phone", "+254712345678"}}}})
          .json();
  const std::string path = "/v1/beneficiaries/" + made.at("id").get<std::string>();
  for (const char* type :
       {"application/merge-patch+json; charset=utf-8", "Application/Merge-Patch+JSON"}) {
    const Reply reply = app.me().send(
        {"PATCH", path, {{"Content-Type", type}}, R"({"individual":{"phone":null}})"});
    INFO(reply.text());
    CHECK(reply.status == 200);
    CHECK_FALSE(reply.json().at("individual").contains("phone"));
  }
  const Reply wrong =
      app.me().send({"PATCH", path, {{"Content-Type", "application/json-patch+json"}}, "[]"});
  CHECK(wrong.status == 415);
  CHECK_THAT(wrong.json().at("detail").get<std::string>(),
             Catch::Matchers::Contains("application/json or application/merge-patch+json"));
}
