#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "base/mutex.h"
#include "base/telemetry/log.h"
#include "outbound/providers/connector_registry.h"
#include "outbound/providers/provider_signature.h"
#include "provider_sim/simulator.h"
#include "unit/http/certificates.h"
#include "unit/outbound/connector_conformance.h"

using namespace coffer;
using namespace coffer::provider_sim;
using namespace coffer::outbound;
using namespace coffer::outbound::test;

namespace provider_sim_test {
namespace {

constexpr const char* kRates = "USDC:NGN=1540.25,NGN:USDC=0.00064";

struct Received {
  SignedCallback callback;
  Json body;
};

/// A simulator in this process with a coffer's driver in front of it. Callbacks arrive in
/// `received`, or are rejected while `accepting` is false.
struct World {
  explicit World(const std::string& faults = {}, const std::string& file = {}) {
    redirect_log([](std::string_view) {});
    SimulatorOptions options;
    options.secret = Secret("shared-secret");
    options.callback_url = "http://coffer.example/base/";
    options.faults = faults;
    options.rates = kRates;
    options.file = file;
    options.seed = 1;
    options.hang_ms = 20'000;
    options.background_callbacks = false;
    options.deliver = [this](const SignedCallback& callback) -> Result<int> {
      if (!accepting) return 503;
      received.push_back({callback, Json::parse(callback.body)});
      return 204;
    };
    simulator = std::make_unique<Simulator>(options, clock, random);
    simulator->start().value();
    for (const Direction direction : {Direction::off_ramp, Direction::on_ramp}) {
      ConnectorTerms terms = conformance_terms(direction);
      terms.driver = DriverKind::http;
      terms.endpoint = ProviderEndpoint{simulator->url(), Secret("shared-secret"), 1'500};
      (direction == Direction::off_ramp ? subject.off_ramp : subject.on_ramp) = terms;
    }
  }
  ~World() { redirect_log(nullptr); }

  const ConnectorTerms& terms() const { return subject.off_ramp; }
  Result<PayoutResponse> submit(const Payout& payout) { return registry.submit(terms(), payout); }
  PayoutState state(const Payout& payout) {
    return registry.payout_status(terms(), payout).value().state;
  }
  void faults(const std::string& spec) {
    simulator->dice().replace(FaultPlan::parse(spec).value());
  }
  Json control(const std::string& method, const std::string& path, const Json& body = {}) {
    http::ClientRequest request;
    request.method = method;
    request.tls = false;
    request.host = request.address = "127.0.0.1";
    request.port = simulator->port();
    request.target = path;
    if (!body.is_null()) request.body = body.dump();
    const auto response = client.send(request).value();
    Json out = Json::parse(response.body);
    out["httpStatus"] = response.status;
    return out;
  }

  ManualClock clock;
  SeededRandom random{5};
  bool accepting = true;
  std::vector<Received> received;
  std::unique_ptr<Simulator> simulator;
  CaresResolver resolver;
  http::Client client{""};
  ConnectorRegistry registry{clock, resolver, client, random};
  Subject subject{registry, {}, {}, clock, random};
};

struct TemporaryFile {
  std::string path = (std::filesystem::temp_directory_path() /
                      ("coffer-provider-" + std::to_string(::getpid()) + ".ndjson"))
                         .string();
  TemporaryFile() { std::filesystem::remove(path); }
  ~TemporaryFile() { std::filesystem::remove(path); }
};

}  // namespace

TEST_CASE("the http driver with the simulated provider passes the conformance suite") {
  World world;
  check_conformance(world.subject);
}

TEST_CASE("an ID is executed once, even if responses are lost") {
  World world;
  const Payout payout = payout_to(world.subject, "0123456789");
  world.faults("lose-response=1");
  CHECK(world.submit(payout).error().slug == Slug::provider_error);
  world.faults("garbage=1");
  CHECK(world.submit(payout).error().slug == Slug::provider_error);
  world.faults("late=1:5000");
  CHECK(world.submit(payout).error().slug == Slug::provider_timeout);
  world.faults("");
  CHECK(world.state(payout) == PayoutState::succeeded);
  CHECK(world.submit(payout)->state == PayoutState::succeeded);
  const Json list = world.control("GET", "/control/payouts");
  REQUIRE(list["data"].size() == 1);
  CHECK(list["data"][0]["submissions"] == 4);
}

TEST_CASE("a fault before the execution leaves no payout") {
  World world;
  const Payout payout = payout_to(world.subject, "0123456789");
  world.faults("reject=1");
  CHECK(world.submit(payout).error().slug == Slug::provider_error);
  world.faults("hang=1:20000");
  CHECK(world.submit(payout).error().slug == Slug::provider_timeout);
  world.faults("");
  CHECK(world.state(payout) == PayoutState::never_arrived);
}

TEST_CASE("an ID that was cancelled before its arrival is never executed") {
  World world;
  const Payout payout = payout_to(world.subject, "0123456789");
  CHECK(world.registry.cancel(world.terms(), payout)->state == PayoutState::failed);
  CHECK(world.submit(payout)->state == PayoutState::failed);
  CHECK(world.submit(payout)->failure == FailureCode::provider_unavailable);
  CHECK(world.state(payout) == PayoutState::failed);
}

TEST_CASE("an ID belongs to one content, and a request to one secret") {
  World world;
  Payout payout = payout_to(world.subject, "000001201");
  REQUIRE(world.submit(payout));
  payout.send = amount_of("101");
  CHECK(world.submit(payout).error().slug == Slug::provider_error);
  world.subject.off_ramp.endpoint->secret = Secret("another");
  const Payout other = payout_to(world.subject, "0123456789");
  CHECK(world.submit(other).error().slug == Slug::provider_error);
  CHECK(world.control("GET", "/control/payouts")["data"].size() == 1);
}

TEST_CASE("callbacks are signed, report the final status, and are sent once") {
  World world;
  const Payout payout = payout_to(world.subject, "000001202");
  REQUIRE(world.submit(payout));
  REQUIRE(world.submit(payout_to(world.subject, "000001101")));  // rejected: said already
  world.simulator->send_callbacks();
  CHECK(world.received.empty());
  world.clock.advance_ms(2'000);
  world.simulator->send_callbacks();
  world.simulator->send_callbacks();
  REQUIRE(world.received.size() == 1);
  const Received& got = world.received.front();
  CHECK(got.callback.path == "/base/v1/providers/" + world.terms().id.to_string() + "/callbacks");
  CHECK(verify(Secret("shared-secret"), world.clock.now(), &got.callback.headers[0].second,
               &got.callback.headers[1].second, {"POST", got.callback.path, got.callback.body}));
  CHECK(got.body["type"] == "payout.updated");
  CHECK(got.body["data"]["id"] == payout.id.to_string());
  CHECK(got.body["data"]["status"] == "succeeded");
}

TEST_CASE("callbacks are retried a limited number of times") {
  World world;
  REQUIRE(world.submit(payout_to(world.subject, "0123456789")));
  world.accepting = false;
  for (int i = 0; i < 3; ++i) {
    world.simulator->send_callbacks();
    world.clock.advance_ms(60'000);
  }
  world.accepting = true;
  world.simulator->send_callbacks();
  CHECK(world.received.size() == 1);

  REQUIRE(world.submit(payout_to(world.subject, "0123456789")));
  world.accepting = false;
  for (int i = 0; i < 10; ++i) {
    world.simulator->send_callbacks();
    world.clock.advance_ms(60'000);
  }
  world.accepting = true;
  world.simulator->send_callbacks();
  CHECK(world.received.size() == 1);
}

TEST_CASE("callbacks can be duplicated and reordered by a fault") {
  World world;
  REQUIRE(world.submit(payout_to(world.subject, "0123456789")));
  world.faults("duplicate=1");
  world.simulator->send_callbacks();
  REQUIRE(world.received.size() == 3);
  CHECK(world.received[0].body["id"] == world.received[1].body["id"]);
  CHECK(world.received[0].body["id"] != world.received[2].body["id"]);
  CHECK(world.received[0].body["data"] == world.received[2].body["data"]);

  world.received.clear();
  const Payout first = payout_to(world.subject, "0123456789");
  const Payout second = payout_to(world.subject, "0123456789");
  REQUIRE(world.submit(first));
  world.faults("reorder=1:1000");
  world.simulator->send_callbacks();
  world.faults("");
  REQUIRE(world.submit(second));
  world.simulator->send_callbacks();
  world.clock.advance_ms(1'000);
  world.simulator->send_callbacks();
  REQUIRE(world.received.size() == 2);
  CHECK(world.received[0].body["data"]["id"] == second.id.to_string());
  CHECK(world.received[1].body["data"]["id"] == first.id.to_string());
}

TEST_CASE("the operator of the simulator pays a reference") {
  World world;
  const auto issued = world.registry.issue_reference(world.subject.on_ramp, reference_ask("c-1"));
  const std::string path = "/control/references/" + issued->issued.reference + "/pay";
  CHECK(world.control("POST", path,
                      {{"amount", "12.5"}, {"payer", {{"name", "Ada"}}}})["httpStatus"] == 200);
  world.simulator->send_callbacks();
  REQUIRE(world.received.size() == 1);
  const Json& body = world.received.front().body;
  CHECK(body["type"] == "reference.paid");
  CHECK(body["data"]["reference"] == issued->issued.reference);
  CHECK(body["data"]["amount"] == "12.5");
  CHECK(body["data"]["currencyIsoCode3"] == "NGN");
  CHECK(body["data"]["payer"]["name"] == "Ada");
  CHECK(body["data"].contains("providerPaymentId"));
  CHECK(body["data"].contains("paidAt"));
  CHECK(world.control("POST", path, {{"amount", "0"}})["httpStatus"] == 400);
  CHECK(world.control("POST", "/control/references/none/pay", {{"amount", "1"}})["httpStatus"] ==
        404);
}

TEST_CASE("the operator of the simulator sends a payout back, in whole or in part") {
  World world;
  const Payout payout = payout_to(world.subject, "000005678");
  const std::string path = "/control/payouts/" + payout.id.to_string() + "/return";
  CHECK(world.control("POST", path, Json::object())["httpStatus"] == 404);
  REQUIRE(world.submit(payout));
  world.clock.advance_ms(10'000);
  world.simulator->send_callbacks();
  world.received.clear();
  const Json part{{"amount", "0.5"}, {"reason", "Closed"}, {"feeReturned", true}};
  CHECK(world.control("POST", path, part)["httpStatus"] == 200);
  CHECK(world.control("POST", path, Json::object())["httpStatus"] == 200);
  CHECK(world.control("POST", path, {{"amount", "0"}})["httpStatus"] == 400);
  world.simulator->send_callbacks();
  REQUIRE(world.received.size() == 2);
  const Json& first = world.received[0].body;
  CHECK(first["type"] == "payout.returned");
  CHECK(first["data"]["id"] == payout.id.to_string());
  CHECK(first["data"]["amount"] == "0.5");
  CHECK(first["data"]["reason"] == "Closed");
  CHECK(first["data"]["feeReturned"] == true);
  CHECK(first["data"]["currencyIsoCode3"] == "NGN");
  const Json& second = world.received[1].body;
  CHECK(second["data"]["amount"] != "0.5");
  CHECK(second["data"]["returnId"] != first["data"]["returnId"]);
}

TEST_CASE("the operator of the simulator decides pending payments") {
  World world;
  const Payout good = payout_to(world.subject, "000001201");
  const Payout bad = payout_to(world.subject, "000001201");
  REQUIRE(world.submit(good));
  REQUIRE(world.submit(bad));
  const auto settle = [&](const Payout& payout, const Json& body) {
    return world.control("POST", "/control/payouts/" + payout.id.to_string() + "/settle",
                         body)["httpStatus"];
  };
  CHECK(settle(good, {{"status", "succeeded"}}) == 200);
  CHECK(settle(good, {{"status", "failed"}, {"code", "account_closed"}}) == 404);
  CHECK(settle(bad, {{"status", "failed"}, {"code", "no_such_code"}}) == 400);
  CHECK(settle(bad, {{"status", "failed"}, {"code", "account_closed"}}) == 200);
  CHECK(world.state(good) == PayoutState::succeeded);
  const auto failed = world.registry.payout_status(world.terms(), bad);
  CHECK(failed->failure == FailureCode::account_closed);
  CHECK(failed->refund == ProviderRefund::returned);

  const Collection collection = collection_from(world.subject, "000001201");
  REQUIRE(world.registry.collect(world.subject.on_ramp, collection));
  world.control("POST", "/control/collections/" + collection.id.to_string() + "/pay",
                Json::object());
  CHECK(world.registry.expire(world.subject.on_ramp, collection)->state ==
        CollectionState::collected);
  const Refund refund = refund_to(world.subject, "000001601");
  REQUIRE(world.registry.refund(world.subject.on_ramp, refund));
  CHECK(world.control("POST", "/control/refunds/" + refund.id.to_string() + "/settle",
                      {{"status", "failed"}, {"code", "account_closed"}})["httpStatus"] == 200);
  const auto kept = world.registry.refund_status(world.subject.on_ramp, refund);
  CHECK(kept->state == PayoutState::failed);
  CHECK(kept->failure == FailureCode::account_closed);
  CHECK(world.control("GET", "/control/refunds")["data"].size() == 1);
  world.simulator->send_callbacks();
  CHECK(world.received.size() == 4);
}

TEST_CASE("payers of the simulator pay the requested amount, or another one") {
  World world;
  const auto collected = [&](const char* account, const Json& decision = {}) {
    const Collection collection = collection_from(world.subject, account);
    REQUIRE(world.registry.collect(world.subject.on_ramp, collection));
    if (!decision.is_null()) {
      world.control("POST", "/control/collections/" + collection.id.to_string() + "/pay", decision);
    }
    world.clock.advance_ms(10);
    const auto answer = world.registry.collection_status(world.subject.on_ramp, collection);
    REQUIRE(answer);
    REQUIRE(answer->state == CollectionState::collected);
    return std::pair(answer->collected.value(), collection.send);
  };
  const auto [exact, asked] = collected("0123456789");
  CHECK(exact == asked);
  CHECK(collected("000001501").first.units() == asked.units() / 10 * 9);
  CHECK(collected("000001502").first.units() == asked.units() / 10 * 11);
  CHECK(collected("000001503").first == amount_of("0.01"));
  CHECK(collected("000001201", {{"amount", "12.5"}}).first == amount_of("12.5"));
  CHECK(collected("000001201", Json::object()).first == asked);
  const Collection waits = collection_from(world.subject, "000001201");
  REQUIRE(world.registry.collect(world.subject.on_ramp, waits));
  CHECK(world.control("POST", "/control/collections/" + waits.id.to_string() + "/pay",
                      {{"amount", "-1"}})["httpStatus"] == 400);
}

TEST_CASE("the simulator supports TLS and requires certificate and key together") {
  const http::test::Certificates files;
  files.make("IP:127.0.0.1", 1);
  World world;
  SimulatorOptions options;
  options.secret = Secret("shared-secret");
  options.rates = kRates;
  options.tls_cert_file = files.cert();
  Simulator half(options, world.clock, world.random);
  CHECK(half.start().error().slug == Slug::malformed_request);
  options.tls_key_file = files.key();
  Simulator simulator(options, world.clock, world.random);
  simulator.start().value();
  CHECK(simulator.url().starts_with("https://127.0.0.1:"));
  http::Client trusting{files.cert()};
  ConnectorRegistry registry{world.clock, world.resolver, trusting, world.random};
  ConnectorTerms terms = world.terms();
  terms.endpoint->base_url = simulator.url();
  const Payout payout = payout_to(world.subject, "0123456789");
  CHECK(registry.submit(terms, payout)->state == PayoutState::succeeded);
  CHECK(world.registry.submit(terms, payout).error().slug == Slug::provider_unavailable);
}

TEST_CASE("faults are changed at run time") {
  World world("late=0.25:3000,reject=0.05");
  CHECK(world.control("GET", "/control/faults")["faults"] == "late=0.25,reject=0.05");
  CHECK(world.control("PUT", "/control/faults", {{"faults", "garbage=1"}})["faults"] ==
        "garbage=1");
  CHECK(world.control("PUT", "/control/faults", {{"faults", "late=2"}})["httpStatus"] == 400);
  for (const Json& wrong : {Json(), Json::object(), Json{{"fault", "late=1"}}, Json{{"faults", 1}},
                            Json::array(), Json("late=1"), Json{{"faults", ""}, {"garbage", 1}}}) {
    INFO(wrong.dump());
    const Json rejected = world.control("PUT", "/control/faults", wrong);
    CHECK(rejected["httpStatus"] == 400);
    CHECK(rejected["message"].get<std::string>().find("\"faults\"") != std::string::npos);
    CHECK(world.control("GET", "/control/faults")["faults"] == "garbage=1");
  }
  CHECK(world.control("PUT", "/control/faults", {{"faults", ""}})["faults"] == "");
}

TEST_CASE("the simulator stores its state in a file") {
  const TemporaryFile file;
  const auto ask = [](World& world) { return payout_to(world.subject, "0123456789"); };
  Payout done;
  Payout cancelled;
  {
    World world({}, file.path);
    done = ask(world);
    cancelled = ask(world);
    REQUIRE(world.submit(done));
    REQUIRE(world.registry.cancel(world.terms(), cancelled));
  }
  std::ofstream(file.path, std::ios::app) << R"({"event":"placed","kind":"pay)";  // kill -9
  {
    World world({}, file.path);
    CHECK(world.state(done) == PayoutState::succeeded);
    CHECK(world.submit(cancelled)->state == PayoutState::failed);
    world.simulator->send_callbacks();
    CHECK(world.received.size() == 1);
    REQUIRE(world.submit(payout_to(world.subject, "000001201")));
  }
  {
    World world({}, file.path);
    world.simulator->send_callbacks();
    CHECK(world.received.empty());  // delivered before
    CHECK(world.control("GET", "/control/payouts")["data"].size() == 3);
    CHECK_FALSE(StateFile().open(file.path));  // one process at a time
  }
  CHECK(StateFile().open(file.path)->size() == 4);
  std::ofstream(file.path) << "something else\n";
  CHECK_FALSE(StateFile().open(file.path));
}

TEST_CASE("fault plans are parsed and printed") {
  CHECK(FaultPlan::parse("")->to_string().empty());
  CHECK(FaultPlan::parse("lose-response=0.1,hang=0.01:50,late=1:3000")->to_string() ==
        "late=1,lose-response=0.1,hang=0.01:50");
  for (const char* text :
       {"late", "late=", "late=x", "late=1.5", "late=-1", "late=0.1:", "late=0.1:x", "late=0.1:-5",
        "early=1", "late=0.1234567", "late=1.", ",", "late=0.5 x"}) {
    INFO(text);
    CHECK_FALSE(FaultPlan::parse(text));
  }
}

TEST_CASE("the same seed gives the same faults") {
  const auto falls = [](std::uint64_t seed) {
    SeededRandom chance(seed);
    FaultDice dice(FaultPlan::parse("late=0.5").value(), chance);
    std::string out;
    for (int i = 0; i < 64; ++i) out += dice.strikes(Fault::late) ? '1' : '0';
    return out;
  };
  CHECK(falls(1) == falls(1));
  CHECK(falls(1) != falls(2));
  CHECK(falls(1).find('1') != std::string::npos);
  CHECK(falls(1).find('0') != std::string::npos);
}

TEST_CASE("unknown callers and invalid requests get an explanation") {
  World world;
  CHECK(world.control("POST", "/payouts", Json::object())["code"] == "bad_signature");
  CHECK(world.control("GET", "/nothing")["httpStatus"] == 404);
  CHECK(world.control("DELETE", "/payouts")["httpStatus"] == 405);
}

}  // namespace provider_sim_test
