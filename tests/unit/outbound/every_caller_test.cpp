// Every call to another machine reads a response in the same way, whatever precedes it.
#include <catch2/catch.hpp>
#include <functional>

#include "base/digest.h"
#include "outbound/archive/s3_bucket.h"
#include "outbound/identity_provider.h"
#include "outbound/key_set.h"
#include "outbound/operations/messenger.h"
#include "outbound/providers/breaker.h"
#include "outbound/providers/provider_http.h"
#include "outbound/webhooks/webhook_sender.h"
#include "support/receiver.h"

using namespace coffer;
using namespace coffer::outbound;
using coffer::test::Receiver;

namespace every_caller_test {
namespace {

struct World {
  ManualClock clock;
  SeededRandom random{3};
  CaresResolver resolver;
  http::Client client{""};
  Secret secret{"whsec_" + to_base64(std::string(32, 'k'))};
  Receiver receiver;
  const std::string url = receiver.url();

  WebhookSender sender() {
    return WebhookSender(
        clock, resolver,
        AllowedTargets::parse({"127.0.0.1"}, {std::to_string(receiver.port())}).value(), "",
        10'000);
  }
};

/// One call, and whether it accepted the response.
struct Caller {
  const char* name;
  std::string body;  // a good response
  std::function<bool(World&)> call;
};

std::string discovery(const std::string& url) {
  return R"({"issuer":")" + url + R"(","authorization_endpoint":")" + url +
         R"(/a","token_endpoint":")" + url + R"(/t","jwks_uri":")" + url + R"(/k"})";
}

const std::vector<Caller>& callers() {
  static const std::vector<Caller> all = {
      {"webhook", "ok",
       [](World& w) {
         return w.sender().send({"id-1", w.url, Environment::sandbox, "{}", {w.secret}}).status ==
                200;
       }},
      {"alert", "ok",
       [](World& w) {
         Messenger messenger({.webhook_url = w.url, .webhook_secret = w.secret}, w.clock,
                             w.resolver, w.client);
         return messenger.send({MessageChannel::webhook, "", "id-1", "s", "t", "{}"}).sent;
       }},
      {"notification", "ok",
       [](World& w) {
         Messenger messenger({.gateway_url = w.url, .gateway_token = Secret("t")}, w.clock,
                             w.resolver, w.client);
         return messenger.send({MessageChannel::messaging, "+254712345678", "id-1", "", "text"})
             .sent;
       }},
      {"provider", "{}",
       [](World& w) {
         Breakers breakers(w.clock);
         ProviderHttp provider(w.clock, w.resolver, w.client, w.random, breakers);
         ConnectorTerms terms;
         terms.endpoint = ProviderEndpoint{w.url, Secret("s"), 5'000};
         return provider.call(terms, {"POST", "/payouts", "{}"}).has_value();
       }},
      {"archive", "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>",
       [](World& w) {
         const ArchiveSettings settings{.endpoint = "http://127.0.0.1:" +
                                                    std::to_string(w.receiver.port())};
         S3Bucket bucket(settings, {.bucket = "archive"}, {w.client, w.resolver, w.clock});
         return bucket.list("", "").has_value();
       }},
      {"key set", "{}",
       [](World& w) {
         KeySet keys(w.url, 5'000, w.clock, w.client, w.resolver);
         return keys.read(KeySet::Need::usual).has_value();
       }},
      {"identity provider", "", [](World& w) {
         return IdentityProvider(w.url, w.clock, w.client, w.resolver).endpoints().has_value();
       }}};
  return all;
}

std::string many_fields() {
  std::string out;
  for (int i = 0; i < 150; ++i) out += "X-" + std::to_string(i) + ": v\r\n";
  return out;
}

}  // namespace

TEST_CASE("every caller skips informational responses, and sends its request once", "[outbound]") {
  const std::vector<std::string> interim = {
      "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
      "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n",
      "HTTP/1.1 100 Continue\r\nX: y\r\n\r\n",
      "HTTP/1.1 103 Early Hints\r\n" + many_fields() + "\r\n",
      "HTTP/1.1 103 Early Hints\r\nLink: " + std::string(20'000, 'l') + "\r\n\r\n"};
  for (const Caller& caller : callers()) {
    for (const std::string& before : interim) {
      INFO(caller.name << ": " << before.substr(0, 60));
      World world;
      const std::string body = caller.body.empty() ? discovery(world.url) : caller.body;
      world.receiver.otherwise({.body = body, .before = before});
      CHECK(caller.call(world));
      CHECK(world.receiver.count() == 1);
    }
  }
}

TEST_CASE("every caller reads a large header", "[outbound]") {
  for (const Caller& caller : callers()) {
    INFO(caller.name);
    World world;
    const std::string body = caller.body.empty() ? discovery(world.url) : caller.body;
    coffer::test::HeaderList headers = {{"X-Long", std::string(20'000, 'v')}};
    for (int i = 0; i < 150; ++i) headers.emplace_back("X-" + std::to_string(i), "v");
    world.receiver.otherwise({.headers = headers, .body = body});
    CHECK(caller.call(world));
    CHECK(world.receiver.count() == 1);
  }
}

}  // namespace every_caller_test
