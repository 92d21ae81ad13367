// The result of a response, and the time of the next attempt (docs/contract.md#delivery).
#include "domain/webhooks/webhook.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <limits>
#include <set>

#include "domain/webhooks/event_type.h"

using namespace coffer;

namespace {

NextStep ruled(int status, int attempt = 1, std::uint64_t jitter = 0,
               Environment environment = Environment::production,
               std::optional<std::int64_t> retry_after_ms = std::nullopt) {
  return next_step_after({status, retry_after_ms}, attempt, environment, DeliveryPolicy(), jitter);
}

}  // namespace

TEST_CASE("webhook: 2xx is success, everything else is not") {
  for (const int status : {200, 201, 202, 204, 226, 299}) {
    CHECK(ruled(status).state == DeliveryState::delivered);
  }
  for (const int status : {0, 199, 300, 301, 304, 400, 401, 404, 429, 500, 503, 999}) {
    INFO(status);
    CHECK(ruled(status).state == DeliveryState::pending);
    CHECK_FALSE(ruled(status).disables);
  }
}

TEST_CASE("webhook: the schedule, with a jitter of 20 % both ways") {
  struct Row {
    Environment environment;
    int attempt;
    std::int64_t wanted_ms;
  };
  for (const Row& row :
       {Row{Environment::production, 1, 5'000}, Row{Environment::production, 2, 300'000},
        Row{Environment::sandbox, 1, 1'000}, Row{Environment::sandbox, 2, 10'000}}) {
    const auto delay = [&](std::uint64_t jitter) {
      const NextStep next = ruled(500, row.attempt, jitter, row.environment);
      CHECK(next.state == DeliveryState::pending);
      return next.delay_ms;
    };
    const std::int64_t spread = row.wanted_ms / 5;
    CHECK(delay(0) == row.wanted_ms - spread);
    CHECK(delay(static_cast<std::uint64_t>(spread)) == row.wanted_ms);
    CHECK(delay(static_cast<std::uint64_t>(2 * spread)) == row.wanted_ms + spread);
    for (std::uint64_t jitter = 1; jitter != 0; jitter *= 3'000'000'019) {
      CHECK(std::abs(delay(jitter) - row.wanted_ms) <= spread);
      if (jitter > std::numeric_limits<std::uint64_t>::max() / 3'000'000'019) break;
    }
  }
  CHECK(ruled(500, 3).state == DeliveryState::dead);
  CHECK(ruled(0, 3).state == DeliveryState::dead);
  CHECK(ruled(200, 3).state == DeliveryState::delivered);
}

TEST_CASE("webhook: an endpoint may ask for more time, up to an hour") {
  const auto after = [](std::int64_t ms, int status = 500) {
    return ruled(status, 1, 0, Environment::production, ms);
  };
  CHECK(after(60'000).delay_ms == 60'000);
  CHECK(after(86'400'000).delay_ms == 3'600'000);
  CHECK(after(0).delay_ms == 4'000);
  CHECK(after(-5).delay_ms == 4'000);
  CHECK(after(60'000).quiet_ms == 0);
  for (const int status : {429, 503}) {
    CHECK(after(60'000, status).quiet_ms == 60'000);
    CHECK(ruled(status).quiet_ms == 5'000);
  }
}

TEST_CASE("webhook: 410 disables the endpoint immediately") {
  const NextStep next = ruled(410);
  CHECK(next.disables);
  CHECK(next.state == DeliveryState::dead);
}

TEST_CASE("webhook: the last delay repeats when there are more attempts") {
  DeliveryPolicy policy;
  policy.attempts = 6;
  const auto delay = [&](int attempt) {
    return next_step_after({500, {}}, attempt, Environment::production, policy, 0).delay_ms;
  };
  CHECK(delay(2) == 240'000);
  CHECK(delay(5) == 240'000);
}

TEST_CASE("event types: names are unique, and webhook.test cannot be subscribed to") {
  std::set<std::string_view> names;
  for (const Term& term : event_type_terms()) {
    CHECK(names.insert(term.code).second);
    const auto type = parse_event_type(term.code);
    REQUIRE(type);
    CHECK(name(*type) == term.code);
  }
  // Every type but the test, in enum order.
  CHECK(names.size() + 1 == event_types().size());
  CHECK_FALSE(parse_event_type("webhook.test"));
  CHECK_FALSE(parse_event_type("*"));
  CHECK_FALSE(parse_event_type(""));
}

TEST_CASE("event types: a payment has seven") {
  const EventTypeSet all = EventTypeSet::payments();
  CHECK(all.types().size() == 7);
  for (const EventType type : all.types()) CHECK(name(type).starts_with("payment."));
  CHECK_FALSE(all.contains(EventType::wallet_status_changed));
  CHECK(EventTypeSet::from_bits(all.bits()) == all);
  CHECK(EventTypeSet().empty());
}
