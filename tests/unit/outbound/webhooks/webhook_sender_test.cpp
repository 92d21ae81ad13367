// One attempt over a real socket: signatures, pinned addresses, and valid responses.
#include "outbound/webhooks/webhook_sender.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <vector>

#include "base/digest.h"
#include "base/thread.h"
#include "http/client.h"
#include "outbound/webhooks/webhook_signature.h"
#include "support/held_port.h"
#include "unit/http/running_server.h"
#include "unit/outbound/raw_host.h"

using namespace coffer;
using namespace coffer::outbound;
using coffer::http::test::RunningServer;
using coffer::outbound::test::FixedResolver;
using coffer::outbound::test::RawHost;
using coffer::test::HeldPort;

namespace webhook_sender_test {
namespace {

/// Returns the most recently set addresses, like a name server whose records change.
class Rebinding final : public Resolver {
 public:
  Result<std::vector<std::string>> resolve(const std::string&, int) override {
    ++asked;
    return addresses;
  }
  std::vector<std::string> addresses = {"127.0.0.1"};
  int asked = 0;
};

AllowedTargets targets(const std::string& one, int port = 443) {
  return AllowedTargets::parse(one.empty() ? std::vector<std::string>() : std::vector{one},
                               {std::to_string(port)})
      .value();
}

struct World {
  explicit World(const char* allowed = "127.0.0.1")
      : server({},
               [this](http::Request& request) {
                 last = request;
                 ++calls;
                 return reply;
               }),
        sender(clock, resolver, targets(allowed, server.port()), "", 10'000) {}

  WebhookResponse send() {
    WebhookMessage message;
    message.id = "id-1";
    message.url = "http://hooks.example:" + std::to_string(server.port()) + "/in?x=1";
    message.body = R"({"a":1})";
    message.secrets = {secret};
    return sender.send(message);
  }

  http::Response reply;
  http::Request last;
  int calls = 0;
  ManualClock clock;
  Rebinding resolver;
  Secret secret{"whsec_" + to_base64(std::string(32, 'k'))};
  RunningServer server;
  WebhookSender sender;
};

}  // namespace

TEST_CASE("signatures equal those of the published examples") {
  // standard-webhooks, spec and libraries.
  CHECK(standard_signature(Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
                           "msg_p5jXN8AQM9LWM0D4loKWxJek", 1'614'265'330,
                           R"({"test": 2432232314})") ==
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  // RFC 4231, test case 2, in the format of the contract's header.
  CHECK(svc_signature("Jefe", "what do ya want for nothing?") ==
        "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST_CASE("every secret signs, in one header") {
  const Secret first("whsec_" + to_base64("one")), second("whsec_" + to_base64("two"));
  const auto headers = delivery_headers("id", Timestamp{1'500}, "body", {first, second});
  const auto value = [&](std::string_view name) {
    for (const auto& [key, text] : headers) {
      if (key == name) return text;
    }
    return std::string();
  };
  CHECK(value("webhook-signature") == standard_signature(first, "id", 1, "body") + " " +
                                          standard_signature(second, "id", 1, "body"));
  CHECK(value("X-Webhook-Ts") == "1500");
  CHECK(value("webhook-timestamp") == "1");
}

TEST_CASE("sender: the request, and the stored part of the response") {
  World world;
  world.reply.body = std::string(5'000, 'x');
  const WebhookResponse answer = world.send();
  CHECK(answer.status == 200);
  CHECK(answer.fault.empty());
  CHECK(answer.response == std::string(4'096, 'x'));
  CHECK(world.last.method == "POST");
  CHECK(world.last.path == "/in");
  CHECK(world.last.body == R"({"a":1})");
  CHECK(*world.last.header("host") == "hooks.example:" + std::to_string(world.server.port()));
  CHECK(*world.last.header("X-Webhook-Id") == "id-1");
}

TEST_CASE("sender: the signed headers and the response's headers are in the result") {
  World world;
  world.reply.headers = {{"X-Trace", "abc"}, {"Set-Cookie", "session=top-secret"}};
  const WebhookResponse answer = world.send();
  CHECK(answer.sent);
  CHECK(answer.signatures == *world.last.header("webhook-signature"));
  CHECK(std::to_string(answer.signed_at.ms) == *world.last.header("X-Webhook-Ts"));
  for (const auto& [name, value] :
       attempt_headers("id-1", answer.signed_at, world.last.body, answer.signatures)) {
    INFO(name);
    REQUIRE(world.last.header(name) != nullptr);
    CHECK(*world.last.header(name) == value);
  }
  CHECK(answer.response_headers.find("X-Trace: abc\n") != std::string::npos);
  CHECK(answer.response_headers.find("Set-Cookie: [redacted]\n") != std::string::npos);
  CHECK(answer.response_headers.find("top-secret") == std::string::npos);
}

TEST_CASE("header lines: credentials are redacted in any case, and the size is bounded") {
  CHECK(header_lines({}).empty());
  CHECK(header_lines({{"set-cookie", "a"}, {"AUTHORIZATION", "b"}, {"Server", "c"}}) ==
        "set-cookie: [redacted]\nAUTHORIZATION: [redacted]\nServer: c\n");
  const std::vector<std::pair<std::string, std::string>> many(100,
                                                              {"X-Long", std::string(90, 'x')});
  const std::string cut = header_lines(many);
  CHECK(cut.size() <= WebhookResponse::kHeaderBytesMax);
  CHECK(cut.size() > WebhookResponse::kHeaderBytesMax - 200);
  const std::size_t lines = static_cast<std::size_t>(std::count(cut.begin(), cut.end(), '\n')) - 1;
  CHECK(cut.ends_with("[" + std::to_string(100 - lines) + " more]\n"));
  CHECK(header_lines({{"X-Long", std::string(3'000, 'x')}, {"Server", "c"}}) ==
        "Server: c\n[1 more]\n");
}

TEST_CASE("sender: a connection is reused, but only after its address was checked again") {
  World world;
  CHECK(world.send().status == 200);
  CHECK(world.send().status == 200);
  CHECK(world.sender.client().opened() == 1);
  CHECK(world.resolver.asked == 2);
  for (const char* address : {"10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1"}) {
    world.resolver.addresses = {address};
    const WebhookResponse answer = world.send();
    CHECK(answer.status == 0);
    CHECK_FALSE(answer.fault.empty());
  }
  // One permitted address does not compensate for a forbidden one.
  world.resolver.addresses = {"127.0.0.1", "10.0.0.1"};
  CHECK(world.send().status == 0);
  CHECK(world.calls == 2);
  CHECK(world.sender.client().opened() == 1);
}

TEST_CASE("sender: without permission, no connection to this machine is made") {
  World world("");
  for (const char* address : {"127.0.0.1", "::1", "0.0.0.0", "::ffff:127.0.0.1", "127.0.0.2"}) {
    world.resolver.addresses = {address};
    CHECK(world.send().status == 0);
  }
  CHECK(world.resolver.asked == 5);
  CHECK(world.calls == 0);
  CHECK(world.sender.client().opened() == 0);
}

TEST_CASE("sender: a redirect is not followed") {
  World world;
  world.reply.status = 307;
  world.reply.header("Location", "/elsewhere");
  CHECK(world.send().status == 307);
  CHECK(world.calls == 1);
}

TEST_CASE("sender: no server, and no response in time") {
  World world;
  WebhookMessage message;
  message.id = "id-1";
  message.url = "http://hooks.example:1/";
  message.secrets = {world.secret};
  const WebhookResponse answer = world.sender.send(message);
  CHECK(answer.status == 0);
  CHECK(answer.fault == http::kNotConnected);
}

TEST_CASE("sender: an attempt is one request on the wire, however many addresses there are") {
  using After = RawHost::After;
  for (const After after : {After::close, After::reset, After::garbage, After::silence}) {
    const RawHost host(after);
    const ManualClock clock;
    FixedResolver addresses({"127.0.0.1", "127.0.0.2"});
    WebhookSender sender(clock, addresses, targets("127.0.0.0/8"), "", 500);
    WebhookMessage message;
    message.id = "id-1";
    message.url = "http://hooks.example:" + std::to_string(host.port()) + "/";
    CHECK(sender.send(message).status == 0);
    CHECK(host.requests() == 1);
  }
}

TEST_CASE("sender: an address that does not accept connections leaves time for the next one") {
  const HeldPort port;
  RunningServer server([&](http::ServerOptions& options) { options.port = port.number(); });
  // The listen queue is full, so further connections get no response, as behind a firewall.
  const int full = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
  address.sin_port = htons(static_cast<std::uint16_t>(port.number()));
  const socklen_t size = sizeof address;
  REQUIRE(::bind(full, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::listen(full, 0) == 0);
  std::vector<int> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ::connect(waiting.back(), reinterpret_cast<sockaddr*>(&address), size);
  }
  FixedResolver addresses({"127.0.0.2", "127.0.0.1"});
  const ManualClock clock;
  WebhookSender sender(clock, addresses, targets("127.0.0.0/8"), "", 1'000);
  WebhookMessage message;
  message.id = "id-1";
  message.url = "http://hooks.example:" + std::to_string(server.port()) + "/";
  const WebhookResponse answer = sender.send(message);
  CHECK(answer.fault.empty());
  CHECK(answer.status == 200);
  for (const int fd : waiting) ::close(fd);
  ::close(full);
}

TEST_CASE("Retry-After is accepted as seconds or as a date in each of the three forms") {
  const Timestamp now = *Timestamp::parse("1994-11-06T08:49:00Z");
  constexpr std::int64_t kDay = 86'400'000;
  const std::vector<std::pair<const char*, std::int64_t>> accepted = {
      {"120", 120'000},
      {"0", 0},
      {"99999999999999999999", kDay},
      {"Sun, 06 Nov 1994 08:49:37 GMT", 37'000},
      {"Sun, 06 Nov 1994 08:48:00 GMT", 0},
      {"Sunday, 06-Nov-94 08:49:37 GMT", 37'000},
      {"Monday, 07-Nov-94 08:48:59 GMT", kDay - 1'000},
      {"Sun Nov  6 08:49:37 1994", 37'000},
      {"Sun Nov 06 08:49:37 1994", 37'000},
      {"Sat, 31 Dec 1994 23:59:60 GMT", kDay},
      // Two digits are a year at most 50 years ahead, otherwise one in the past.
      {"Sunday, 06-Nov-44 08:49:37 GMT", kDay},
      {"Sunday, 06-Nov-45 08:49:37 GMT", 0},
      {"Sunday, 06-Nov-93 08:49:37 GMT", 0},
      {"Sunday, 06-Nov-00 08:49:37 GMT", kDay}};
  for (const auto& [text, wait_ms] : accepted) {
    INFO(text);
    CHECK(parse_retry_after(text, now) == wait_ms);
  }
  for (const char* text : {"", "soon", "-1", "1.5", "12 s", "Sun, 06 Foo 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
                           "Tue, 31 Feb 1995 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT, 5",
                           "Sunday, 06-Nov-94 08:49:37", "Sun Nov  6 08:49:37",
                           "Sun Nov  6 25:49:37 1994", "1994-11-06T08:49:37Z"}) {
    INFO(text);
    CHECK_FALSE(parse_retry_after(text, now));
  }
}

TEST_CASE("sender: a registration resolves no name, so it reveals nothing about names") {
  World world("");
  for (const char* address : {"93.184.216.34", "10.0.0.1", "127.0.0.1"}) {
    world.resolver.addresses = {address};
    CHECK(world.sender.check_target("https://hooks.example/", Environment::production));
  }
  world.resolver.addresses.clear();
  CHECK(world.sender.check_target("https://hooks.example/", Environment::production));
  CHECK(world.resolver.asked == 0);
}

}  // namespace webhook_sender_test
