// The figures of /metrics follow the events that they count.
#include <catch2/catch.hpp>
#include <map>
#include <sstream>
#include <string>

#include "cli/admin/site.h"
#include "support/armed_fault.h"
#include "support/connectors.h"
#include "support/receiver.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace {

/// Every sample of a page, by its name and labels as written.
using Samples = std::map<std::string, double>;

Samples parse(const std::string& text) {
  Samples out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    const auto at = line.rfind(' ');
    REQUIRE(at != std::string::npos);
    INFO(line);
    CHECK(out.emplace(line.substr(0, at), std::stod(line.substr(at + 1))).second);
  }
  return out;
}

class Scraper {
 public:
  explicit Scraper(TestApp& app) : app_(app), site_(app.core()) {}

  /// Advances by a second, so that the queues are read again.
  Samples operator()() {
    app_.clock.advance_ms(1'000);
    return parse(text());
  }
  std::string text() {
    http::Request request;
    request.method = "GET";
    request.path = "/metrics";
    request.peer = "127.0.0.1";
    const auto response = site_.handle(request);
    REQUIRE(response.status == 200);
    return response.body;
  }

 private:
  TestApp& app_;
  cli::AdminSite site_;
};

double value(const Samples& samples, const std::string& name) {
  const auto found = samples.find(name);
  return found == samples.end() ? -1 : found->second;
}

std::string payments(const char* type, const char* status) {
  return std::string("coffer_payments_total{type=\"") + type + "\",status=\"" + status + "\"}";
}

std::string requests(const char* method, const char* route, const char* status) {
  return std::string("coffer_http_requests_total{method=\"") + method + "\",route=\"" + route +
         "\",status=\"" + status + "\"}";
}

}  // namespace

TEST_CASE("metrics: requests are counted by the pattern of their route") {
  TestApp app;
  Scraper scrape(app);
  const std::string wallet = app.wallet("USDC");
  for (int i = 0; i < 3; ++i) app.me().get("/v1/wallets/" + wallet);
  app.me().get("/gw/v1/wallets/" + wallet);
  app.me().get("/v1/wallets/00000000-0000-7000-8000-000000000000");
  const Samples samples = scrape();
  CHECK(value(samples, requests("GET", "/v1/wallets/{walletId}", "200")) == 4);
  CHECK(value(samples, requests("GET", "/v1/wallets/{walletId}", "404")) == 1);
  CHECK(value(samples,
              "coffer_http_request_duration_seconds_count{method=\"GET\",route=\"/v1/wallets/"
              "{walletId}\"}") == 5);
}

TEST_CASE("metrics: client input never becomes a label") {
  TestApp app;
  Scraper scrape(app);
  app.anonymous().get("/warm");
  scrape();  // counts itself, from the second on
  const auto before = scrape().size();
  for (int i = 0; i < 50; ++i) {
    app.anonymous().get("/evil-" + std::to_string(i));
    app.anonymous().send({"BREW" + std::to_string(i), "/v1/wallets", {}, {}});
    app.anonymous().send({"OPTIONS", "/v1/wallets", {}, {}});
  }
  const std::string text = scrape.text();
  CHECK(text.find("evil") == std::string::npos);
  CHECK(text.find("BREW") == std::string::npos);
  const Samples samples = parse(text);
  CHECK(value(samples, requests("unmatched", "unmatched", "404")) == 51);
  CHECK(value(samples, requests("unmatched", "unmatched", "405")) == 50);
  CHECK(value(samples, requests("unmatched", "unmatched", "204")) == 50);
  CHECK(samples.size() <= before + 2);
}

