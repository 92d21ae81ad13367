// Rules for the OpenAPI document as a whole. tests/interop/openapi.py checks exchanges against it,
// and tests/interop/openapi_clients.mjs that generated clients compile and pay.
#include "api/about/openapi.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "api/pipeline/routes.h"
#include "domain/payments/compliance.h"
#include "domain/webhooks/event_type.h"

using namespace coffer;

namespace openapi_test {
using Json = nlohmann::ordered_json;

namespace {

const Json& document() {
  static const Json instance = Json::parse(api::openapi_document());
  return instance;
}

const Json& schema(const std::string& name) {
  return document().at("components").at("schemas").at(name);
}

struct Operation {
  std::string id;
  Json content;
};

std::vector<Operation> operations() {
  std::vector<Operation> out;
  for (const auto& [path, methods] : document().at("paths").items()) {
    for (const auto& [method, operation] : methods.items()) {
      out.push_back({operation.at("operationId"), operation});
    }
  }
  return out;
}

Json operation(const std::string& id) {
  for (const Operation& each : operations()) {
    if (each.id == id) return each.content;
  }
  FAIL("there is no operation " << id);
  return {};
}

const Json& resolved(const Json& part) {
  if (!part.contains("$ref")) return part;
  return document().at(Json::json_pointer(part.at("$ref").get<std::string>().substr(1)));
}

/// Slugs of an operation, from the examples of its problem responses.
std::set<std::string> problems(const std::string& id) {
  std::set<std::string> out;
  const Json found = operation(id);
  for (const auto& [status, response] : found.at("responses").items()) {
    if (std::stoi(status) < 400 || status == "402") continue;
    for (const auto& [type, content] : resolved(response).at("content").items()) {
      for (const auto& [slug, example] : content.at("examples").items()) out.insert(slug);
    }
  }
  return out;
}

void check_described(const std::string& where, const Json& part) {
  const Json properties = part.value("properties", Json::object());
  for (const auto& [name, member] : properties.items()) {
    INFO(where << "." << name);
    CHECK_FALSE(member.value("description", "").empty());
    check_described(where + "." + name, member);
    if (member.contains("items")) check_described(where + "." + name, member.at("items"));
  }
}

Json codes(std::span<const Term> terms) {
  Json out = Json::array();
  for (const Term& term : terms) out.push_back(term.code);
  return out;
}

}  // namespace

TEST_CASE("openapi: every schema and every property is described") {
  for (const auto& [name, each] : document().at("components").at("schemas").items()) {
    INFO(name);
    CHECK_FALSE(each.value("description", "").empty());
    check_described(name, each);
  }
}

TEST_CASE("openapi: each operation has one success shape, with an example") {
  for (const Operation& each : operations()) {
    INFO(each.id);
    std::set<std::string> shapes;
    for (const auto& [status, response] : each.content.at("responses").items()) {
      if (std::stoi(status) >= 400 && status != "402") continue;
      const Json contents = response.value("content", Json::object());
      for (const auto& [type, content] : contents.items()) {
        shapes.insert(type + " " + content.at("schema").dump());
        CHECK(content.contains("example"));
      }
    }
    CHECK(shapes.size() <= 1);
  }
}

TEST_CASE("openapi: an operation lists exactly the problems that it can return") {
  CHECK(problems("executeOfframp").contains("quote-expired"));
  CHECK(problems("executeOfframp").contains("insufficient-funds"));
  CHECK_FALSE(problems("executeOfframp").contains("invalid-cursor"));
  CHECK_FALSE(problems("executeOfframp").contains("webhook-event-type-taken"));
  CHECK_FALSE(problems("transferBetweenOwnWallets").contains("quote-expired"));
  CHECK(problems("listWallets").contains("invalid-cursor"));
  CHECK_FALSE(problems("getWallet").contains("invalid-cursor"));
  CHECK_FALSE(problems("createToken").contains("not-found"));
  for (const api::Route& route : api::routes()) {
    if (!route.pattern.starts_with("/v1/")) continue;
    INFO(route.operation);
    std::set<std::string> expected;
    for (const Slug slug : api::problems_of(route)) expected.emplace(info(slug).name);
    CHECK(problems(std::string(route.operation)) == expected);
  }
}

TEST_CASE("openapi: vocabularies equal the server's tables") {
  CHECK(schema("PurposeOfPayment").at("enum") == codes(purpose_of_payment_terms()));
  CHECK(schema("SourceOfFunds").at("enum") == codes(source_of_funds_terms()));
  CHECK(schema("Relationship").at("enum") == codes(relationship_terms()));
  CHECK(schema("TransactionStatus").at("enum") == codes(terms<PaymentStatus>()));
  CHECK(schema("TransactionType").at("enum") == codes(terms<PaymentType>()));
  CHECK(schema("EventType").at("enum") == codes(event_type_terms()));
  const Json& offramp = schema("Offramp").at("properties");
  for (const char* name : {"purposeOfPayment", "sourceOfFunds", "relationship"}) {
    CHECK(resolved(offramp.at(name)).contains("enum"));
  }
}

TEST_CASE("openapi: every type of event is a webhook with its own body") {
  const Json& webhooks = document().at("webhooks");
  CHECK(webhooks.size() == event_type_terms().size() + 1);  // and the test event
  for (const auto& [type, each] : webhooks.items()) {
    INFO(type);
    const Json& content = each.at("post").at("requestBody").at("content").at("application/json");
    const Json& parts = content.at("schema").at("allOf");
    CHECK(parts.at(1).at("properties").at("type").at("const") == type);
    const Json& types = resolved(parts.at(0)).at("properties").at("type");
    const Json allowed =
        types.contains("const") ? Json::array({types.at("const")}) : types.at("enum");
    CHECK(std::find(allowed.begin(), allowed.end(), type) != allowed.end());
    CHECK(content.at("example").at("type") == type);
    CHECK(each.at("post").at("parameters").size() == 6);
  }
}

TEST_CASE("openapi: a POST whose body has no required member can be sent without one") {
  int bodiless = 0;
  for (const api::Route& route : api::routes()) {
    if (route.method != "POST" || route.body == api::Body::none) continue;
    const Json own = operation(std::string(route.operation));
    const Json& body = own.at("requestBody");
    // A form or JSON, with the same members.
    const Json& content = body.at("content");
    REQUIRE_FALSE(content.empty());
    bool needs_one = false;
    for (const auto& [type, media] : content.items()) {
      INFO(route.operation << " " << type);
      const Json shape = resolved(media.at("schema"));
      needs_one = shape.contains("oneOf") || shape.contains("anyOf") ||
                  shape.value("minProperties", 0) > 0 ||
                  !shape.value("required", Json::array()).empty();
      CHECK(body.at("required") == needs_one);
    }
    bodiless += needs_one ? 0 : 1;
  }
  CHECK(bodiless >= 2);
}

TEST_CASE("openapi: every operation has one way and one kind of success") {
  for (const api::Route& route : api::routes()) {
    if (!route.pattern.starts_with("/v1/")) continue;
    const Json own = operation(std::string(route.operation));
    INFO(route.operation);
    CHECK_FALSE(own.contains("x-variants"));
    std::set<std::string> declared, documented;
    for (const api::QueryParam& parameter : route.query) declared.emplace(parameter.name);
    for (const Json& parameter : own.value("parameters", Json::array())) {
      if (parameter.at("in") == "query") documented.insert(parameter.at("name"));
    }
    CHECK(declared == documented);
  }
}

TEST_CASE("openapi: the example of a cursor is the first page, so that imported requests work") {
  const Json cursor = document().at("components").at("schemas").at("Cursor");
  CHECK(cursor.at("examples") == Json::array({""}));
}

}  // namespace openapi_test
