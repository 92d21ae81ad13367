// A payment stays with the provider that it was first sent to, even if the connector's address
// changes.
#include <catch2/catch.hpp>
#include <sstream>

#include "base/thread.h"
#include "cli/run/dispatch.h"
#include "flows/providers/provider_message.h"
#include "outbound/providers/provider_signature.h"
#include "support/armed_fault.h"
#include "support/recipients.h"
#include "support/simulated_provider.h"
#include "unit/outbound/raw_host.h"

using namespace coffer;
using namespace coffer::test;

namespace connector_endpoints_test {
namespace {

struct Ran {
  int code = -1;
  std::string out;
  std::string err;
  Json json() const { return Json::parse(out); }
};

struct World {
  TestApp app{[](Config& config) { config.token_lifetime_s = 86'400; }};
  const Client& me = app.me();
  std::string wallet = app.wallet("USDC", "1000");
  SimulatedProvider old_provider{app};
  SimulatedProvider new_provider{app};
  std::string payouts = add_connector_at(app, old_provider.url(), payout_connector());
  std::string collections = add_connector_at(app, old_provider.url(), collection_connector());

  /// To a recipient whose account ends in these digits.
  std::string pay(const std::string& digits = "5678") {
    const std::string recipient = add_recipient(me, digits);
    return me.pay("/v1/payments/offramp",
                  cash_out_body(quote_for(me, payouts, recipient, "10"), wallet, recipient));
  }
  std::string collect(const std::string& account = "1234567890") {
    return me.pay("/v1/payments/onramp",
                  collection_body(collection_quote(me, collections), wallet, account));
  }
  int call_back(const Json& body, const std::string& secret) {
    const std::string path = "/v1/providers/" + payouts + "/callbacks";
    HttpCall call{"POST", path, {}, body.dump()};
    for (const auto& [name, value] :
         outbound::sign(Secret(secret), app.clock.now(), {"POST", path, call.body})) {
      call.headers.emplace_back(name, value);
    }
    return app.anonymous().send(call).status;
  }
  /// Advances the clock, and runs everything that becomes due.
  void pass(int ms) {
    for (int passed = 0; passed < ms; passed += 250) {
      app.clock.advance_ms(250);
      app.settle();
    }
  }
  Ran run(const std::string& command, const std::map<std::string, std::string>& arguments) {
    std::ostringstream out, err;
    cli::Interruption interruption;
    const cli::ControlRequest request{.command = command, .arguments = arguments, .json = true};
    const int code = cli::run_request(app.core(), request, out, err, interruption);
    return {code, out.str(), err.str()};
  }
  Ran move(const std::string& connector, const std::string& url, bool confirmed = false) {
    std::map<std::string, std::string> arguments{{"ID", connector}, {"URL", url}};
    if (confirmed) arguments["confirm"] = "true";
    return run("connector set-url", arguments);
  }
};

}  // namespace

TEST_CASE("a payout whose response was lost is not sent to the next provider") {
  World world;
  const std::string id = world.pay();
  world.old_provider.faults("lose-response=1");
  world.app.settle();
  REQUIRE(world.old_provider.submissions(id) == 1);
  world.old_provider.faults("");

  const Ran rejected = world.move(world.payouts, world.new_provider.url());
  CHECK(rejected.code != 0);
  INFO(rejected.err);
  CHECK(rejected.err.find("1 payment ") != std::string::npos);
  CHECK(rejected.err.find("--confirm") != std::string::npos);
  CHECK(world.run("connector show", {{"ID", world.payouts}}).json().at("baseUrl") ==
        world.old_provider.url());

  REQUIRE(world.move(world.payouts, world.new_provider.url(), true).code == 0);
  world.pass(10'000);
  CHECK(world.me.status(id) == "succeeded");
  CHECK(world.old_provider.submissions(id) == 1);
  CHECK(world.new_provider.submissions(id) == 0);
}

TEST_CASE("a payment that never arrived is resent to its first address") {
  World world;
  const std::string id = world.pay();
  world.old_provider.faults("reject=1");
  world.app.settle();
  REQUIRE(world.move(world.payouts, world.new_provider.url(), true).code == 0);
  world.pass(1'000);
  REQUIRE(world.old_provider.submissions(id) == 0);
  world.old_provider.faults("");
  world.pass(120'000);  // a breaker may have opened
  CHECK(world.me.status(id) == "succeeded");
  CHECK(world.old_provider.submissions(id) == 1);
  CHECK(world.new_provider.submissions(id) == 0);
}

TEST_CASE(
    "after a takeover, a submission is only queried while another machine may be sending it") {
  const bool takes_over = GENERATE(true, false);
  World world;
  const std::string id = world.pay();
  {
    const ArmedFault fault("provider.opened=throw");  // the attempt is stored, and not made
    CHECK_THROWS(world.app.settle());
  }
  if (takes_over) world.app.core().begin_to_lead();
  constexpr int kLeaseAndCallMs = 2'000 + 5'000;
  world.pass(kLeaseAndCallMs - 500);
  CHECK(world.old_provider.submissions(id) == (takes_over ? 0 : 1));
  world.pass(1'000);
  CHECK(world.old_provider.submissions(id) == 1);
  CHECK(world.me.status(id) == "succeeded");
}

TEST_CASE("after a takeover, a call that the other machine makes late pays once") {
  const bool takes_over = GENERATE(true, false);  // without it, the call comes twice
  World world;
  const std::string id = world.pay();
  {
    const ArmedFault fault("provider.opened=throw");  // the other machine is paused here
    CHECK_THROWS(world.app.settle());
  }
  const flows::Context& context = world.app.flows();
  flows::ConnectorCache connectors(context);
  const std::int64_t lane =
      context.read([](store::Connection& db) { return store::provider_lanes(db); }).value().at(0);
  const auto message = context.write([&](store::WriteTx& tx) {
    const auto jobs = store::due_provider_jobs(tx.db(), lane, tx.now().plus_ms(kHourMs), 1);
    const store::ProviderView view = store::provider_view(tx, jobs.at(0).payment);
    return flows::provider_message(
        tx.db(), connectors,
        store::find_connector_by_key(tx.db(), *view.payment.keys.connector).value(), view,
        std::nullopt);
  });
  REQUIRE(message);
  if (takes_over) world.app.core().begin_to_lead();
  world.pass(3'000);
  REQUIRE(flows::call_provider(context, ProviderCall::submit, *message));
  world.pass(10'000);
  CHECK(world.old_provider.submissions(id) == (takes_over ? 1 : 2));
  CHECK(world.me.status(id) == "succeeded");
}

TEST_CASE("unsent and new payments go to the new address") {
  World world;
  const std::string waiting = world.pay();
  const Ran moved = world.move(world.payouts, world.new_provider.url());
  INFO(moved.err);
  REQUIRE(moved.code == 0);
  const std::string later = world.pay();
  world.app.settle();
  for (const std::string& id : {waiting, later}) {
    CHECK(world.me.status(id) == "succeeded");
    CHECK(world.old_provider.submissions(id) == 0);
    CHECK(world.new_provider.submissions(id) == 1);
  }
}

TEST_CASE("an on-ramp is queried and ended at its first address") {
  World world;
  const std::string paid = world.collect();
  const std::string unpaid = world.collect("1201");
  world.app.settle();
  REQUIRE(world.me.record(paid).at("substatus") == "awaiting_payment");
  CHECK(world.move(world.collections, world.new_provider.url()).err.find("2 payments ") !=
        std::string::npos);
  REQUIRE(world.move(world.collections, world.new_provider.url(), true).code == 0);
  world.pass(1'000);
  CHECK(world.me.status(paid) == "succeeded");
  CHECK(world.me.balance(world.wallet, "USDC") == "1074.625");
  world.app.clock.advance_ms(3'600'000);
  world.pass(1'000);
  CHECK(world.me.status(unpaid) == "expired");
  for (const std::string& id : {paid, unpaid}) CHECK(world.new_provider.submissions(id) == 0);
}

TEST_CASE("the old address keeps its secret, and callbacks with it trigger its payments") {
  World world;
  const std::string id = world.pay("1202");  // in review for two seconds
  world.app.settle();
  REQUIRE(world.me.record(id).at("substatus") == "in_review");
  REQUIRE(world.move(world.payouts, world.new_provider.url(), true).code == 0);
  const std::string secret =
      world.run("connector rotate-secret", {{"ID", world.payouts}}).json().at("secret");
  const Json shown = world.run("connector show", {{"ID", world.payouts}}).json();
  REQUIRE(shown.at("formerUrls").size() == 1);
  CHECK(shown.at("formerUrls")[0].at("baseUrl") == world.old_provider.url());
  CHECK(shown.at("formerUrls")[0].at("paymentsInProgress") == 1);
  CHECK(world.run("payment show", {{"ID", id}}).json().at("providerUrl") ==
        world.old_provider.url());

  // With the increasing pauses after requests without a result, it would take longer.
  world.pass(2'000);
  const Json hint{{"id", "cb"}, {"type", "payout.updated"}, {"data", {{"id", id}}}};
  const Json paid{{"id", "cb"},
                  {"type", "reference.paid"},
                  {"data",
                   {{"providerPaymentId", "pp"},
                    {"reference", "REF"},
                    {"amount", "1"},
                    {"currencyIsoCode3", "KES"}}}};
  CHECK(world.call_back(hint, "guessed") == 401);
  const auto arrivals = [&] { return world.run("arrival list", {}).json().at("data").size(); };
  CHECK(world.call_back(paid, "shared") ==
        401);  // credits a wallet, so it requires the current secret
  CHECK(arrivals() == 0);
  CHECK(world.call_back(paid, secret) == 200);  // of an unknown reference: left to the operator
  CHECK(arrivals() == 1);
  CHECK(world.call_back(hint, "shared") == 200);
  world.app.settle();
  CHECK(world.me.status(id) == "succeeded");
  CHECK(world.call_back(hint, "shared") == 401);  // no payment needs the old secret any longer
  CHECK(world.call_back(hint, secret) == 200);
  CHECK(world.run("connector show", {{"ID", world.payouts}}).json().at("formerUrls").empty());
}

TEST_CASE("a connector returns to an address with the payments that are still there") {
  World world;
  const std::string id = world.pay("1201");
  world.app.settle();
  REQUIRE(world.move(world.payouts, world.new_provider.url(), true).code == 0);
  REQUIRE(world.move(world.payouts, world.old_provider.url()).code ==
          0);  // no payment is at the other address
  CHECK(world.run("connector show", {{"ID", world.payouts}}).json().at("formerUrls").empty());
  CHECK(world.move(world.payouts, world.new_provider.url()).code != 0);
  // Another timeout at the same address affects no payment.
  const Ran slower =
      world.run("connector set-url",
                {{"ID", world.payouts}, {"URL", world.old_provider.url()}, {"timeout-ms", "1234"}});
  INFO(slower.err);
  CHECK(slower.json().at("timeoutMs") == 1'234);
  world.pass(1'000);
  CHECK(world.me.status(id) == "processing");
}

TEST_CASE("a connector does not return with another secret while payments need the old one") {
  World world;
  const std::string id = world.pay("1202");  // in review for two seconds
  world.app.settle();
  REQUIRE(world.move(world.payouts, world.new_provider.url(), true).code == 0);
  REQUIRE(world.run("connector rotate-secret", {{"ID", world.payouts}}).code == 0);
  for (const bool confirmed : {false, true}) {
    const Ran back = world.move(world.payouts, world.old_provider.url(), confirmed);
    CHECK(back.code != 0);
    CHECK(back.err.find("with its former secret") != std::string::npos);
  }
  world.pass(60'000);
  CHECK(world.me.status(id) == "succeeded");
  CHECK(world.move(world.payouts, world.old_provider.url()).code == 0);
}

TEST_CASE("an unreachable old address does not block calls to the new one") {
  World world;
  const std::string stuck = world.pay("1201");
  world.app.settle();
  REQUIRE(world.move(world.payouts, world.new_provider.url(), true).code == 0);
  world.old_provider.stop();
  for (int i = 0; i < 8; ++i) {
    world.run("payment retry", {{"ID", stuck}});
    world.app.settle();
  }
  REQUIRE(world.app.log().find("\"reason\"") != std::string::npos);
  const std::string id = world.pay();
  world.app.settle();
  CHECK(world.me.status(id) == "succeeded");
  CHECK(world.me.status(stuck) == "processing");
}

TEST_CASE("a payment stays at its address after a restart") {
  World world;
  const std::string id = world.pay();
  world.old_provider.faults("lose-response=1");
  world.app.settle();
  world.old_provider.faults("");
  REQUIRE(world.move(world.payouts, world.new_provider.url(), true).code == 0);
  world.app.restart();
  world.pass(10'000);
  CHECK(world.me.status(id) == "succeeded");
  CHECK(world.new_provider.submissions(id) == 0);
}

TEST_CASE("a stop ends calls to providers, however long they may take") {
  TestApp app;
  outbound::test::RawHost silent(outbound::test::RawHost::After::silence);
  constexpr int kLongMs = 60'000;
  flows::NewConnector connector = payout_connector();
  connector.terms.driver = DriverKind::http;
  connector.terms.endpoint = ProviderEndpoint{"http://127.0.0.1:" + std::to_string(silent.port()),
                                              Secret("shared"), kLongMs};
  const std::string id = add_connector(app, connector);
  const std::string recipient = add_recipient(app.me(), "5678");
  const SystemClock clock;
  int status = 0;
  std::int64_t began = 0;
  {
    const Thread asking("asking", [&] {
      status = app.me()
                   .post("/v1/quotes",
                         {{"amount", "10"}, {"connectorId", id}, {"beneficiaryId", recipient}})
                   .status;
    });
    for (int i = 0; i < 2'000 && silent.requests() == 0; ++i) rest(1);
    began = clock.monotonic_ms();
    app.core().stop();
  }
  CHECK(silent.requests() == 1);
  CHECK(status == 504);
  CHECK(clock.monotonic_ms() - began < kLongMs / 2);
}

TEST_CASE("decimal places stay while amounts with the present ones are agreed") {
  World world;
  const auto set = [&](const std::string& connector, const char* decimals) {
    return world.run("connector set-decimals", {{"ID", connector}, {"DECIMALS", decimals}});
  };
  const std::string sandbox = add_connector(world.app, payout_connector());
  for (const std::string& connector : {world.payouts, world.collections, sandbox}) {
    INFO(connector);
    const bool collects = connector == world.collections;
    CHECK(set(connector, "3").code == 0);
    CHECK(set(connector, "2").code == 0);
    // An open quote.
    const std::string recipient = add_recipient(world.me, "5678");
    const Json quote = collects ? collection_quote(world.me, connector)
                                : quote_for(world.me, connector, recipient, "10");
    Ran rejected = set(connector, "0");
    CHECK(rejected.code != 0);
    CHECK(rejected.err.find("0 payments are in progress or open, and 1 quote is open") !=
          std::string::npos);
    CHECK(rejected.err.find("Pause the connector") != std::string::npos);
    CHECK(set(connector, "2").code == 0);  // the present ones
    // A payment in progress, also when its quote has expired.
    const std::string id =
        collects
            ? world.me.pay("/v1/payments/onramp", collection_body(quote, world.wallet))
            : world.me.pay("/v1/payments/offramp", cash_out_body(quote, world.wallet, recipient));
    world.app.clock.advance_ms(121'000);
    rejected = set(connector, "0");
    CHECK(rejected.code != 0);
    CHECK(rejected.err.find("1 payment is in progress or open, and 0 quotes are open") !=
          std::string::npos);
    world.pass(20'000);
    REQUIRE(world.me.status(id) == "succeeded");
    CHECK(set(connector, "3").code == 0);
  }
}

}  // namespace connector_endpoints_test
