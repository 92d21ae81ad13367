// Delivery, rule by rule (docs/contract.md#delivery), against a receiver on this machine.
#include <catch2/catch.hpp>
#include <set>
#include <sstream>

#include "api/delivery_world.h"
#include "base/digest.h"
#include "cli/run/dispatch.h"

using namespace coffer;
using namespace coffer::test;

namespace webhook_delivery_test {
namespace {

using Kind = Behaviour::Kind;

using World = DeliveryWorld;

std::string hmac_base64(const std::string& secret, const std::string& text) {
  const std::string key = from_base64(secret.substr(std::string("whsec_").size())).value();
  return to_base64(as_text(hmac_sha256(key, text)));
}

/// Whether any of the signatures is from this secret, by Standard Webhooks.
bool verifies(const Received& request, const std::string& secret) {
  const std::string expected =
      "v1," + hmac_base64(secret, request.header("webhook-id") + "." +
                                      request.header("webhook-timestamp") + "." + request.body);
  const std::string all = " " + request.header("webhook-signature") + " ";
  return all.find(" " + expected + " ") != std::string::npos;
}

std::vector<std::string> types_of(const std::vector<Received>& requests) {
  std::vector<std::string> out;
  for (const Received& request : requests) out.push_back(request.json().at("type"));
  return out;
}

/// The result of an operator's command.
Json run(TestApp& app, const std::string& command,
         const std::map<std::string, std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  cli::Interruption interruption;
  const cli::ControlRequest request{.command = command, .arguments = arguments, .json = true};
  REQUIRE(cli::run_request(app.core(), request, out, err, interruption) == 0);
  return Json::parse(out.str());
}

}  // namespace

TEST_CASE("delivery: every event of a payment arrives in order, with its record as of then") {
  World world;
  const std::string record = world.pay();
  world.app.settle();
  CHECK(world.app.deliver() == 3);
  const auto requests = world.receiver.received();
  CHECK(types_of(requests) ==
        std::vector<std::string>{"payment.initiated", "payment.processing", "payment.succeeded"});
  const char* statuses[] = {"initiated", "processing", "succeeded"};
  for (int i = 0; i < 3; ++i) {
    const Json body = requests.at(static_cast<std::size_t>(i)).json();
    INFO(body.dump());
    CHECK(body.at("apiVersion") == "v1");
    CHECK(body.at("environment") == "sandbox");
    CHECK(body.at("associationId") == world.app.association().to_string());
    CHECK(body.at("sequence") == i + 1);
    CHECK_FALSE(body.contains("test"));
    const Json& data = body.at("data");
    CHECK(data.at("id") == record);
    CHECK(data.at("status") == statuses[i]);
    CHECK(data.at("version") == i + 1);
    CHECK(data.at("statusHistory").size() == static_cast<std::size_t>(i + 1));
    CHECK(data.contains("completedAt") == (i == 2));
    CHECK(data.contains("ledgerTransactionHash") == (i == 2));
  }
  CHECK(requests.at(2).json().at("data") == world.app.me().record(record));
  CHECK(world.app.deliver() == 0);
  CHECK(world.deliveries("delivered").size() == 3);
}

TEST_CASE("delivery: the headers of the contract and of Standard Webhooks") {
  World world("payment.initiated");
  world.pay();
  world.app.deliver();
  const Received request = world.receiver.received().at(0);
  const std::string event = request.json().at("id");
  CHECK(request.target == "/hooks");
  CHECK(request.header("Content-Type") == "application/json");
  CHECK(request.header("X-Webhook-Id") == event);
  CHECK(request.header("X-Webhook-Ts") == std::to_string(world.app.clock.now().ms));
  CHECK(request.header("X-Svc-Signature") == "sha256=" + to_hex(hmac_sha256(event, request.body)));
  CHECK(request.header("webhook-id") == event);
  CHECK(request.header("webhook-timestamp") == std::to_string(world.app.clock.now().ms / 1'000));
  CHECK(verifies(request, world.secret));
  CHECK_FALSE(verifies(request, "whsec_" + to_base64(std::string(32, 'x'))));
}

TEST_CASE("delivery: the operator sees what each attempt sent and received") {
  World world("payment.initiated");
  Behaviour rejection{.status = 503,
                      .headers = {{"X-Reason", "busy"}, {"Set-Cookie", "id=secret"}}};
  rejection.body = "later";
  world.receiver.script({rejection, {.kind = Kind::garbage}});
  world.pay();
  for (int i = 0; i < 3; ++i) {
    world.app.deliver();
    world.app.clock.advance_ms(60'000);
  }
  const auto requests = world.receiver.received();
  REQUIRE(requests.size() == 3);
  const std::string event = requests.at(0).json().at("id");
  const Json shown = run(world.app, "webhook delivery", {{"ID", world.id}, {"EVENT", event}});
  const Json attempts = shown.at("attempts");
  REQUIRE(attempts.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    INFO(attempts.at(i).dump());
    std::istringstream lines(attempts.at(i).at("requestHeaders").get<std::string>());
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      const auto colon = line.find(": ");
      CHECK(requests.at(i).header(line.substr(0, colon)) == line.substr(colon + 2));
    }
    CHECK(count == 8);
    CHECK(attempts.at(i).at("durationMs").is_number());
  }
  CHECK(attempts.at(0).at("responseStatus") == "503");
  CHECK(attempts.at(0).at("responseBody") == "later");
  const std::string headers = attempts.at(0).at("responseHeaders");
  CHECK(headers.find("X-Reason: busy\n") != std::string::npos);
  CHECK(headers.find("Set-Cookie: [redacted]\n") != std::string::npos);
  CHECK(shown.dump().find("id=secret") == std::string::npos);
  CHECK(attempts.at(1).at("responseHeaders") == "");
  CHECK(attempts.at(1).at("fault").is_string());
  CHECK(attempts.at(2).at("responseStatus") == "200");
}

TEST_CASE("delivery: only subscribed types, and only events after the registration") {
  TestApp app;
  const std::string from = app.wallet("USDC", "10"), to = app.wallet("USDC");
  app.me().transfer(from, to, "1");
  app.settle();
  Receiver receiver;
  app.me().post("/v1/webhooks", {{"url", receiver.url()},
                                 {"eventTypes", {"payment.succeeded", "wallet.status_changed"}}});
  CHECK(app.deliver() == 0);
  app.me().transfer(from, to, "2");
  app.settle();
  const std::string third = app.me().third_party_wallet("USDC");
  app.me().send({"POST", "/v1/sandbox/wallets/" + third + "/verify", {}, {}});
  app.deliver();
  const auto requests = receiver.received();
  CHECK(types_of(requests) ==
        std::vector<std::string>{"payment.succeeded", "wallet.status_changed"});
  const Json wallet = requests.at(1).json().at("data");
  CHECK(wallet.at("id") == third);
  CHECK(wallet.at("status") == "Verified");
  CHECK_FALSE(wallet.contains("metadata"));
}

TEST_CASE("delivery: anything but a complete 2xx response is a failure and is retried") {
  struct Row {
    const char* name;
    Behaviour behaviour;
    int status;  // in the log; 0: none
    int timeout_ms = 10'000;
  };
  const Row rows[] = {
      {"500", {Kind::answer, 500}, 500},
      {"404", {Kind::answer, 404}, 404},
      {"redirect", {Kind::answer, 302, {{"Location", "/elsewhere"}}}, 302},
      {"reset", {Kind::reset}, 0},
      {"hang up", {Kind::hang_up}, 0},
      {"garbage", {Kind::garbage}, 0},
      {"close early", {Kind::close_early}, 0},
      {"silent", {Kind::silent}, 0, 2'000},
      {"byte by byte, for ever", {Kind::dribble, 200, {}, std::string(20'000, 'x')}, 0, 2'000},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    World world("payment.initiated",
                [&](Config& config) { config.webhook_timeout_ms = row.timeout_ms; });
    world.receiver.script({row.behaviour});
    world.pay();
    CHECK(world.app.deliver() == 1);
    const Json waiting = world.deliveries("pending").at(0);
    const Json attempt = world.detail(waiting.at("id")).at("log").at(0);
    INFO(attempt.dump());
    CHECK(attempt.at("responseStatus") == (row.status == 0 ? Json(nullptr) : Json(row.status)));
    CHECK(attempt.contains("error") == (row.status == 0));
    CHECK(world.webhook().at("consecutiveFailures") == 1);
    CHECK(world.app.deliver() == 0);  // not before its time
    world.app.clock.advance_ms(1'200);
    CHECK(world.app.deliver() == 1);
    CHECK(world.deliveries("delivered").size() == 1);
    CHECK(world.webhook().at("consecutiveFailures") == 0);
    const auto requests = world.receiver.received();
    REQUIRE(requests.size() == 2);
    CHECK(requests.at(0).body == requests.at(1).body);
    CHECK(requests.at(0).header("X-Webhook-Id") == requests.at(1).header("X-Webhook-Id"));
    CHECK(requests.at(1).target == "/hooks");  // a redirect is never followed
  }
}

TEST_CASE("delivery: tenants see one reason for every endpoint elsewhere that was not reached") {
  struct Row {
    const char* url;
    bool permitted;      // at the attempt
    const char* reason;  // for the operator
  };
  const std::string no_name = "http://" + std::string(64, 'x') + ".example:8080/";  // RFC 1035
  const Row rows[] = {
      {no_name.c_str(), true, "cannot be resolved"},
      {"http://127.0.0.2:1/", true, "Connection refused"},
      {"http://127.0.0.1:1/", true, "Connection refused"},
      {"http://127.0.0.1:1/", false, "not publicly reachable"},
      {"http://localhost:1/", false, "not publicly reachable"},
  };
  std::set<std::string> shown;
  for (const Row& row : rows) {
    INFO(row.url);
    Config* config = nullptr;
    World world("payment.initiated", [&](Config& each) {
      each.webhook_allow_targets.push_back("127.0.0.2");
      config = &each;
    });
    const Json moved{{"url", row.url}};
    REQUIRE(world.app.me().send({"PATCH", world.path(), {}, moved.dump()}).status == 200);
    if (!row.permitted) {
      config->webhook_allow_targets = {"127.0.0.9"};
      world.app.restart();
    }
    world.pay();
    REQUIRE(world.app.deliver() == 1);
    const Json delivery = world.deliveries("pending").at(0);
    const Json attempt = world.detail(delivery.at("id")).at("log").at(0);
    CHECK(attempt.at("responseStatus").is_null());
    shown.insert(attempt.at("error").get<std::string>());
    const std::string event = delivery.at("eventId");
    const Json seen = run(world.app, "webhook delivery", {{"ID", world.id}, {"EVENT", event}});
    INFO(seen.dump());
    CHECK(seen.at("attempts").at(0).at("fault").get<std::string>().find(row.reason) !=
          std::string::npos);
  }
  // Who may use the own machine is told that nothing listens there. Everyone else learns nothing.
  CHECK(shown == std::set<std::string>{
                     "Nothing answered at 127.0.0.1:1. Is your receiver running?",
                     "The endpoint could not be reached. Check its DNS name and its port, and that "
                     "its address is public."});
}

TEST_CASE("delivery: a slow but complete response in time is a success") {
  World world("payment.initiated");
  world.receiver.script(
      {{Kind::dribble, 204, {}, ""}, {Kind::answer, 299, {}, std::string(10'000, 'x')}});
  world.pay();
  world.pay();
  CHECK(world.app.deliver() == 2);
  const auto delivered = world.deliveries("delivered");
  REQUIRE(delivered.size() == 2);
  // The first 4 KiB of an answer are kept.
  const Json attempt = world.detail(delivered.at(0).at("id")).at("log").at(0);
  CHECK(attempt.at("responseBody").get<std::string>() == std::string(4'096, 'x'));
}

TEST_CASE(
    "delivery: after three failed attempts it is failed; resend restarts with the same bytes") {
  World world("payment.initiated");
  world.receiver.otherwise({Kind::answer, 500});
  world.pay();
  int attempts = world.app.deliver();
  for (const int wait_ms : {799, 401}) {  // 1 s less and more 20 %
    world.app.clock.advance_ms(wait_ms);
    attempts += world.app.deliver();
  }
  CHECK(attempts == 2);
  world.app.clock.advance_ms(7'999);
  CHECK(world.app.deliver() == 0);
  world.app.clock.advance_ms(4'001);  // 10 s less and more 20 %
  CHECK(world.app.deliver() == 1);
  const Json dead = world.deliveries("dead").at(0);
  CHECK(dead.at("attempts") == 3);
  CHECK_FALSE(dead.contains("nextAttemptAt"));
  world.app.clock.advance_ms(86'400'000);
  CHECK(world.app.deliver() == 0);

  world.receiver.otherwise({});
  const std::string resend =
      world.path("/deliveries/" + dead.at("id").get<std::string>() + "/resend");
  const Reply again = world.app.me().send({"POST", resend, {}, {}});
  CHECK(again.status == 202);
  CHECK(again.json().at("status") == "pending");
  CHECK(world.app.deliver() == 1);
  const Json detail = world.detail(dead.at("id"));
  CHECK(detail.at("status") == "delivered");
  CHECK(detail.at("log").size() == 4);
  const auto requests = world.receiver.received();
  REQUIRE(requests.size() == 4);
  for (const Received& request : requests) {
    CHECK(request.body == requests.at(0).body);
    CHECK(request.body == detail.at("body").get<std::string>());
  }
}

TEST_CASE("delivery: production waits 5 s and 5 min") {
  const auto schedule = [](const Config& config) {
    return std::pair(config.webhook_retry_s, config.webhook_attempts);
  };
  CHECK(schedule(Config{}) == std::pair(std::vector<std::string>{"5", "300"}, 3));
  World world("payment.initiated", [](Config& config) {
    config.webhook_attempts = 2;
    config.webhook_sandbox_retry_s = {"7"};
  });
  world.receiver.otherwise({Kind::answer, 500});
  world.pay();
  world.app.deliver();
  world.app.clock.advance_ms(5'599);
  CHECK(world.app.deliver() == 0);
  world.app.clock.advance_ms(2'801);
  CHECK(world.app.deliver() == 1);
  CHECK(world.deliveries("dead").size() == 1);
}

TEST_CASE("delivery: Retry-After is honoured, and 429 and 503 pause the whole endpoint") {
  for (const int status : {429, 503}) {
    World world("payment.initiated");
    world.receiver.script({{Kind::answer, status, {{"Retry-After", "120"}}}});
    world.pay();
    world.pay();
    CHECK(world.app.deliver() == 1);
    world.app.clock.advance_ms(119'000);
    CHECK(world.app.deliver() == 0);
    world.app.clock.advance_ms(30'000);
    CHECK(world.app.deliver() == 2);
    CHECK(world.deliveries("delivered").size() == 2);
  }
  // Limited to an hour; on other statuses, it applies only to this delivery.
  World world("payment.initiated");
  world.receiver.script({{Kind::answer, 500, {{"Retry-After", "86400"}}}});
  world.pay();
  world.pay();
  CHECK(world.app.deliver() == 2);
  world.app.clock.advance_ms(3'599'000);
  CHECK(world.app.deliver() == 0);
  world.app.clock.advance_ms(1'000);
  CHECK(world.app.deliver() == 1);
}

TEST_CASE("delivery: 410 disables the endpoint permanently and emits an event") {
  World world("payment.initiated");
  Receiver watcher;
  world.app.me().post("/v1/webhooks",
                      {{"url", watcher.url()}, {"eventTypes", {"webhook.disabled"}}});
  world.receiver.script({{Kind::answer, 410}});
  world.pay();
  world.pay();
  world.app.deliver();
  CHECK(world.receiver.count() == 1);
  const Json webhook = world.webhook();
  CHECK(webhook.at("status") == "disabled");
  CHECK(webhook.at("disabledReason") == "endpoint_gone");
  CHECK(world.deliveries("dead").size() == 2);
  REQUIRE(watcher.count() == 1);
  const Json event = watcher.received().at(0).json();
  CHECK(event.at("type") == "webhook.disabled");
  CHECK(event.at("data").at("id") == world.id);
  CHECK_FALSE(event.at("data").contains("secret"));
  world.pay();
  world.app.clock.advance_ms(86'400'000);
  world.app.deliver();
  CHECK(world.receiver.count() == 1);
}

TEST_CASE("delivery: after a rotation both secrets sign, then only the new one") {
  World world("payment.initiated");
  const Json rotated =
      world.app.me().post(world.path("/rotate-secret"), {{"gracePeriodSeconds", 60}}).json();
  const std::string fresh = rotated.at("secret");
  const auto next = [&] {
    world.receiver.forget();
    world.pay();
    world.app.deliver();
    return world.receiver.received().at(0);
  };
  const Received both = next();
  CHECK(verifies(both, world.secret));
  CHECK(verifies(both, fresh));
  world.app.clock.advance_ms(60'000);
  const Received only = next();
  CHECK_FALSE(verifies(only, world.secret));
  CHECK(verifies(only, fresh));
  const Json at_once =
      world.app.me().post(world.path("/rotate-secret"), {{"gracePeriodSeconds", 0}}).json();
  const Received newest = next();
  CHECK_FALSE(verifies(newest, fresh));
  CHECK(verifies(newest, at_once.at("secret")));
}

TEST_CASE("delivery: an oversize event is reported and not sent") {
  World world("payment.initiated", [](Config& config) { config.webhook_body_max_kib = 1; });
  std::vector<Json> legs;
  for (int i = 0; i < 20; ++i) legs.push_back(transfer_body(world.from, world.to, "1"));
  world.app.me().pay("/v1/payments/p2p/own/multi", multi_body(legs));
  CHECK(world.app.deliver() == 0);
  CHECK(world.receiver.count() == 0);
  const Json row = world.deliveries("oversize").at(0);
  CHECK(world.detail(row.at("id")).at("body").is_null());
  const Reply resend = world.app.me().send(
      {"POST", world.path("/deliveries/" + row.at("id").get<std::string>() + "/resend"), {}, {}});
  CHECK(resend.slug() == "conflict");
  // The poller still gets it.
  CHECK(world.app.me().get("/v1/events/" + row.at("id").get<std::string>()).status == 200);
}

TEST_CASE("delivery: recover delivers everything to a receiver that was down") {
  World world;
  world.receiver.otherwise({Kind::answer, 500});
  for (int i = 0; i < 5; ++i) world.pay();
  world.app.settle();
  for (int i = 0; i < 4; ++i) {
    world.app.deliver();
    world.app.clock.advance_ms(900'000);
  }
  CHECK(world.deliveries("dead").size() == 15);
  world.receiver.otherwise({});
  world.receiver.forget();
  const Reply asked =
      world.app.me().post(world.path("/recover"), {{"from", "2026-01-01T00:00:00Z"}});
  CHECK(asked.status == 202);
  CHECK(world.app.deliver() == 15);
  CHECK(world.deliveries("delivered").size() == 15);
  // Delivered events are not redelivered.
  CHECK(world.app.me().post(world.path("/recover"), {{"from", "2026-01-01"}}).status == 202);
  CHECK(world.app.deliver() == 0);
  CHECK(world.app.me()
            .post(world.path("/recover"), {{"from", "2026-01-02"}, {"to", "2026-01-01"}})
            .slug() == "validation-failed");
}

TEST_CASE("delivery: recover includes events from before the registration, within its range") {
  TestApp app;
  const std::string from = app.wallet("USDC", "10"), to = app.wallet("USDC");
  app.me().transfer(from, to, "1");
  app.clock.advance_ms(60'000);
  app.me().transfer(from, to, "2");
  Receiver receiver;
  const std::string id =
      app.me()
          .post("/v1/webhooks", {{"url", receiver.url()}, {"eventTypes", {"payment.initiated"}}})
          .json()
          .at("id");
  const Json range{{"from", "2026-01-01T00:00:30Z"}, {"to", "2026-01-01T00:10:00Z"}};
  CHECK(app.me().post("/v1/webhooks/" + id + "/recover", range).status == 202);
  app.deliver();
  REQUIRE(receiver.count() == 1);
  CHECK(receiver.received().at(0).json().at("data").at("sendingAmount") == "2.00");
}

TEST_CASE("delivery: a test goes to one endpoint and is marked") {
  World world("payment.failed");
  Receiver other;
  world.app.me().post("/v1/webhooks",
                      {{"url", other.url()}, {"eventTypes", {"payment.succeeded"}}});
  const Reply asked = world.app.me().send({"POST", world.path("/test"), {}, {}});
  CHECK(asked.status == 202);
  world.app.deliver();
  REQUIRE(world.receiver.count() == 1);
  CHECK(other.count() == 0);
  const Received request = world.receiver.received().at(0);
  CHECK(request.json().at("type") == "webhook.test");
  CHECK(request.json().at("test") == true);
  CHECK(request.json().at("id") == asked.json().at("eventId"));
  CHECK(verifies(request, world.secret));
}

TEST_CASE("delivery: a restart loses nothing and repeats no delivery") {
  World world("payment.initiated");
  world.receiver.script({{Kind::answer, 500}});
  world.pay();
  world.app.deliver();
  world.pay();
  world.app.restart();
  CHECK(world.app.deliver() == 1);
  world.app.clock.advance_ms(1'200);
  CHECK(world.app.deliver() == 1);
  CHECK(world.deliveries("delivered").size() == 2);
}

}  // namespace webhook_delivery_test