TEST_CASE("metrics: a payment counts once in each status; replays and rejections do not count") {
  TestApp app;
  Scraper scrape(app);
  const std::string from = app.wallet("USDC", "10"), to = app.wallet("USDC");
  Samples samples = scrape();
  CHECK(value(samples, payments("p2p_own", "initiated")) == 0);
  const Json body = transfer_body(from, to, "4");
  CHECK(app.me().post("/v1/payments/p2p/own", body).status == 202);
  CHECK(app.me().post("/v1/payments/p2p/own", body).status == 202);  // a replay
  CHECK(app.me().post("/v1/payments/p2p/own", transfer_body(from, to, "400")).status >= 400);
  app.clock.advance_ms(4'000);
  samples = scrape();
  CHECK(value(samples, payments("p2p_own", "initiated")) == 1);
  CHECK(value(samples, payments("p2p_own", "succeeded")) == 0);
  CHECK(value(samples, "coffer_queue_waiting{queue=\"settlement\"}") == 1);
  CHECK(value(samples, "coffer_queue_lateness_seconds{queue=\"settlement\"}") == 5);
  CHECK(value(samples, "coffer_oldest_unsettled_payment_age_seconds") == 5);
  CHECK(value(samples, "coffer_settlement_delay_seconds_count") == 0);
  app.settle();
  samples = scrape();
  CHECK(value(samples, payments("p2p_own", "initiated")) == 1);
  CHECK(value(samples, payments("p2p_own", "processing")) == 1);
  CHECK(value(samples, payments("p2p_own", "succeeded")) == 1);
  CHECK(value(samples, "coffer_queue_waiting{queue=\"settlement\"}") == 0);
  CHECK(value(samples, "coffer_oldest_unsettled_payment_age_seconds") == 0);
  CHECK(value(samples, "coffer_settlement_delay_seconds_count") == 1);
  CHECK(value(samples, "coffer_settlement_delay_seconds_sum") >= 5);
  // Fails at settlement: the pool is empty.
  app.rate("USDC", "EURC", "1");
  app.me().pay("/v1/payments/swap/own", swap_body(from, app.wallet("EURC"), "1", "USDC", "EURC"));
  app.settle();
  CHECK(value(scrape(), payments("swap_own", "failed")) == 1);
}

TEST_CASE("metrics: deliveries, failed deliveries and waiting work") {
  Receiver receiver;
  TestApp app;
  Scraper scrape(app);
  const std::string from = app.wallet("USDC", "10"), to = app.wallet("USDC");
  app.me().post("/v1/webhooks",
                {{"url", receiver.url()}, {"eventTypes", Json::array({"payment.initiated"})}});
  app.me().transfer(from, to, "1");
  Samples samples = scrape();
  CHECK(value(samples, "coffer_webhook_endpoints") == 1);
  CHECK(value(samples, "coffer_webhook_events_behind") == 1);
  CHECK(app.deliver() == 1);
  samples = scrape();
  CHECK(value(samples, "coffer_webhook_attempts_total{outcome=\"delivered\"}") == 1);
  CHECK(value(samples, "coffer_webhook_deliveries_total{state=\"delivered\"}") == 1);
  CHECK(value(samples, "coffer_webhook_attempt_duration_seconds_count") == 1);
  CHECK(value(samples, "coffer_webhook_events_behind") == 0);
  receiver.otherwise({.status = 500});
  app.me().transfer(from, to, "1");
  app.deliver();
  samples = scrape();
  CHECK(value(samples, "coffer_queue_waiting{queue=\"webhooks\"}") == 1);
  CHECK(value(samples, "coffer_webhook_endpoints_failing") == 1);
  for (int i = 0; i < 5; ++i) {
    app.clock.advance_ms(3'600'000);
    app.deliver();
  }
  samples = scrape();
  CHECK(value(samples, "coffer_webhook_attempts_total{outcome=\"rejected\"}") == 3);
  CHECK(value(samples, "coffer_webhook_deliveries_total{state=\"dead\"}") == 1);
  CHECK(value(samples, "coffer_webhook_dead_letters") == 1);
  CHECK(value(samples, "coffer_queue_waiting{queue=\"webhooks\"}") == 0);
}

TEST_CASE("metrics: calls to a provider, by result, and its breaker") {
  TestApp app;
  Scraper scrape(app);
  const std::string quick = add_connector(app);
  const std::string slow = add_http_connector(app, "http://127.0.0.1:1");
  quote(app.me(), quick);
  const Json ask = {{"connectorId", slow}, {"amount", "10"}, {"transactionType", "B2C"}};
  for (int i = 0; i < outbound::Breakers::kFaultsToOpen; ++i) {
    CHECK(app.me().post("/v1/quotes", ask).status == 503);
  }
  const Samples samples = scrape();
  const auto calls = [&](const std::string& connector, const std::string& outcome) {
    return value(samples, "coffer_connector_calls_total{connector=\"" + connector +
                              "\",call=\"quote\",outcome=\"" + outcome + "\"}");
  };
  CHECK(calls(quick, "ok") == 1);
  CHECK(calls(slow, "ok") == -1);
  CHECK(value(samples,
              "coffer_connector_call_duration_seconds_count{connector=\"" + quick + "\"}") == 1);
  CHECK(calls(slow, "provider-unavailable") == outbound::Breakers::kFaultsToOpen);
  const auto breaker = [&](const char* state) {
    return value(samples,
                 "coffer_connector_breaker{connector=\"" + slow + "\",state=\"" + state + "\"}");
  };
  CHECK(breaker("open") == 1);
  CHECK(breaker("closed") == 0);
  CHECK(breaker("half_open") == 0);
  CHECK(value(samples, "coffer_connector_paused{connector=\"" + slow + "\"}") == 0);
  pause_connector(app, slow);
  CHECK(value(scrape(), "coffer_connector_paused{connector=\"" + slow + "\"}") == 1);
}

TEST_CASE("metrics: rate limits, and wrong secrets") {
  TestApp app([](Config& config) {
    config.rate_limit_sandbox_per_s = 1;
    config.rate_limit_sandbox_burst = 2;
    config.rate_limit_login_per_min = 3;
  });
  Scraper scrape(app);
  for (int i = 0; i < 5; ++i) app.me().get("/v1/assets");
  Json body = app.me().token_request();
  body["clientSecret"] = "wrong";
  int wrong = 0;
  int throttled = 0;
  for (int i = 0; i < 5; ++i) {
    const int status = app.anonymous().post("/v1/auth/token", body).status;
    (status == 401 ? wrong : throttled) += 1;
  }
  const Samples samples = scrape();
  CHECK(value(samples, "coffer_rate_limited_requests_total{limit=\"application\"}") == 3);
  CHECK(value(samples, "coffer_sign_in_failures_total{surface=\"api\"}") == wrong);
  CHECK(value(samples, "coffer_rate_limited_requests_total{limit=\"login\"}") == throttled);
  CHECK(wrong > 0);
  CHECK(throttled > 0);
}

TEST_CASE("metrics: state of the server") {
  TestApp app;
  const std::string from = app.wallet("USDC", "5");
  const std::string to = app.wallet("USDC");
  Scraper scrape(app);
  const Samples samples = scrape();
  for (const char* name :
       {"coffer_ready", "coffer_invariants_hold", "coffer_backlog_known",
        "coffer_health_check{check=\"writer\"}", "coffer_health_check{check=\"disk\"}",
        "coffer_health_check{check=\"settlement\"}", "coffer_health_check{check=\"invariants\"}",
        "coffer_health_check{check=\"serving\"}"}) {
    INFO(name);
    CHECK(value(samples, name) == 1);
  }
  for (const char* name :
       {"coffer_database_size_bytes", "coffer_wal_size_bytes", "coffer_disk_free_bytes",
        "coffer_readers_limit{pool=\"read\"}", "coffer_commit_batch_commands_count",
        "coffer_commit_duration_seconds_count", "process_cpu_seconds_total",
        "process_resident_memory_bytes", "process_open_fds", "process_max_fds", "process_threads",
        "process_start_time_seconds"}) {
    INFO(name);
    CHECK(value(samples, name) > 0);
  }
  for (const char* name :
       {"coffer_storage_full", "coffer_commit_queue_commands",
        "coffer_readers_rejected_total{pool=\"read\"}", "coffer_backup_interval_seconds",
        "coffer_backup_last_success_timestamp_seconds"}) {
    INFO(name);
    CHECK(value(samples, name) == 0);
  }
  const ArmedFault fault("disk.full:0=fail");
  app.clock.advance_ms(1'000);
  REQUIRE(app.me().post("/v1/payments/p2p/own", transfer_body(from, to, "1")).slug() ==
          "storage-full");
  const Samples full = scrape();
  CHECK(value(full, "coffer_health_check{check=\"disk\"}") == 0);
  CHECK(value(full, "coffer_ready") == 0);
}
