// coffer demo --seed: a week of history (docs/sandbox.md#a-week-of-history).
#include <catch2/catch.hpp>
#include <set>

#include "cli/demo/demo_secrets.h"
#include "cli/demo/demo_seed.h"
#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::OpenFile;

namespace {

struct Week {
  explicit Week(std::uint64_t seed)
      : file([](Config& config) { config.webhook_allow_targets = {"127.0.0.0/8"}; }) {
    REQUIRE(claim_demo(file.path()));
    started = file.clock().now();
    const DemoWorld world = ensure_demo_world(file.app()).value();
    const DemoSecrets secrets = ensure_demo_secrets(file.app(), world.association).value();
    const auto made = make_demo_history(file.app(), file.clock(), world, secrets.application, seed,
                                        [](const Progress&) {});
    INFO((made ? std::string() : made.error().detail));
    REQUIRE(made);
    payments = file.run("payment list", {{"limit", "200"}}).json();
  }
  std::set<std::string> values(const std::string& key) const {
    std::set<std::string> out;
    for (const nlohmann::json& payment : payments) out.insert(payment.at(key).get<std::string>());
    return out;
  }
  /// The visible history, without IDs.
  std::vector<std::string> story() const {
    std::vector<std::string> out;
    for (const nlohmann::json& payment : payments) {
      std::string line;
      for (const char* key : {"transactionId", "type", "status", "sendingAmount", "createdAt"}) {
        line += payment.at(key).dump() + " ";
      }
      // The provider of the reference payments numbers them by their IDs.
      if (payment.at("type") != "onramp_reference") out.push_back(line);
    }
    return out;
  }

  OpenFile file;
  Timestamp started;
  nlohmann::json payments;
};

}  // namespace

TEST_CASE("demo history: all kinds and outcomes, within a week, and the books hold",
          "[cli][demo]") {
  Week week(GENERATE(7U, 8U, 9U));
  CHECK(week.payments.size() == 112);
  CHECK(week.values("type") == std::set<std::string>{"p2p_own", "p2p_own_multi", "p2p_beneficiary",
                                                     "swap_own", "swap_beneficiary", "offramp",
                                                     "onramp", "onramp_reference"});
  CHECK(week.values("status") == std::set<std::string>{"succeeded", "failed", "processing",
                                                       "refunded", "refund_failed", "expired"});
  const std::int64_t passed = week.file.clock().now().ms - week.started.ms;
  CHECK(passed < kHistoryMs);
  CHECK(passed > kHistoryMs - 3'600'000);
  CHECK(week.file.run("verify").code == 0);

  std::map<std::string, int> wallets;
  for (const nlohmann::json& wallet : week.file.run("wallet list", {{"limit", "200"}}).json()) {
    ++wallets[wallet.at("status").get<std::string>()];
  }
  CHECK(wallets["Rejected"] == 1);
  CHECK(wallets["Pending"] == 3);  // including that of a new demo
  const nlohmann::json webhooks = week.file.run("webhook list").json();
  REQUIRE(webhooks.size() == 1);
  const nlohmann::json deliveries =
      week.file.run("webhook deliveries", {{"ID", webhooks[0].at("id")}}).json();
  CHECK_FALSE(deliveries.empty());
  for (const nlohmann::json& delivery : deliveries) CHECK(delivery.at("status") != "delivered");
}

TEST_CASE("demo history: the same seed gives the same history, another seed another",
          "[cli][demo]") {
  const auto first = Week(7).story();
  CHECK(first == Week(7).story());
  CHECK(first != Week(8).story());
}
