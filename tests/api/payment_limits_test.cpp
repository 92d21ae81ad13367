// Limits of payments (docs/contract.md#payment-limits).
#include <catch2/catch.hpp>

#include "base/thread.h"
#include "flows/payments/limits.h"
#include "support/connectors.h"
#include "support/recipients.h"
#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace payment_limits_test {
namespace {

const std::string kTransfer = "/v1/payments/p2p/own";
const std::string kMulti = "/v1/payments/p2p/own/multi";
const std::string kOfframp = "/v1/payments/offramp";
constexpr std::int64_t kHour = 3'600'000;

struct Limits {
  const char* per_payment = nullptr;
  const char* per_day = nullptr;
  const char* per_month = nullptr;
  std::optional<int> count_per_day = {};
  std::optional<int> count_per_month = {};
};

PaymentLimitsChange change_of(const Limits& limits) {
  PaymentLimitsChange out;
  if (limits.per_payment) out.set<&PaymentLimits::per_payment>(amount(limits.per_payment));
  if (limits.per_day) out.set<&PaymentLimits::per_day>(amount(limits.per_day));
  if (limits.per_month) out.set<&PaymentLimits::per_month>(amount(limits.per_month));
  if (limits.count_per_day) out.set<&PaymentLimits::payments_per_day>(*limits.count_per_day);
  if (limits.count_per_month) out.set<&PaymentLimits::payments_per_month>(*limits.count_per_month);
  return out;
}

struct World {
  TestApp app{[](Config& config) { config.token_lifetime_s = 10'000'000; }};
  const Client& me = app.me();
  std::string from = app.wallet("USDC", "1000");
  std::string to = app.wallet("USDC", "1000");
  flows::LimitOwner everyone{.association = app.association()};
  flows::LimitOwner wallet{.wallet = WalletId::parse(from)};

  store::LimitRow set(const flows::LimitOwner& owner, const Limits& limits,
                      const char* asset = "USDC") {
    return flows::set_limit(app.flows(), owner, AssetCode::parse(asset).value(), change_of(limits))
        .value();
  }
  /// "amount/payments amount/payments" of the present day and month.
  std::string used(const flows::LimitOwner& owner) {
    return app.flows()
        .read([&](store::Connection& db) {
          const auto row = flows::limit_of(db, owner, AssetCode::parse("USDC").value()).value();
          const LimitUse use = current_use(row->use, app.clock.now());
          return use.day.amount.to_string(2) + "/" + std::to_string(use.day.payments) + " " +
                 use.month.amount.to_string(2) + "/" + std::to_string(use.month.payments);
        })
        .value();
  }
  Reply pay(const char* amount) { return me.post(kTransfer, transfer_body(from, to, amount)); }
};

void check_exceeded(const Reply& reply, const std::string& detail, const char* field = "amount") {
  INFO(reply.text());
  CHECK(reply.status == 422);
  CHECK(reply.slug() == "limit-exceeded");
  CHECK(reply.json().at("detail") == detail);
  CHECK(reply.fields() == std::vector<std::string>{field});
}

}  // namespace

TEST_CASE("payment limits: each names itself, what is left and when it frees") {
  World world;
  world.app.clock.advance_ms(30 * 24 * kHour + 20 * kHour);  // 2026-01-31T20:00
  struct Row {
    Limits limits;
    const char* amount;
    std::string detail;
  };
  const std::string january = " the limit frees at 2026-02-01T00:00:00.000Z.";
  for (const Row& row : std::vector<Row>{
           {{.per_payment = "50"},
            "50.0000001",
            "The payment exceeds the limit of the wallet per payment, 50.00 USDC."},
           {{.per_day = "100"},
            "60",
            "The payment exceeds the limit of the wallet per day, 100.00 USDC. Left are 50.00 "
            "USDC;" +
                january},
           {{.per_month = "99"},
            "50",
            "The payment exceeds the limit of the wallet per month, 99.00 USDC. Left are 49.00 "
            "USDC;" +
                january},
           {{.count_per_day = 1},
            "1",
            "The payment exceeds the limit of the wallet per day, 1 payments in USDC. Left are 0 "
            "payments;" +
                january},
           {{.count_per_month = 1},
            "1",
            "The payment exceeds the limit of the wallet per month, 1 payments in USDC. Left are 0 "
            "payments;" +
                january}}) {
    INFO(row.detail);
    world.set(world.wallet, row.limits);
    REQUIRE(world.pay("50").status == 202);
    const Json body = transfer_body(world.from, world.to, row.amount);
    check_exceeded(world.me.post(kTransfer, body), row.detail);
    check_exceeded(world.me.post(kTransfer + "/validate", body), row.detail);
    CHECK(world.used(world.wallet) == "50.00/1 50.00/1");
    // Another wallet is not limited.
    CHECK(world.me.post(kTransfer, transfer_body(world.to, world.from, "60")).status == 202);
    flows::remove_limit(world.app.flows(), world.wallet, AssetCode::parse("USDC").value()).value();
    CHECK(world.me.post(kTransfer, body).status == 202);
    world.app.settle();
  }
}

