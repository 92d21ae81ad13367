#include "outbound/providers/http_connector.h"

#include <poll.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <vector>

#include "base/mutex.h"
#include "base/telemetry/log.h"
#include "base/thread.h"
#include "outbound/providers/connector_registry.h"
#include "outbound/providers/provider_signature.h"
#include "unit/http/running_server.h"
#include "unit/outbound/connector_conformance.h"
#include "unit/outbound/raw_host.h"

using namespace coffer;
using namespace coffer::outbound;
using namespace coffer::outbound::test;
using coffer::http::test::RunningServer;

namespace http_connector_test {
namespace {

constexpr const char* kSecret = "shared-secret";

/// Keeps log lines of drivers out of the test output.
struct Quiet {
  Quiet() {
    redirect_log([](std::string_view) {});
  }
  ~Quiet() { redirect_log(nullptr); }
};

/// A provider that returns the same response to every request.
class Stub {
 public:
  Stub() : server_({}, [this](http::Request& request) { return answer(request); }) {}

  std::function<void()> before_answer = [] {};

  void set(int status, std::string body) {
    const Lock lock(mutex_);
    status_ = status;
    body_ = std::move(body);
  }
  http::Request last() {
    const Lock lock(mutex_);
    return last_;
  }
  int calls() {
    const Lock lock(mutex_);
    return calls_;
  }
  int port() const { return server_.port(); }

 private:
  http::Response answer(http::Request& request) {
    {
      const Lock lock(mutex_);
      last_ = request;
      ++calls_;
    }
    before_answer();
    const Lock lock(mutex_);
    http::Response out;
    out.status = status_;
    out.body = body_;
    return out;
  }

  Mutex mutex_;
  int status_ COFFER_GUARDED_BY(mutex_) = 200;
  std::string body_ COFFER_GUARDED_BY(mutex_);
  http::Request last_ COFFER_GUARDED_BY(mutex_);
  int calls_ COFFER_GUARDED_BY(mutex_) = 0;
  RunningServer server_;
};

struct World {
  ManualClock clock;
  SeededRandom random{3};
  CaresResolver resolver;
  http::Client client{""};
  ConnectorRegistry registry{clock, resolver, client, random};
  Subject subject{registry, {}, {}, clock, random};
  Quiet quiet;

