// The wall between tenants, generated from the route table: whatever id of another tenant a request
// names, the answer is the one for an id that nobody has.
#include <catch2/catch.hpp>

#include "route_samples.h"

using namespace coffer;
using namespace coffer::test;

namespace {

bool is_guarded(const api::Route& route) {
  return api::is_guarded(route.access);
}

/// Everything of `names`' owner that another tenant could have changed.
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

/// Puts one foreign id after the other into a good request of `intruder`; the count of ids tried.
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

}  // namespace

TEST_CASE("another association's ids are not found, as if they did not exist") {
  World world;
  world.app.rate("USDC", "EURC", "0.9");
  const Client intruder = world.app.stranger();
  const Names own = belongings_of(world.app, intruder);
  const std::string before = state_of(world.app.me(), world.theirs);
  int tried = 0;
  for (const api::Route& route : api::routes()) {
    if (is_guarded(route)) tried += intrude(world, intruder, own, route);
  }
  CHECK(tried > 10);  // the generator itself still finds something
  CHECK(state_of(world.app.me(), world.theirs) == before);
}

TEST_CASE("the same association's ids of the other environment are not found either") {
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

TEST_CASE("filters by another tenant's ids find what unknown ids find") {
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
  // sample_of() throws for a parameter that nobody has classified.
  for (const api::Route& route : api::routes()) {
    INFO(route.operation);
    CHECK_NOTHROW(sample_of(route));
  }
}