TEST_CASE(
    "payment limits: a day and a month end at midnight UTC, and the counters survive a restart") {
  World world;
  world.app.clock.advance_ms(30 * 24 * kHour + 23 * kHour);  // 2026-01-31T23:00
  world.set(world.wallet, {.per_day = "10", .per_month = "15"});
  REQUIRE(world.pay("10").status == 202);
  world.app.restart();
  CHECK(world.pay("0.01").slug() == "limit-exceeded");
  world.app.clock.advance_ms(kHour - 1);
  CHECK(world.pay("0.01").slug() == "limit-exceeded");
  world.app.clock.advance_ms(1);
  CHECK(world.used(world.wallet) == "0.00/0 0.00/0");
  REQUIRE(world.pay("10").status == 202);
  world.app.clock.advance_ms(24 * kHour);
  CHECK(world.used(world.wallet) == "0.00/0 10.00/1");
  CHECK(world.pay("5.01").slug() == "limit-exceeded");
  REQUIRE(world.pay("5").status == 202);
  CHECK(world.used(world.wallet) == "5.00/1 15.00/2");
}

TEST_CASE("payment limits: of the association, the application and the wallet all hold") {
  World world;
  const auto credentials = world.app.register_application(world.app.association());
  const flows::LimitOwner application{
      .application =
          world.app.flows()
              .read([](store::Connection& db) { return store::find_application_by_key(db, 1)->id; })
              .value()};
  world.set(world.everyone, {.per_day = "100"});
  world.set(application, {.per_day = "80"});
  world.set(world.wallet, {.per_day = "60"});
  REQUIRE(world.pay("50").status == 202);
  CHECK(world.pay("11").json().at("detail").get<std::string>().find("of the wallet") !=
        std::string::npos);
  const auto back = [&](const char* amount) {
    return world.me.post(kTransfer, transfer_body(world.to, world.from, amount));
  };
  CHECK(back("31").json().at("detail").get<std::string>().find("of the application") !=
        std::string::npos);
  REQUIRE(back("30").status == 202);
  world.set(application, {.per_day = "1000"});
  CHECK(back("21").json().at("detail").get<std::string>().find("of the association") !=
        std::string::npos);
  CHECK(world.used(world.everyone) == "80.00/2 80.00/2");
  CHECK(world.used(world.wallet) == "50.00/1 50.00/1");
  // Other associations, environments and assets are not limited.
  const Client stranger = world.app.stranger();
  const std::string a = stranger.wallet("USDC", "500"), b = stranger.wallet("USDC");
  CHECK(stranger.post(kTransfer, transfer_body(a, b, "500")).status == 202);
  const std::string euros = world.app.wallet("EURC", "500"), more = world.app.wallet("EURC");
  CHECK(world.me.post(kTransfer, transfer_body(euros, more, "500", "EURC")).status == 202);
}

TEST_CASE("payment limits: a replay counts once, a rejected payment not at all") {
  World world;
  world.set(world.wallet, {.per_day = "10"});
  const Json body = transfer_body(world.from, world.to, "6");
  for (int i = 0; i < 3; ++i) CHECK(world.me.post(kTransfer, body).status == 202);
  CHECK(world.me.post(kTransfer + "/validate", transfer_body(world.from, world.to, "4")).status ==
        200);
  CHECK(world.pay("5000").slug() == "insufficient-funds");
  CHECK(world.used(world.wallet) == "6.00/1 6.00/1");
  // Beyond a limit that was lowered since, a repeated submission still gets its acknowledgement.
  world.set(world.wallet, {.per_day = "1"});
  CHECK(world.me.post(kTransfer, body).status == 202);
  CHECK(world.pay("1").slug() == "limit-exceeded");
}