  explicit World(int port) {
    for (const Direction direction : {Direction::off_ramp, Direction::on_ramp}) {
      ConnectorTerms terms = conformance_terms(direction);
      terms.driver = DriverKind::http;
      terms.endpoint = ProviderEndpoint{"http://127.0.0.1:" + std::to_string(port) + "/api/",
                                        Secret(kSecret), 2'000};
      (direction == Direction::off_ramp ? subject.off_ramp : subject.on_ramp) = terms;
    }
  }
  const ConnectorTerms& terms() { return subject.off_ramp; }
};

std::string payout_json(const Payout& payout, const std::string& rest) {
  return R"({"id":")" + payout.id.to_string() + R"(","providerReference":"P-1",)" + rest + "}";
}

}  // namespace

TEST_CASE("a payout is one signed POST with everything the provider needs") {
  Stub stub;
  World world(stub.port());
  const Payout payout = payout_to(world.subject, "0123456789");
  stub.set(202, payout_json(payout, R"("status":"pending")"));
  const auto answer = world.registry.submit(world.terms(), payout);
  REQUIRE(answer);
  CHECK(answer->state == PayoutState::pending);
  CHECK(answer->provider_reference == "P-1");
  const http::Request sent = stub.last();
  CHECK(sent.method == "POST");
  CHECK(sent.path == "/api/payouts");
  CHECK(verify(Secret(kSecret), world.clock.now(), sent.header("coffer-timestamp"),
               sent.header("coffer-signature"), {"POST", "/api/payouts", sent.body}));
  CHECK(sent.header("coffer-request-id") != nullptr);
  const auto body = http::parse_json(sent.body);
  REQUIRE(body);
  const auto text = [&](const char* name) { return *body->find(name)->string(); };
  CHECK(text("id") == payout.id.to_string());
  CHECK(text("connectorId") == world.terms().id.to_string());
  CHECK(text("sendAmount") == "100.00");
  CHECK(text("assetCode") == "USDC");
  CHECK(text("receiveAmount") == "154025.00");
  CHECK(text("currencyIsoCode3") == "NGN");
  CHECK(text("transactionType") == "B2C");
  CHECK(text("toRef") == "INV-7");
  CHECK(*body->find("recipient")->find("accountNumber")->string() == "0123456789");
  CHECK(*body->find("recipient")->find("details")->find("bankCode")->string() == "044");
  CHECK(*body->find("additionalFields")->find("taxId")->string() == "12-34");
}

TEST_CASE("times from a provider are converted to the clock of the records") {
  Stub stub;
  World world(stub.port());
  ForwardClock records(world.clock);
  records.begin_at(world.clock.now().plus_ms(3'600'000));
  ConnectorRegistry registry{records, world.resolver, world.client, world.random};
  const Timestamp told = world.clock.now().plus_ms(120'000);
  stub.set(200, R"({"sendAmount":"10","receiveAmount":"1","rate":"1","fee":"0","expiresAt":")" +
                    told.to_string() + R"("})");
  const auto quote = registry.quote(world.terms(), {amount_of("10"), false, TransactionType::c2b});
  REQUIRE(quote);
  CHECK(quote->expires_at == records.now().plus_ms(120'000));
  // The provider's clock determines the validity of a signature.
  const http::Request sent = stub.last();
  CHECK(verify(Secret(kSecret), world.clock.now(), sent.header("coffer-timestamp"),
               sent.header("coffer-signature"), {"POST", "/api/quotes", sent.body}));

  Collection collection = collection_from(world.subject, "1234567890");
  collection.expires_at = records.now().plus_ms(600'000);
  stub.set(202, R"({"id":")" + collection.id.to_string() +
                    R"(","status":"pending","instructions":{"reference":"1"},"expiresAt":")" +
                    told.to_string() + R"("})");
  const auto answer = registry.collect(world.subject.on_ramp, collection);
  REQUIRE(answer);
  CHECK(answer->expires_at == records.now().plus_ms(120'000));
  CHECK(stub.last().body.find(world.clock.now().plus_ms(600'000).to_string()) != std::string::npos);
}

TEST_CASE("responses of a provider to a payout, and their meaning") {
  Stub stub;
  World world(stub.port());
  const Payout payout = payout_to(world.subject, "0123456789");
  const auto with = [&](const char* rest) { return payout_json(payout, rest); };
  struct Case {
    int status;
    std::string body;
    std::optional<PayoutState> state;  // nullopt: provider-error
    std::optional<FailureCode> failure;
    ProviderRefund refund = ProviderRefund::returned;
  };
  using enum PayoutState;
  const std::vector<Case> cases = {
      {200, with(R"("status":"succeeded")"), succeeded, {}},
      {202, with(R"("status":"in_review","extra":[1])"), in_review, {}},
      {200,
       with(
           R"("status":"failed","failure":{"code":"account_closed","message":"x"},"refund":"returned")"),
       failed, FailureCode::account_closed},
      {200, with(R"("status":"failed","failure":{"code":"never_heard_of"},"refund":"refused")"),
       failed, FailureCode::provider_error, ProviderRefund::refused},
      // A provider may not report coffer's own failures.
      {200, with(R"("status":"failed","failure":{"code":"trustline_missing"})"), failed,
       FailureCode::provider_error, ProviderRefund::pending},
      {422, R"({"code":"name_mismatch","message":"m"})", failed, FailureCode::name_mismatch},
      {422, R"({"code":"never_heard_of","message":"m"})", {}, {}},
      {422, "sorry", {}, {}},
      {400, R"({"code":"name_mismatch"})", {}, {}},
      {401, R"({"code":"bad_signature"})", {}, {}},
      {404, R"({"code":"payout_not_found"})", {}, {}},
      {409, R"({"code":"id_conflict"})", {}, {}},
      {500, with(R"("status":"succeeded")"), {}, {}},
      {302, with(R"("status":"succeeded")"), {}, {}},
      {200, "", {}, {}},
      {200, "<html>", {}, {}},
      {200, "[]", {}, {}},
      {200, "{}", {}, {}},
      {200, with(R"("status":"done")"), {}, {}},
      {200, with(R"("status":"never_arrived")"), {}, {}},
      {200, with(R"("status":null)"), {}, {}},
      {200, with(R"("status":"failed","failure":"no")"), {}, {}},
      {200, with(R"("status":"failed","refund":"perhaps")"), {}, {}},
      {200, R"({"id":"0190a5a0-0000-7000-8000-000000000001","status":"succeeded"})", {}, {}},
      {200, R"({"status":"succeeded"})", {}, {}},
      {200,
       with(R"("status":"succeeded","pad":")")
           .insert(1, "\"a\":\"" + std::string(300'000, 'x') + "\","),
       {},
       {}},
  };
  for (const Case& c : cases) {
    INFO(c.status << " " << c.body.substr(0, 200));
    World fresh(stub.port());  // with a separate breaker
    stub.set(c.status, c.body);
    const auto answer = fresh.registry.submit(fresh.terms(), payout);
    REQUIRE(answer.has_value() == c.state.has_value());
    if (!answer) {
      CHECK(answer.error().slug == Slug::provider_error);
      CHECK(answer.error().detail.find("127.0.0.1") == std::string::npos);
      continue;
    }
    CHECK(answer->state == *c.state);
    CHECK(answer->failure == c.failure);
    if (answer->state == failed) CHECK(answer->refund == c.refund);
  }
}

TEST_CASE("a payout that contradicts the payment or itself is an error") {
  Stub stub;
  World world(stub.port());
  const Payout payout = payout_to(world.subject, "0123456789");
  const auto accepts = [&](const std::string& rest) {
    World fresh(stub.port());  // with a separate breaker
    stub.set(200, payout_json(payout, rest));
    return fresh.registry.payout_status(fresh.terms(), payout).has_value();
  };
  const std::string send = payout.send.to_string(2), receive = payout.receive.to_string(2);
  CHECK(accepts(R"("status":"succeeded","sendAmount":")" + send + R"(","receiveAmount":")" +
                receive + R"(","failure":null,"refund":null)"));
  for (const char* wrong :
       {R"("status":"succeeded","sendAmount":"100.01")", R"("status":"pending","sendAmount":"0")",
        R"("status":"succeeded","receiveAmount":"1.00")", R"("status":"pending","receiveAmount":1)",
        R"("status":"succeeded","refund":"returned")",
        R"("status":"pending","failure":{"code":"account_closed"})"}) {
    INFO(wrong);
    CHECK_FALSE(accepts(wrong));
  }
}

TEST_CASE("only the protocol's own 404 means that a payout never arrived") {
  Stub stub;
  World world(stub.port());
  const Payout payout = payout_to(world.subject, "0123456789");
  stub.set(404, R"({"code":"payout_not_found","message":"no"})");
  CHECK(world.registry.payout_status(world.terms(), payout)->state == PayoutState::never_arrived);
  CHECK(stub.last().method == "GET");
  CHECK(stub.last().path == "/api/payouts/" + payout.id.to_string());
  for (const char* body : {"", "<html>404</html>", "{}", R"({"code":"not_found"})",
                           R"({"code":"collection_not_found"})", R"({"code":404})"}) {
    INFO(body);
    stub.set(404, body);
    const auto answer = world.registry.payout_status(world.terms(), payout);
    REQUIRE_FALSE(answer);
    CHECK(answer.error().slug == Slug::provider_error);
  }
}

TEST_CASE("the members of a quote are amounts, a rate and a fee") {
  Stub stub;
  World world(stub.port());
  const auto quote = [&](std::string_view send, std::string_view receive, std::string_view rest) {
    World fresh(stub.port());
    stub.set(200, R"({"sendAmount":)" + std::string(send) + R"(,"receiveAmount":)" +
                      std::string(receive) + "," + std::string(rest) + "}");
    return fresh.registry.quote(fresh.terms(), {amount_of("10"), false, TransactionType::c2b});
  };
  constexpr std::string_view kRest = R"("rate":"1540.25","fee":"0.05")";
  const auto good = quote(R"("10.00")", R"("15402.50")", kRest);
  REQUIRE(good);
  CHECK(good->fee == amount_of("0.05"));
  CHECK_FALSE(good->expires_at);
  CHECK(stub.last().body.find(R"("transactionType":"C2B")") != std::string::npos);
  CHECK(quote(R"("10")", R"("1")", R"("rate":"1","fee":"0")")->fee == Amount());
  const auto full =
      quote(R"("10")", R"("1")",
            R"("rate":"1","fee":"0","providerQuoteId":"Q","expiresAt":"2026-01-01T00:02:00Z")");
  REQUIRE(full);
  CHECK(full->reference == "Q");
  CHECK(full->expires_at == Timestamp{1'767'225'720'000});
  for (const auto& [send, receive, rest] : std::vector<std::array<const char*, 3>>{
           {R"("10")", R"("1")", R"("rate":"1e0","fee":"0")"},
           {"10", R"("1")", R"("rate":"1","fee":"0")"},
           {R"("10")", R"("0")", R"("rate":"1","fee":"0")"},
           {R"("10")", R"("1.001")", R"("rate":"1","fee":"0")"},
           {R"("10")", R"("1")", R"("rate":"0","fee":"0")"},
           {R"("10")", R"("1")", R"("rate":1,"fee":"0")"},
           {R"("10")", R"("1")", R"("rate":"1","fee":"-1")"},
           {R"("10")", R"("1")", R"("rate":"1")"},
           {R"("10")", R"("1")", R"("rate":"1","fee":"0","expiresAt":"soon")"},
           {R"("10")", R"("1")", R"("rate":"1","fee":"0","providerQuoteId":7)"}}) {
    INFO(send << " " << receive << " " << rest);
    const auto bad = quote(send, receive, rest);
    REQUIRE_FALSE(bad);
    CHECK(bad.error().slug == Slug::provider_error);
  }
}

TEST_CASE("a missing provider and a connector without an endpoint are unavailable") {
  int port = 0;
  {
    const Stub gone;
    port = gone.port();
  }
  World world(port);
  const Payout payout = payout_to(world.subject, "0123456789");
  ConnectorTerms nowhere = world.terms();
  nowhere.endpoint.reset();
  ConnectorTerms strange = world.terms();
  strange.endpoint->base_url = "https://user@pay.example";
  ConnectorTerms unknown = world.terms();
  unknown.endpoint->base_url = "http://127.1/";
  for (const ConnectorTerms& terms : {world.terms(), nowhere, strange, unknown}) {
    const auto answer = world.registry.submit(terms, payout);
    REQUIRE_FALSE(answer);
    CHECK(answer.error().slug == Slug::provider_unavailable);
    CHECK(answer.error().retry_after_s.has_value());
  }
}

TEST_CASE(
    "a call is one request on the wire, however it ends and however many addresses there are") {
  using After = RawHost::After;
  for (const After after : {After::close, After::reset, After::garbage, After::silence}) {
    const RawHost host(after);
    World world(host.port());
    FixedResolver addresses({"127.0.0.1", "127.0.0.2"});
    ConnectorRegistry registry(world.clock, addresses, world.client, world.random);
    ConnectorTerms terms = world.terms();
    terms.endpoint->timeout_ms = 500;
    const Slug slug = after == After::silence ? Slug::provider_timeout : Slug::provider_error;
    CHECK(registry.submit(terms, payout_to(world.subject, "0123456789")).error().slug == slug);
    CHECK(host.requests() == 1);
    CHECK(registry.submit(terms, payout_to(world.subject, "0123456789")).error().slug == slug);
    CHECK(host.requests() == 2);
    const Collection collection = collection_from(world.subject, "0123456789");
    CHECK(registry.collect(terms, collection).error().slug == slug);
    CHECK(host.requests() == 3);
  }
}

TEST_CASE("a failing provider is not called for a while, then retried") {
  Stub stub;
  World world(stub.port());
  const Payout payout = payout_to(world.subject, "0123456789");
  const auto submit = [&] { return world.registry.submit(world.terms(), payout); };
  stub.set(503, "{}");
  for (int i = 0; i < 5; ++i) CHECK(submit().error().slug == Slug::provider_error);
  CHECK(stub.calls() == 5);
  const auto rejected = submit();
  CHECK(rejected.error().slug == Slug::provider_unavailable);
  CHECK(rejected.error().retry_after_s == 10);
  CHECK(stub.calls() == 5);
  CHECK(world.registry.breaker(world.terms().key).kind == BreakerState::Kind::open);
  CHECK(world.registry.breaker(world.subject.on_ramp.key).kind == BreakerState::Kind::closed);

  world.clock.advance_ms(10'000);
  stub.set(202, payout_json(payout, R"("status":"pending")"));
  CHECK(submit());
  CHECK(world.registry.breaker(world.terms().key).kind == BreakerState::Kind::closed);
}

TEST_CASE("rejections do not open the breaker of a provider") {
  Stub stub;
  World world(stub.port());
  const Payout payout = payout_to(world.subject, "0123456789");
  stub.set(400, R"({"code":"malformed","message":"m"})");
  for (int i = 0; i < 8; ++i) CHECK_FALSE(world.registry.submit(world.terms(), payout));
  CHECK(stub.calls() == 8);
}

TEST_CASE("the registry selects the driver of the terms") {
  Stub stub;
  World world(stub.port());
  ConnectorTerms sandbox = world.terms();
  sandbox.driver = DriverKind::sandbox;
  const Payout payout = payout_to(world.subject, "0123456789");
  CHECK(world.registry.submit(sandbox, payout)->state == PayoutState::succeeded);
  CHECK(stub.calls() == 0);
  CHECK_FALSE(sandbox.calls_out());
  CHECK(world.terms().calls_out());
}

TEST_CASE("two callers wait for each provider, and all others get an error immediately") {
  constexpr int kRequests = 12;
  coffer::http::test::Gatekeeper gate;
  Stub stub;
  stub.set(500, "{}");
  stub.before_answer = [&] { gate.wait(); };
  World world(stub.port());
  std::atomic<int> rejected{0};
  std::atomic<int> failed{0};
  std::vector<Thread> requests;
  for (int i = 0; i < kRequests; ++i) {
    requests.emplace_back("request", [&, i] {
      const auto& terms = i % 2 == 0 ? world.subject.off_ramp : world.subject.on_ramp;
      const Slug slug =
          i % 3 == 0 ? world.registry.issue_reference(terms, {}).error().slug
                     : world.registry.quote(terms, {amount_of("100"), false, {}}).error().slug;
      ++(slug == Slug::provider_unavailable ? rejected : failed);
    });
  }
  const SystemClock clock;
  const std::int64_t deadline_ms = clock.monotonic_ms() + 1'500;
  const auto waiting = [&] { return kRequests - rejected - failed; };
  while (waiting() > 2 * ConnectorRegistry::kRequestsWaitingMax &&
         clock.monotonic_ms() < deadline_ms) {
    ::poll(nullptr, 0, 1);
  }
  const int rejected_at_once = rejected;
  gate.open();
  for (Thread& request : requests) request.join();
  // The keys of both connectors differ.
  CHECK(rejected_at_once == kRequests - 2 * ConnectorRegistry::kRequestsWaitingMax);
  CHECK(stub.calls() == 2 * ConnectorRegistry::kRequestsWaitingMax);
  const auto next = world.registry.quote(world.terms(), {amount_of("100"), false, {}});
  CHECK(next.error().slug == Slug::provider_error);
}

TEST_CASE("slow responses to waiting requests open the breaker") {
  const auto state_after = [](std::int64_t lasts_ms, bool payout) {
    Stub stub;
    World world(stub.port());
    stub.set(404, R"({"code":"payout_not_found"})");
    stub.before_answer = [&] { world.clock.advance_ms(lasts_ms); };
    const Payout sent = payout_to(world.subject, "0123456789");
    for (int i = 0; i < Breakers::kFaultsToOpen; ++i) {
      if (payout) {
        CHECK(world.registry.payout_status(world.terms(), sent));
      } else {
        CHECK(world.registry.quote(world.terms(), {amount_of("100"), false, {}}).error().slug ==
              Slug::provider_error);
      }
    }
    CHECK(stub.calls() == Breakers::kFaultsToOpen);
    return world.registry.breaker(world.terms().key).kind;
  };
  CHECK(state_after(ProviderHttp::kLateMs, false) == BreakerState::Kind::closed);
  CHECK(state_after(ProviderHttp::kLateMs + 1, false) == BreakerState::Kind::open);
  CHECK(state_after(9'000, false) == BreakerState::Kind::open);
  // No request waits for calls of a worker.
  CHECK(state_after(9'000, true) == BreakerState::Kind::closed);
}

}  // namespace http_connector_test
