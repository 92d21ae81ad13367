// Rules for all routes, generated from the route table: prefixes, methods, scopes, request IDs.
#include <catch2/catch.hpp>

#include "route_samples.h"

using namespace coffer;
using namespace coffer::test;

namespace {

bool is_guarded(const api::Route& route) { return api::is_guarded(route.access); }

/// Names of all scopes but one.
std::string all_scopes_but(Scope left_out) {
  std::string text;
  for (std::size_t i = 0; i < kScopeCount; ++i) {
    if (static_cast<Scope>(i) == left_out) continue;
    text += (text.empty() ? "" : " ") + std::string(name(static_cast<Scope>(i)));
  }
  return text;
}

/// The parts of a response that must be equal under both prefixes.
std::string comparable(const Reply& reply) {
  std::string text = reply.header("Content-Type") == "application/problem+json"
                         ? without_identity(reply)
                         : reply.text();
  for (const auto& [name, value] : reply.headers) {
    if (name != "Link") text += "\n" + name + ": " + value;
  }
  return text;
}

}  // namespace

TEST_CASE("both prefixes give the same responses") {
  TestApp app;
  const Names mine = belongings_of(app, app.me());
  const Names nobodys = nobodys_belongings(app);
  for (const api::Route& route : api::routes()) {
    if (!route.pattern.starts_with("/v1/")) continue;
    INFO(route.operation);
    // Requests that would change something have no valid target, so that the second call meets the
    // same state.
    const bool reads = route.method == "GET";
    HttpCall call = sample_of(route).call(reads ? mine : nobodys);
    if (!reads) call.body = "{";
    HttpCall second = call;
    second.target = "/gw" + call.target;
    for (const Client& client : {app.me(), app.anonymous()}) {
      const Client same_id = client.with("X-Request-Id", "same");
      const Reply first = same_id.send(call), other = same_id.send(second);
      CHECK(first.status == other.status);
      // Every challenge and every ISO 20022 message differs.
      const bool unique =
          route.operation == "getChallenge" || route.operation == "getStatementCamt053";
      if (!unique) CHECK(comparable(first) == comparable(other));
    }
  }
}

TEST_CASE("successes under both prefixes are equal") {
  TestApp app;
  app.rate("USDC", "EURC", "0.9");
  const Names mine = belongings_of(app, app.me());
  for (const api::Route& route : api::routes()) {
    if (!route.pattern.starts_with("/v1/")) continue;
    if (route.operation == "takeProviderCallback") continue;  // signed: provider_callbacks_test.cpp
    INFO(route.operation);
    Names names = mine;
    names["pending"] = app.me().third_party_wallet("USDC");
    add_beneficiary(app.me(), names);
    add_quote(app.me(), names);
    add_webhook(app.me(), names, sample_of(route));
    add_fresh_payment_samples(app, app.me(), names, sample_of(route));
    HttpCall call = sample_of(route).call(names);
    call.target = "/gw" + call.target;
    const Reply reply = app.me().send(call);
    INFO(reply.text());
    CHECK(reply.status == route.responses.front().status);
  }
}

TEST_CASE("a route requires exactly its scope") {
  TestApp app;
  app.rate("USDC", "EURC", "0.9");
  const Names mine = belongings_of(app, app.me());
  for (const api::Route& route : api::routes()) {
    if (!is_guarded(route)) continue;
    INFO(route.operation);
    const std::string scope(name(*route.scope));
    Names names = mine;
    names["pending"] = app.me().third_party_wallet("USDC");
    add_beneficiary(app.me(), names);
    add_quote(app.me(), names);
    add_webhook(app.me(), names, sample_of(route));
    add_fresh_payment_samples(app, app.me(), names, sample_of(route));
    const Reply without =
        app.me().scoped(all_scopes_but(*route.scope)).send(sample_of(route).call(names));
    CHECK(without.status == 403);
    CHECK_THAT(without.body, Catch::Matchers::Contains("`" + scope + "`"));
    CHECK(without.header("WWW-Authenticate") ==
          R"(Bearer realm="coffer", error="insufficient_scope", scope=")" + scope + '"');
    const Reply with = app.me().scoped(scope).send(sample_of(route).call(names));
    INFO(with.text());
    CHECK(with.status == route.responses.front().status);
  }
}

TEST_CASE("networks and certificates of an application apply to every route that it uses") {
  TestApp app;
  const Names mine = belongings_of(app, app.me());
  const ApplicationId id = app.me().credentials().application;
  const auto check_all = [&](const char* what) {
    for (const api::Route& route : api::routes()) {
      // A user's password belongs to no application. Their token is checked with x-svc-auth.
      if (route.access == api::Access::open || route.operation == "verifyOtp") continue;
      const bool guarded = is_guarded(route);
      const Reply reply = (guarded ? app.me() : app.anonymous()).send(sample_of(route).call(mine));
      INFO(route.operation << " " << what << " " << reply.text());
      CHECK(reply.status == 401);
      CHECK_THAT(reply.body, Catch::Matchers::Contains(what));
    }
  };
  flows::change_networks(app.flows(), id, {"192.0.2.0/24"}).value();
  check_all("from this address");
  flows::change_networks(app.flows(), id, {}).value();
  flows::change_certificates(app.flows(), id, {std::string(64, 'a')}).value();
  check_all("client certificate");
  // Nothing was used up: the logins of the sample still work.
  flows::change_certificates(app.flows(), id, {}).value();
  for (const api::Route& route : api::routes()) {
    if (route.access != api::Access::login) continue;
    const Reply reply = app.anonymous().send(sample_of(route).call(mine));
    INFO(route.operation << " " << reply.text());
    CHECK(reply.status == 200);
  }
}