TEST_CASE("payment limits: each leg of a multi-transfer counts") {
  World world;
  world.set(world.wallet, {.per_day = "10", .count_per_day = 2});
  const auto legs = [&](std::vector<const char*> amounts) {
    std::vector<Json> out;
    for (const char* each : amounts) out.push_back(transfer_body(world.from, world.to, each));
    return world.me.post(kMulti, multi_body(out));
  };
  CHECK(legs({"6", "5"}).fields() == std::vector<std::string>{"transfers[1].amount"});
  CHECK(legs({"1", "1", "1"}).fields() == std::vector<std::string>{"transfers[2].amount"});
  REQUIRE(legs({"6", "4"}).status == 202);
  CHECK(world.used(world.wallet) == "10.00/2 10.00/2");
}

TEST_CASE("payment limits: what fails, expires or is given back is free again") {
  World world;
  const std::string connector = add_connector(world.app);
  const std::string recipient = add_recipient(world.me);
  world.set(world.everyone, {.per_day = "150"});
  const Json quoted = quote_for(world.me, connector, recipient, "100");
  const std::string payout = world.me.pay(kOfframp, cash_out_body(quoted, world.from, recipient));
  CHECK(world.used(world.everyone) == "100.00/1 100.00/1");  // without the fee
  const Reply beyond = world.me.post(
      "/v1/quotes", {{"connectorId", connector}, {"amount", "50.01"}, {"transactionType", "B2C"}});
  CHECK(beyond.slug() == "limit-exceeded");
  const Json other = quote_for(world.me, connector, recipient, "50");
  REQUIRE(world.me.post(kTransfer, transfer_body(world.from, world.to, "50")).status == 202);
  CHECK(world.me.post(kOfframp, cash_out_body(other, world.from, recipient)).fields() ==
        std::vector<std::string>{"quoteId"});
  REQUIRE(world.me.post("/v1/sandbox/transactions/" + payout + "/fail", Json::object()).status <
          300);
  for (int i = 0; i < 20; ++i) {
    world.app.clock.advance_ms(1'000);
    world.app.settle();
  }
  INFO(world.me.record(payout).dump());
  CHECK(world.used(world.everyone) == "50.00/1 50.00/1");
}

TEST_CASE("payment limits: concurrent payments do not pass together") {
  World world;
  world.set(world.wallet, {.per_day = "90"});
  std::vector<Reply> replies(12);
  std::vector<Json> bodies;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    bodies.push_back(transfer_body(world.from, world.to, "30"));
  }
  {
    std::vector<Thread> threads;
    for (std::size_t i = 0; i < replies.size(); ++i) {
      // All share the one connection that reads for payments. On a busy machine, some wait for it
      // for too long, and repeat the request, as its 503 says.
      threads.emplace_back("client", [&, i] {
        do {
          replies[i] = world.me.post(kTransfer, bodies[i]);
        } while (replies[i].status == 503);
      });
    }
    for (Thread& thread : threads) thread.join();
  }
  int accepted = 0;
  for (const Reply& reply : replies) {
    if (reply.status == 202) ++accepted;
    CHECK((reply.status == 202 || reply.slug() == "limit-exceeded"));
  }
  CHECK(accepted == 3);
  CHECK(world.used(world.wallet) == "90.00/3 90.00/3");
}

TEST_CASE(
    "payment limits: a limit counts from when it was set, and keeps its counters when it changes") {
  World world;
  REQUIRE(world.pay("100").status == 202);
  world.set(world.wallet, {.per_day = "10"});
  CHECK(world.used(world.wallet) == "0.00/0 0.00/0");
  REQUIRE(world.pay("10").status == 202);
  const auto row = world.set(world.wallet, {.count_per_day = 5});
  CHECK(row.limits.per_day == amount("10"));
  CHECK(world.used(world.wallet) == "10.00/1 10.00/1");
  CHECK(world.pay("1").slug() == "limit-exceeded");
  const auto nothing = PaymentLimitsChange()
                           .set<&PaymentLimits::per_day>(std::nullopt)
                           .set<&PaymentLimits::payments_per_day>(std::nullopt);
  CHECK(flows::set_limit(world.app.flows(), world.wallet, AssetCode::parse("USDC").value(), nothing)
            .error()
            .slug == Slug::validation_failed);
}

}  // namespace payment_limits_test
