// Messages through a sendmail program and an HTTP gateway.
#include "outbound/operations/messenger.h"

#include <catch2/catch.hpp>

#include "support/listener.h"
#include "support/receiver.h"
#include "support/script.h"

using namespace coffer;
using namespace coffer::outbound;
using namespace coffer::test;

namespace messenger_test {
namespace {

constexpr const char* kPaymentText = "019b7653-d4c0-7000-8000-000000000001";

OutgoingMessage mail_to(const std::string& recipient) {
  return {MessageChannel::email, recipient, kPaymentText, "Payment received",
          "You received 1.00 USDC from A."};
}

OutgoingMessage message() {
  return {MessageChannel::messaging, "+254712345678", kPaymentText, "",
          "You received 1.00 USDC from A."};
}

struct World {
  ManualClock clock;
  http::Client client{""};
  CaresResolver resolver;

  Messenger messenger(MessengerSettings settings) {
    return Messenger(std::move(settings), clock, resolver, client);
  }
  SendResult send(MessengerSettings settings, const OutgoingMessage& message) {
    return messenger(std::move(settings)).send(message);
  }
  SendResult mail(const Script& script, const std::string& recipient, int timeout_ms = 10'000) {
    return send(
        {.mail = {.sendmail = script.path(), .from = "pay@bank.example", .timeout_ms = timeout_ms}},
        mail_to(recipient));
  }
  SendResult post(const std::string& url, int timeout_ms = 2'000) {
    return send({.gateway_url = url, .gateway_token = Secret("sesame"), .timeout_ms = timeout_ms},
                message());
  }
};

}  // namespace

TEST_CASE("only configured channels are served") {
  World world;
  const Messenger none = world.messenger({});
  CHECK_FALSE(none.serves(MessageChannel::email));
  CHECK_FALSE(none.serves(MessageChannel::messaging));
  CHECK_FALSE(none.serves(MessageChannel::webhook));
  CHECK_FALSE(world.send({}, mail_to("amina@example.com")).sent);
  const Messenger mail = world.messenger({.mail = {.sendmail = "/x", .from = "a@b.example"}});
  CHECK(mail.serves(MessageChannel::email));
  CHECK_FALSE(mail.serves(MessageChannel::messaging));
}

TEST_CASE("sendmail gets the recipient as its last argument and the complete message as input") {
  World world;
  const Script script("printf '%s\\n' \"$@\" > $OUT/arguments; cat > $OUT/mail");
  REQUIRE(world.mail(script, "amina@example.com").sent);
  CHECK(script.left("arguments") == "-i\n-f\npay@bank.example\n--\namina@example.com\n");
  const std::string sent = script.left("mail");
  CHECK(sent.starts_with("Date: "));
  CHECK(sent.substr(sent.find('\n') + 1) ==
        std::string("From: pay@bank.example\nTo: amina@example.com\nSubject: Payment received\n"
                    "Message-ID: <") +
            kPaymentText +
            "@bank.example>\nAuto-Submitted: auto-generated\nMIME-Version: 1.0\n"
            "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n"
            "You received 1.00 USDC from A.\n");
}

TEST_CASE("sendmail does not get the environment, which may contain secrets") {
  ::setenv("COFFER_MASTER_KEY", "sesame", 1);
  World world;
  const Script script("env > $OUT/environment");
  const auto sent = world.mail(script, "amina@example.com");
  ::unsetenv("COFFER_MASTER_KEY");
  REQUIRE(sent.sent);
  CHECK(script.left("environment").find("PATH=") != std::string::npos);
  CHECK(script.left("environment").find("COFFER") == std::string::npos);
}

TEST_CASE("an invalid address reaches neither a header nor a command line") {
  World world;
  const Script script("touch $OUT/called; echo x > $OUT/called");
  for (const char* recipient :
       {"amina@example.com\nBcc: eve@example.com", "amina@example.com, eve@example.com", "-oQ/tmp",
        "amina", "", "amina@example.com\r\n", "$(id)@", "a b@example.com"}) {
    INFO(recipient);
    CHECK_FALSE(world.mail(script, recipient).sent);
  }
  CHECK(script.left("called").empty());
}

TEST_CASE("failures of sendmail") {
  World world;
  const Script script("exit 75");
  const auto status = world.mail(script, "amina@example.com");
  REQUIRE_FALSE(status.sent);
  CHECK(status.detail == "sendmail exited with 75.");
  // The words of the program, on one line and without the recipient. What it writes never blocks
  // it.
  script.rewrite("printf 'warning:\\n\\tno room for amina@example.com.\\n' >&2; exit 75");
  CHECK(world.mail(script, "amina@example.com").detail ==
        "sendmail exited with 75. It reported: warning: no room for (recipient).");
  script.rewrite("head -c 1000000 /dev/zero | tr '\\0' x");
  CHECK(world.mail(script, "amina@example.com").sent);
  script.rewrite("kill -9 $$");
  CHECK_FALSE(world.mail(script, "amina@example.com").sent);
  // After the time limit, the program and its children have been killed.
  script.rewrite("sleep 60 & wait");
  const auto late = world.mail(script, "amina@example.com", 100);
  REQUIRE_FALSE(late.sent);
  CHECK(late.detail == "sendmail did not exit in time.");
  CHECK_FALSE(world
                  .send({.mail = {.sendmail = script.path() + "-not-there", .from = "a@b.example"}},
                        mail_to("amina@example.com"))
                  .sent);
}

TEST_CASE("mail ends when the calls of the client are cut") {
  const Script script("sleep 60 & wait");
  const Listener silent;
  const std::string port = std::to_string(silent.port());
  for (const MailSettings& settings :
       {MailSettings{.sendmail = script.path(), .from = "pay@bank.example", .timeout_ms = 60'000},
        MailSettings{.smtp_url = "smtp://localhost:" + port,
        .from = "pay@bank.example",
        .timeout_ms = 60'000}}) {
    World world;
    world.client.cut_after(100);
    const SystemClock clock;
    const std::int64_t began_ms = clock.monotonic_ms();
    CHECK_FALSE(world.send({.mail = settings}, mail_to("amina@example.com")).sent);
    CHECK(clock.monotonic_ms() - began_ms < 20'000);
    CHECK_FALSE(world.send({.mail = settings}, mail_to("amina@example.com")).sent);
    CHECK(clock.monotonic_ms() - began_ms < 20'000);
  }
}

TEST_CASE("a refused connection is named, without TLS to this machine in every spelling") {
  int port = 0;
  {
    const Listener closed;
    port = closed.port();
  }
  for (const char* host : {"127.0.0.1", "localhost", "LOCALHOST", "localhost.", "a.localhost"}) {
    World world;
    const auto sent =
        world.send({.mail = {.smtp_url = "smtp://" + std::string(host) + ":" + std::to_string(port),
                             .from = "pay@bank.example"}},
                   mail_to("amina@example.com"));
    INFO(host);
    REQUIRE_FALSE(sent.sent);
    CHECK_THAT(sent.detail, Catch::Matchers::Contains("Connection refused") ||
                                Catch::Matchers::Contains("Could not connect"));
  }
}

TEST_CASE("the address of a mail server has a scheme, a host and a port, and nothing else") {
  for (const char* good : {"smtp://localhost", "smtp://localhost:25", "smtp://mail.example:587",
                           "smtps://mail.example", "smtps://[2001:db8::1]:465", "smtp://[::1]",
                           "SMTP://mail.example"}) {
    INFO(good);
    CHECK(check_smtp_url(good).empty());
  }
  CHECK(smtp_host("smtps://[2001:db8::1]:465") == "2001:db8::1");
  for (const char* wrong :
       {"", "mail.example", "http://mail.example", "smtp:mail.example", "smtp://", "smtp://:587",
        "smtp://mail.example/", "smtp://mail.example:0", "smtp://mail.example:70000",
        "smtp://user:secret@mail.example", "smtp://mail.example?a", "smtp://mail example",
        "SMTPS//mail.example", "smtp://mail.example\r\nQUIT"}) {
    INFO(wrong);
    CHECK_FALSE(check_smtp_url(wrong).empty());
    CHECK(smtp_host(wrong).empty());
  }
}

TEST_CASE("the gateway gets a message with a key that identifies repetitions") {
  World world;
  Receiver gateway;
  REQUIRE(world.post(gateway.url("/messages?a=b")).sent);
  REQUIRE(world.post(gateway.url("/messages?a=b")).sent);
  const auto received = gateway.received();
  REQUIRE(received.size() == 2);
  CHECK(received[0].target == "/messages?a=b");
  CHECK(received[0].header("Authorization") == "Bearer sesame");
  CHECK(received[0].header("Content-Type") == "application/json");
  CHECK(received[0].json() == Json({{"idempotencyKey", std::string("notification-") + kPaymentText},
                                    {"paymentId", kPaymentText},
                                    {"text", "You received 1.00 USDC from A."},
                                    {"to", "+254712345678"}}));
  CHECK(received[0].body == received[1].body);
}

TEST_CASE("failures of the gateway, without address or token in the text") {
  World world;
  Receiver gateway;
  for (const int status : {199, 301, 400, 401, 404, 429, 500, 503}) {
    gateway.script({{.status = status, .headers = {{"Location", gateway.url("/other")}}}});
    const auto answer = world.post(gateway.url());
    INFO(status);
    REQUIRE_FALSE(answer.sent);
    CHECK(answer.detail.find("712345678") == std::string::npos);
    CHECK(answer.detail.find("sesame") == std::string::npos);
  }
  for (const auto kind : {Behaviour::Kind::reset, Behaviour::Kind::garbage}) {
    gateway.script({{.kind = kind}});
    CHECK_FALSE(world.post(gateway.url()).sent);
  }
  const Listener silent;
  CHECK_FALSE(world.post(silent.url(), 100).sent);
}

TEST_CASE("the URL of a gateway must protect the token") {
  CHECK(check_gateway_url("https://sms.example/v1/messages").empty());
  CHECK(check_gateway_url("http://127.0.0.1:9000/").empty());
  CHECK(check_gateway_url("http://localhost/").empty());
  CHECK_FALSE(check_gateway_url("http://sms.example/").empty());
  CHECK_FALSE(check_gateway_url("sms.example").empty());
  CHECK_FALSE(check_gateway_url("https://user:word@sms.example/").empty());
}

}  // namespace messenger_test
