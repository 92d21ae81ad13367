// Produces every status that every route declares, generated from the route table. exchange_log.h
// checks in all tests that no route returns any other status.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "api/pipeline/pipeline.h"
#include "api/pipeline/problem_format.h"
#include "response_producer.h"

using namespace coffer;
using namespace coffer::test;

namespace {

/// Checks that apply to every response with this status, on any route.
void check_shape(const api::Route& route, const Reply& reply) {
  if (reply.status < 400 || !reply.header("X-Success-Convention").empty()) return;
  if (!route.pattern.starts_with("/v1/") && reply.status == 503) return;  // the health status
  if (route.envelope) {
    CHECK(reply.header("Content-Type") == "application/json");
    CHECK(reply.json().at("success") == false);
  } else {
    CHECK(reply.header("Content-Type") == "application/problem+json");
    CHECK(reply.json().at("status") == reply.status);
    const SlugInfo* slug = find_slug(reply.slug());
    REQUIRE(slug != nullptr);
    CHECK(slug->status == reply.status);
  }
  if (reply.status == 401) {
    // The secret in a form has no scheme of HTTP (oauth: token_test.cpp).
    const bool form = route.body == api::Body::form;
    CHECK(reply.header("WWW-Authenticate").empty() == form);
  }
  if (reply.slug() == "insufficient-scope" || reply.body.find("INSUFFICIENT_SCOPE") == 29) {
    CHECK_THAT(reply.header("WWW-Authenticate"),
               Catch::Matchers::Contains("error=\"insufficient_scope\""));
  }
  if (reply.status == 429 || reply.status == 503) {
    CHECK(std::stoi("0" + reply.header("Retry-After")) > 0);
  }
}

}  // namespace

TEST_CASE("every status that a route declares can be produced") {
  ResponseProducer producer;
  for (const api::Route& route : api::routes()) {
    for (const api::DeclaredResponse& answer : api::responses_of(route)) {
      INFO(route.operation << " should respond with " << answer.status);
      const Reply reply = producer.produce(route, answer.status);
      INFO(reply.text().substr(0, 2000));
      CHECK(reply.status == answer.status);
      check_shape(route, reply);
    }
  }
}

TEST_CASE("every problem of a standard's route is application/json to a client that asks for it") {
  ResponseProducer producer;
  int routes = 0;
  for (const api::Route& route : api::routes()) {
    const api::ProblemFormat format = api::problem_format(route.pattern);
    if (format != api::ProblemFormat::oauth && format != api::ProblemFormat::sep10) continue;
    ++routes;
    for (const api::DeclaredResponse& answer : api::responses_of(route)) {
      if (answer.status < 400) continue;
      INFO(route.operation << " should respond with " << answer.status);
      const Reply reply = producer.produce(route, answer.status, "application/json");
      INFO(reply.text().substr(0, 2000));
      CHECK(reply.status == answer.status);
      CHECK(reply.header("Content-Type") == "application/json");
      CHECK(reply.json().contains("error"));
    }
  }
  CHECK(routes == 3);
}

TEST_CASE("a follower rejects a request in the format of its route, and names the leader") {
  ResponseProducer producer;
  for (const api::Route& route : api::routes()) {
    if (!route.pattern.starts_with("/v1/")) continue;
    const Reply reply = producer.rejected(route, not_leader("10.0.0.2:8080"));
    INFO(route.operation << " " << reply.text().substr(0, 500));
    CHECK(reply.status == 503);
    check_shape(route, reply);
    if (!route.envelope) CHECK(reply.json().at("leader") == "10.0.0.2:8080");
  }
}

TEST_CASE("a full disk stops exactly the routes that declare it") {
  ResponseProducer producer;
  for (const api::Route& route : api::routes()) {
    if (!route.pattern.starts_with("/v1/") || route.method == "GET") continue;
    const auto slugs = api::problems_of(route);
    const bool declared = std::find(slugs.begin(), slugs.end(), Slug::storage_full) != slugs.end();
    const Reply reply = producer.full_disk(route);
    INFO(route.operation << " " << reply.text().substr(0, 500));
    const std::string slug = route.envelope && reply.body.find("STORAGE_FULL") != std::string::npos
                                 ? "storage-full"
                                 : reply.slug();
    CHECK((slug == "storage-full") == declared);
  }
}

TEST_CASE("the route table is complete and without repetitions") {
  std::set<std::string_view> operations;
  for (const api::Route& route : api::routes()) {
    INFO(route.operation);
    CHECK(operations.insert(route.operation).second);
    CHECK_FALSE(route.summary.empty());
    CHECK_FALSE(route.tag.empty());
    CHECK(route.handler != nullptr);
    CHECK((api::is_guarded(route.access) == route.scope.has_value()));
    CHECK((route.body == api::Body::none) == route.request_schema.empty());
    CHECK(route.envelope == route.pattern.starts_with("/v1/business/"));
    CHECK(route.envelope == (route.access == api::Access::business));
    CHECK((route.access == api::Access::connect) == route.pattern.starts_with("/v1/connect-"));
    if (route.pattern.starts_with("/v1/payments/")) {
      CHECK(route.moves_money == (route.method == "POST"));
    }
    for (const api::DeclaredResponse& answer : route.responses) {
      // Problems are declared by slug. 402 is a convention of the directional quote.
      INFO(answer.status);
      if (route.pattern.starts_with("/v1/")) CHECK((answer.status < 400 || answer.status == 402));
    }
    for (const api::DeclaredResponse& answer : api::responses_of(route)) {
      INFO(answer.status);
      if (route.pattern.starts_with("/v1/")) {
        const bool shows = (answer.status < 300 && answer.status != 204) || answer.status == 402;
        CHECK(shows == !answer.schema.empty());
      }
    }
  }
}
