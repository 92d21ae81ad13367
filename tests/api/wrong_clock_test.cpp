// The machine's clock was ahead and is corrected: nothing waits until it catches up.
#include <catch2/catch.hpp>

#include "cli/admin/site.h"
#include "support/connectors.h"
#include "support/recipients.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace {

std::string metrics(TestApp& app) {
  cli::AdminSite site(app.core());
  http::Request request;
  request.method = "GET";
  request.path = "/metrics";
  request.peer = "127.0.0.1";
  return site.handle(request).body;
}

/// An off-ramp of 100 USDC that the sandbox decides after a few seconds.
std::string cash_out(TestApp& app, const std::string& connector, const std::string& wallet) {
  const std::string beneficiary = add_recipient(app.me(), "1202");
  return app.me().pay(
      "/v1/payments/offramp",
      cash_out_body(quote_for(app.me(), connector, beneficiary), wallet, beneficiary));
}

std::string status_after_10_s(TestApp& app, const std::string& id) {
  for (int passed = 0; passed < 10'000; passed += 250) {
    app.settle();
    app.clock.advance_ms(250);
  }
  return app.me().record(id).at("status");
}

}  // namespace

TEST_CASE("a step back: a payment at its provider continues immediately, in a running server") {
  TestApp app;
  const std::string wallet = app.wallet("USDC", "1000"), connector = add_connector(app);
  const std::string id = cash_out(app, connector, wallet);
  app.settle();
  app.clock.set_by_ms(-kHourMs);
  CHECK(status_after_10_s(app, id) == "succeeded");
}

TEST_CASE("a step back: a payment at its provider continues immediately, after a restart") {
  TestApp app;
  const std::string wallet = app.wallet("USDC", "1000"), connector = add_connector(app);
  const std::string id = cash_out(app, connector, wallet);
  app.settle();
  app.clock.set_by_ms(-kHourMs);
  app.restart();
  CHECK(status_after_10_s(app, id) == "succeeded");
}

TEST_CASE("a step back: quotes are issued, valid for 120 s and then expire") {
  TestApp app;
  const std::string wallet = app.wallet("USDC", "1000"), connector = add_connector(app);
  app.clock.set_by_ms(-kHourMs);
  const std::string beneficiary = add_recipient(app.me(), "5678");
  const Json first = quote_for(app.me(), connector, beneficiary);
  const Json second = quote_for(app.me(), connector, beneficiary);
  app.clock.advance_ms(119'000);
  CHECK(app.me().post("/v1/payments/offramp", cash_out_body(first, wallet, beneficiary)).status ==
        202);
  app.clock.advance_ms(2'000);
  CHECK(app.me().post("/v1/payments/offramp", cash_out_body(second, wallet, beneficiary)).slug() ==
        "quote-expired");
}

TEST_CASE("a step back: the times of records continue") {
  TestApp app;
  const std::string from = app.wallet("USDC", "10"), to = app.wallet("USDC");
  const std::string before = app.me().pay("/v1/payments/p2p/own", transfer_body(from, to, "1"));
  app.settle();
  app.clock.set_by_ms(-kHourMs);
  app.clock.advance_ms(1'000);
  const std::string after = app.me().pay("/v1/payments/p2p/own", transfer_body(from, to, "1"));
  app.settle();
  const std::string first = app.me().record(before).at("createdAt");
  const std::string second = app.me().record(after).at("createdAt");
  CHECK(Timestamp::parse(second)->ms == Timestamp::parse(first)->ms + 1'000);
}

TEST_CASE("a step back: healthz stays ready and reports it, and a metric measures it") {
  TestApp app;
  CHECK_FALSE(app.anonymous().get("/healthz").json().contains("details"));
  CHECK(metrics(app).find("\ncoffer_clock_behind_seconds 0\n") != std::string::npos);
  app.clock.set_by_ms(-kHourMs);
  const Reply reply = app.anonymous().get("/healthz");
  CHECK(reply.status == 200);
  const Json body = reply.json();
  CHECK(body.at("status") == "ok");
  CHECK(body.at("details").at("clock") ==
        "The system clock is 3600 s behind the timestamps of the records.");
  for (const auto& [name, value] : body.at("checks").items()) CHECK(value == "ok");
  CHECK(metrics(app).find("\ncoffer_clock_behind_seconds 3600\n") != std::string::npos);
  app.clock.set_by_ms(kHourMs);
  CHECK_FALSE(app.anonymous().get("/healthz").json().contains("details"));
}

TEST_CASE("a step back: tokens keep their lifetime exactly") {
  TestApp app;
  const auto works = [&] { return app.me().get("/v1/wallets").status == 200; };
  CHECK(works());
  app.clock.set_by_ms(-2 * kHourMs);
  CHECK(works());
  app.clock.advance_ms(app.config().token_lifetime_s * std::int64_t{1'000} + 1'000);
  CHECK(app.me().get("/v1/wallets").slug() == "token-expired");
}