TEST_CASE("an expired token is reported as such on every guarded route") {
  TestApp app;
  const Names names = nobodys_belongings(app);
  const Client me = app.me();
  app.clock.advance_ms(2 * 3'600'000);
  for (const api::Route& route : api::routes()) {
    if (!is_guarded(route)) continue;
    const Reply reply = me.send(sample_of(route).call(names));
    INFO(route.operation << " " << reply.text());
    CHECK(reply.status == 401);
    if (!route.envelope) CHECK(reply.slug() == "token-expired");
  }
}

TEST_CASE("an application without an association is rejected on every guarded route") {
  TestApp app;
  const Client unassigned(app, app.register_application(std::nullopt));
  const Names names = nobodys_belongings(app);
  for (const api::Route& route : api::routes()) {
    if (!is_guarded(route)) continue;
    const Reply reply = unassigned.send(sample_of(route).call(names));
    INFO(route.operation << " " << reply.text());
    CHECK(reply.status == 403);
    if (!route.envelope) CHECK(reply.slug() == "no-association");
  }
}

TEST_CASE("a suspended association is rejected on every route that moves money, and only there") {
  TestApp app;
  const Names mine = belongings_of(app, app.me());
  app.change_status(app.association(), AssociationStatus::suspended);
  for (const api::Route& route : api::routes()) {
    if (!is_guarded(route)) continue;
    const Reply reply = app.me().send(sample_of(route).call(mine));
    INFO(route.operation << " " << reply.text());
    CHECK((reply.status == 403) == route.moves_money);
    if (route.moves_money) CHECK(reply.slug() == "association-suspended");
  }
}

TEST_CASE("a pending association is rejected on every route that moves money") {
  TestApp app;
  const Names names = belongings_of(app, app.me());
  const AssociationId id = app.register_association(AssociationStatus::pending);
  const Client pending(app, app.register_application(id));
  for (const api::Route& route : api::routes()) {
    if (!is_guarded(route) || !route.moves_money) continue;
    const Reply reply = pending.send(sample_of(route).call(names));
    INFO(route.operation << " " << reply.text());
    CHECK(reply.status == 403);
    CHECK(reply.slug() == "forbidden");
  }
}

TEST_CASE("every path responds to OPTIONS and rejects other methods with Allow") {
  TestApp app;
  const Names mine = belongings_of(app, app.me());
  for (const api::Route& route : api::routes()) {
    INFO(route.operation);
    HttpCall call = sample_of(route).call(mine);
    call.body.clear();
    call.method = "BREW";
    const Reply wrong = app.anonymous().send(call);
    CHECK(wrong.status == 405);
    CHECK_THAT(wrong.header("Allow"), Catch::Matchers::Contains(std::string(route.method)));
    call.method = "OPTIONS";
    const Reply options = app.anonymous().send(call);
    CHECK(options.status == 204);
    CHECK(options.header("Allow") == wrong.header("Allow"));
  }
}

TEST_CASE("HEAD on every route with GET, with the same status and headers") {
  TestApp app;
  const Names mine = belongings_of(app, app.me());
  for (const api::Route& route : api::routes()) {
    if (route.method != "GET") continue;
    INFO(route.operation);
    HttpCall call = sample_of(route).call(mine);
    const Reply get = app.me().send(call);
    call.method = "HEAD";
    const Reply head = app.me().send(call);
    CHECK(head.status == get.status);
    CHECK(head.headers == get.headers);
    CHECK(head.body.empty());
  }
}

TEST_CASE("every response of every route has a request ID") {
  TestApp app;
  const Names mine = belongings_of(app, app.me());
  app.listen();
  for (const api::Route& route : api::routes()) {
    HttpCall call = sample_of(route).call(mine);
    if (route.method != "GET") call.body = "{";
    for (const Client& client : {app.me().over_wire(), app.anonymous().over_wire()}) {
      const Reply minted = client.send(call);
      INFO(route.operation << " " << minted.text().substr(0, 300));
      CHECK(minted.status != 0);
      CHECK(Uuid::parse(minted.header("X-Request-Id")));
      if (!minted.slug().empty()) {
        CHECK(minted.json().at("requestId") == minted.header("X-Request-Id"));
      }
      CHECK(client.with("X-Request-Id", "kept-1").send(call).header("X-Request-Id") == "kept-1");
    }
  }
}
