// Isolation of tenants, generated from the route table: for any ID of another tenant in a request,
// the response is the same as for an ID that does not exist.
#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>
#include <set>

#include "api/about/openapi.h"
#include "route_samples.h"

using namespace coffer;
using namespace coffer::test;

namespace cross_tenant_test {
namespace {

bool is_guarded(const api::Route& route) { return api::is_guarded(route.access); }

/// All data of the owner of `names` that another tenant could have changed.
std::string state_of(const Client& owner, const Names& names) {
  std::string text;
  for (const char* path : {"/v1/wallets?limit=100", "/v1/transactions?limit=100",
                           "/v1/business/association/all", "/v1/beneficiaries?limit=100"}) {
    text += owner.get(path).body;
  }
  return text + owner.get("/v1/wallets/" + names.at("pending")).body;
}

struct World {
  TestApp app;
  Names theirs = belongings_of(app, app.me());
  Names nobodys = nobodys_belongings(app);
};

/// Puts each foreign ID into a valid request of `intruder`. Returns the number of IDs tried.
int intrude(World& world, const Client& intruder, const Names& own, const api::Route& route) {
  const Sample sample = sample_of(route);
  int tried = 0;
  for (const std::string& name : owned_names()) {
    if (!sample.refers_to(name)) continue;
    ++tried;
    Names foreign = own, absent = own;
    foreign[name] = world.theirs.at(name);
    absent[name] = world.nobodys.at(name);
    const Reply reply = intruder.send(sample.call(foreign));
    INFO(route.operation << " with a foreign " << name << ": " << reply.text());
    CHECK(reply.status == 404);
    CHECK(without_identity(reply) == without_identity(intruder.send(sample.call(absent))));
  }
  return tried;
}

Names with_all(Names own, const Names& others) {
  for (const std::string& name : owned_names()) own[name] = others.at(name);
  return own;
}

/// Members of a request that contain an ID, by the document, including those that the sample omits.
/// The caller's own texts (`transactionId`) and its own name are not IDs.
std::vector<std::string> id_members(const Json& schema) {
  static const std::set<std::string> kOwnWords = {"transactionId", "clientId", "customerId",
                                                  "providerPaymentId", "taxId"};
  std::vector<std::string> out;
  const Json members = schema.value("properties", Json::object());
  for (const auto& [name, member] : members.items()) {
    const bool is_id = name.size() > 2 && name.ends_with("Id");
    if ((is_id && !kOwnWords.contains(name)) || name == "settlementAccount") out.push_back(name);
  }
  return out;
}

/// The request with `member` set to `value`, in the body or in its first leg.
HttpCall with_member(HttpCall call, const std::string& member, const std::string& value,
                     bool in_leg) {
  Json body = Json::parse(call.body);
  (in_leg ? body["transfers"][0] : body)[member] = value;
  call.body = body.dump();
  return call;
}

/// Tries every member of the body that contains an ID with every ID of the other tenant. Returns
/// the number of calls.
int intrude_by_members(World& world, const Client& intruder, const Names& own,
                       const api::Route& route, const Json& schemas) {
  int tried = 0;
  const Json& schema = schemas.at(std::string(route.request_schema));
  const bool has_legs = schema.value("properties", Json::object()).contains("transfers");
  const Json& members_of = has_legs ? schemas.at("Transfer") : schema;
  for (const std::string& member : id_members(members_of)) {
    for (const std::string& name : owned_names()) {
      if (Uuid::parse(world.theirs.at(name)).has_value() != (member != "settlementAccount"))
        continue;
      ++tried;
      const HttpCall call = sample_of(route).call(own);
      const Reply foreign =
          intruder.send(with_member(call, member, world.theirs.at(name), has_legs));
      const Reply absent =
          intruder.send(with_member(call, member, world.nobodys.at(name), has_legs));
      INFO(route.operation << " " << member << " = a foreign " << name << ": " << foreign.text());
      CHECK(foreign.status >= 400);
      CHECK(without_identity(foreign) == without_identity(absent));
    }
  }
  return tried;
}

}  // namespace

TEST_CASE("another association's IDs are not found, like unknown ones") {
  World world;
  world.app.rate("USDC", "EURC", "0.9");
  const Client intruder = world.app.stranger();
  const Names own = belongings_of(world.app, intruder);
  const std::string before = state_of(world.app.me(), world.theirs);
  int tried = 0;
  for (const api::Route& route : api::routes()) {
    if (is_guarded(route)) tried += intrude(world, intruder, own, route);
  }
  CHECK(tried > 10);  // control: the generator finds IDs
  CHECK(state_of(world.app.me(), world.theirs) == before);
}

TEST_CASE("IDs of the same association's other environment are not found either") {
  World world;
  const Client intruder = world.app.production();
  Names own = world.nobodys;
  for (const char* name : {"wallet", "second"}) {
    own[name] = intruder.wallet("USDC");
    intruder.trustline(own[name], "EURC");
    world.app.issue(own[name], "USDC", "10");
  }
  own["association"] = world.app.association().to_string();
  add_beneficiary(intruder, own);
  const std::string before = state_of(world.app.me(), world.theirs);
  int tried = 0;
  for (const api::Route& route : api::routes()) {
    // The association itself is the same in both environments.
    if (!is_guarded(route) || sample_of(route).refers_to("association")) continue;
    tried += intrude(world, intruder, own, route);
  }
  CHECK(tried > 10);
  CHECK(state_of(world.app.me(), world.theirs) == before);
}

TEST_CASE("filters by another tenant's IDs find the same as unknown IDs") {
  World world;
  const Client intruder = world.app.stranger();
  const Names own = belongings_of(world.app, intruder);
  for (const api::Route& route : api::routes()) {
    if (!is_guarded(route)) continue;
    const Sample sample = sample_of(route);
    for (const api::QueryParam& param : route.query) {
      if (param.schema != "Id" && param.name != "transactionId" && param.name != "reference") {
        continue;
      }
      if (sample.target.find(std::string(param.name) + "=") != std::string::npos) continue;
      for (const auto& [name, value] : world.theirs) {
        if (!Uuid::parse(value)) continue;
        INFO(route.operation << " " << param.name << " " << name);
        HttpCall foreign = sample.call(own), absent = foreign;
        foreign.target = with_query(foreign.target, std::string(param.name) + "=" + value);
        absent.target =
            with_query(absent.target, std::string(param.name) + "=" + world.nobodys.at("wallet"));
        CHECK(without_identity(intruder.send(foreign)) == without_identity(intruder.send(absent)));
      }
    }
  }
}

TEST_CASE("every path parameter is known to the generator") {
  // sample_of() throws for an unclassified parameter.
  for (const api::Route& route : api::routes()) {
    INFO(route.operation);
    CHECK_NOTHROW(sample_of(route));
  }
}

TEST_CASE("all objects in the samples are known, with their owner") {
  // A new kind of object that belongs to a tenant must be in owned_names(), so that this test tries
  // to access another tenant's.
  const std::set<std::string> everybodys = {
      "new",      "connector",    "payouts",   "collections",  "bespoke",      "provider",
      "purpose",  "funds",        "customer",  "relationship", "triggered",    "arrival",
      "clientId", "clientSecret", "challenge", "publicKey",    "signInSecret", "refreshToken",
      "username", "password",     "otp"};
  const std::set<std::string> owned(owned_names().begin(), owned_names().end());
  const std::regex kName("\\$([A-Za-z]+)");
  for (const api::Route& route : api::routes()) {
    const Sample sample = sample_of(route);
    const std::string text = sample.target + sample.body;
    for (std::sregex_iterator it(text.begin(), text.end(), kName), end; it != end; ++it) {
      INFO(route.operation << " refers to $" << (*it)[1]);
      CHECK(owned.contains((*it)[1]) + everybodys.contains((*it)[1]) == 1);
    }
  }
}

TEST_CASE("a path with another tenant's IDs only is not found, with any method") {
  World world;
  const Client intruder = world.app.stranger();
  const Names own = belongings_of(world.app, intruder);
  const std::string before = state_of(world.app.me(), world.theirs);
  const Names foreign = with_all(own, world.theirs), absent = with_all(own, world.nobodys);
  for (const api::Route& route : api::routes()) {
    if (!is_guarded(route)) continue;
    const Sample sample = sample_of(route);
    const bool names_something =
        std::any_of(owned_names().begin(), owned_names().end(), [&](const std::string& name) {
          return sample.target.find("$" + name) != std::string::npos;
        });
    if (!names_something) continue;
    for (const char* method : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
      HttpCall theirs = sample.call(foreign), nobodys = sample.call(absent);
      theirs.method = nobodys.method = method;
      const Client client = intruder.with("X-Request-Id", "same");
      const Reply reply = client.send(theirs), other = client.send(nobodys);
      INFO(method << " " << theirs.target << ": " << reply.text());
      if (method == route.method) CHECK(reply.status == 404);
      CHECK(without_identity(reply) == without_identity(other));
      if (method == std::string_view("HEAD")) CHECK(reply.headers == other.headers);
    }
  }
  CHECK(state_of(world.app.me(), world.theirs) == before);
}

TEST_CASE("another tenant's IDs in any member of a body are like unknown IDs") {
  World world;
  world.app.rate("USDC", "EURC", "0.9");
  const Client intruder = world.app.stranger();
  const Names own = belongings_of(world.app, intruder);
  const Json schemas = Json::parse(api::openapi_document()).at("components").at("schemas");
  const std::string before = state_of(world.app.me(), world.theirs);
  int tried = 0;
  for (const api::Route& route : api::routes()) {
    if (!is_guarded(route) || route.request_schema.empty()) continue;
    tried += intrude_by_members(world, intruder, own, route, schemas);
  }
  CHECK(tried > 100);
  CHECK(state_of(world.app.me(), world.theirs) == before);
}

TEST_CASE("control: the owner finds each object that other tenants do not find") {
  World world;
  int found = 0;
  for (const api::Route& route : api::routes()) {
    if (!is_guarded(route) || route.method != "GET") continue;
    const Sample sample = sample_of(route);
    for (const std::string& name : owned_names()) {
      if (!sample.refers_to(name)) continue;
      Names absent = world.theirs;
      absent[name] = world.nobodys.at(name);
      const Client owner = world.app.me();
      const Reply reply = owner.send(sample.call(world.theirs));
      INFO(route.operation << " with its own " << name << ": " << reply.text());
      CHECK(reply.status == route.responses.front().status);
      CHECK(without_identity(reply) != without_identity(owner.send(sample.call(absent))));
      ++found;
    }
  }
  CHECK(found > 10);
}

}  // namespace cross_tenant_test
