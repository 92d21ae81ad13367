// Registrations, deliveries and their log in the store: guards, stored attempts, pruning,
// recoveries.
#include "store/webhooks/webhooks.h"

#include <catch2/catch.hpp>

#include "store/identity/quotas.h"
#include "store/webhooks/deliveries.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

struct Hooks : SmallLedger {
  WebhookRow add(EventTypeSet types) {
    WebhookRow row;
    row.id = random.id<WebhookId>(clock.now());
    row.application = application;
    row.url = "https://hooks.example/";
    row.types = types;
    row.sealed_secret = "sealed";
    write([&](WriteTx& tx) -> Result<void> {
      row.cursor = last_sequence(tx.db(), tenant);
      insert_webhook(tx, tenant, row);
      return {};
    }).value();
    return read([&](Connection& db) { return *find_webhook(db, tenant, row.id); });
  }
  template <class F>
  void change(F&& f) {
    write([&](WriteTx& tx) -> Result<void> {
      f(tx);
      return {};
    }).value();
  }
  void queue_all(const WebhookRow& row) {
    change([&](WriteTx& tx) {
      for (const EventRow& event : events_after(tx.db(), tenant, 0, 100)) {
        insert_delivery(tx, tenant, row.key, event.sequence, DeliveryState::pending);
      }
    });
  }
  std::vector<DeliveryRow> due(const WebhookRow& row) {
    return read(
        [&](Connection& db) { return due_deliveries(db, tenant, row.key, queue->now(), 100); });
  }
  std::vector<DeliveryRow> all(const WebhookRow& row) {
    return read([&](Connection& db) {
      return list_deliveries(db, tenant, row.key, {}, {.limit = 100}).rows;
    });
  }
};

}  // namespace

TEST_CASE("webhooks: the writer knows whether one is active") {
  Hooks hooks;
  const auto known = [&] {
    bool has = false;
    hooks
        .write(
            [&](WriteTx& tx) -> Result<void> {
              has = tx.known().has_webhooks();
              return {};
            },
            CommitQueue::Mode::repeatable)
        .value();
    return has;
  };
  CHECK_FALSE(known());
  const WebhookRow row = hooks.add(EventTypeSet::payments());
  CHECK(known());
  hooks.change([&](WriteTx& tx) { disable_webhook(tx, row, DisableReason::by_owner); });
  CHECK_FALSE(known());
}

TEST_CASE("webhooks: a claimed type cannot be claimed again, and disabling is permanent") {
  Hooks hooks;
  const WebhookRow row = hooks.add(EventTypeSet::payments());
  CapturedLog log;
  WebhookRow second = row;
  second.id = hooks.random.id<WebhookId>(hooks.clock.now());
  CHECK_FALSE(hooks.write([&](WriteTx& tx) -> Result<void> {
    insert_webhook(tx, hooks.tenant, second);
    return {};
  }));
  hooks.change([&](WriteTx& tx) { disable_webhook(tx, row, DisableReason::endpoint_gone); });
  CHECK_FALSE(hooks.write([&](WriteTx& tx) -> Result<void> {
    tx.db().execute("UPDATE webhooks SET disabled_at = NULL, disable_reason = NULL");
    return {};
  }));
  CHECK(hooks.add(EventTypeSet::payments()).is_active());
}

TEST_CASE("deliveries: old deliveries are removed with their log, pending ones are kept") {
  Hooks hooks;
  const WebhookRow row = hooks.add(EventTypeSet::payments());
  for (const char* id : {"a", "b", "c"}) hooks.pay(hooks.transfer(id, 1));
  hooks.queue_all(row);
  hooks.change([&](WriteTx& tx) {
    for (const auto& delivery : due_deliveries(tx.db(), hooks.tenant, row.key, tx.now(), 2)) {
      record_delivery_attempt(tx, hooks.tenant, delivery, {0, tx.now(), 1, 200, std::nullopt, "ok"},
                              DeliveryState::delivered, std::nullopt);
    }
    for (std::int64_t i = 1; i <= 3; ++i) keep_event_body(tx, hooks.tenant, i, "body");
    keep_event_body(tx, hooks.tenant, 1, "another");
  });
  CHECK(hooks.read([&](Connection& db) { return find_event_body(db, hooks.tenant, 1); }) == "body");
  hooks.clock.advance_ms(10'000);
  const Timestamp now = hooks.clock.now();
  hooks.change([&](WriteTx& tx) {
    CHECK(drop_deliveries(tx, hooks.tenant, now.plus_ms(-20'000), 10) == 0);
    CHECK(drop_event_bodies(tx, hooks.tenant, now.plus_ms(-20'000), 10) == 0);
    CHECK(drop_deliveries(tx, hooks.tenant, now, 1) == 1);
    CHECK(drop_deliveries(tx, hooks.tenant, now, 10) == 1);
    CHECK(drop_deliveries(tx, hooks.tenant, now, 10) == 0);
    CHECK(drop_event_bodies(tx, hooks.tenant, now, 2) == 2);
    CHECK(drop_event_bodies(tx, hooks.tenant, now, 2) == 1);
  });
  CHECK(hooks.all(row).size() == 1);
  CHECK(hooks.count("delivery_attempts") == 0);
}

TEST_CASE("deliveries: an attempt stores its request and response, removed with it") {
  Hooks hooks;
  const WebhookRow row = hooks.add(EventTypeSet::payments());
  hooks.pay(hooks.transfer("a", 1));
  hooks.queue_all(row);
  const auto bytes = [&] {
    return hooks.read([&](Connection& db) {
      return quota_use(db, hooks.tenant, hooks.queue->now())
          .used.at(static_cast<std::size_t>(Quota::file_bytes));
    });
  };
  const DeliveryRow delivery = hooks.due(row).at(0);
  const std::int64_t before = bytes();
  const Timestamp signed_at{1'700'000'000'123};
  const auto record = [&](const DeliveryAttempt& attempt, DeliveryState state) {
    hooks.change([&](WriteTx& tx) {
      std::optional<Timestamp> due_at;
      if (state == DeliveryState::pending) due_at = tx.now();
      record_delivery_attempt(tx, hooks.tenant,
                              *find_delivery_at(tx.db(), hooks.tenant, row.key, delivery.sequence),
                              attempt, state, due_at);
    });
  };
  DeliveryAttempt attempt{0, signed_at, 7, 500, std::nullopt, "no"};
  attempt.signed_at = signed_at;
  attempt.signatures = "v1,abc";
  attempt.response_headers = "Server: x\n";
  record(attempt, DeliveryState::pending);
  record({0, signed_at, 7, std::nullopt, "No connection.", ""}, DeliveryState::delivered);
  const auto log = hooks.read(
      [&](Connection& db) { return list_delivery_attempts(db, row.key, delivery.sequence); });
  REQUIRE(log.size() == 2);
  CHECK(log.at(0).signed_at == signed_at);
  CHECK(log.at(0).signatures == "v1,abc");
  CHECK(log.at(0).response_headers == "Server: x\n");
  CHECK_FALSE(log.at(1).signed_at);
  CHECK_FALSE(log.at(1).signatures);
  const auto stored = static_cast<std::int64_t>(std::string("no"
                                                            "v1,abc"
                                                            "Server: x\n")
                                                    .size());
  CHECK(bytes() == before + 2 * row_bytes::kAttempt + stored);
  hooks.clock.advance_ms(10'000);
  hooks.change(
      [&](WriteTx& tx) { CHECK(drop_deliveries(tx, hooks.tenant, hooks.clock.now(), 10) == 1); });
  CHECK(hooks.count("delivery_attempts") == 0);
  CHECK(bytes() == before - row_bytes::kDelivery);
}

TEST_CASE("events: a time is found by its sequence in any number of events") {
  Hooks hooks;
  for (int i = 0; i < 20; ++i) {
    hooks.clock.advance_ms(1'000);
    hooks.pay(hooks.transfer("t" + std::to_string(i), 1));
  }
  const Timestamp last = hooks.queue->now();
  hooks.read([&](Connection& db) {
    const auto since = [&](std::int64_t ms) {
      return first_sequence_since(db, hooks.tenant, last.plus_ms(ms));
    };
    CHECK(since(-1'000'000) == 1);
    CHECK(since(-19'000) == 1);
    CHECK(since(-18'999) == 2);
    CHECK(since(0) == 20);
    CHECK(since(1) == 21);
    CHECK(last_sequence(db, hooks.tenant) == 20);
    return 0;
  });
}

TEST_CASE("recoveries: ranges that overlap or adjoin become one, and no others") {
  Hooks hooks;
  const WebhookRow row = hooks.add(EventTypeSet::payments());
  using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;
  struct Case {
    Ranges asked;
    std::pair<std::int64_t, std::int64_t> first;
    std::size_t count;  // how often the first one must be completed until none is left
  };
  for (const Case& one :
       {Case{{{10, 20}, {5, 7}}, {10, 20}, 2}, Case{{{10, 20}, {15, 30}}, {10, 30}, 1},
        Case{{{10, 20}, {21, 30}}, {10, 30}, 1}, Case{{{10, 20}, {1, 9}}, {1, 20}, 1},
        Case{{{1, 5}, {10, 20}, {4, 12}}, {1, 20}, 1},
        Case{{{1, 5}, {10, 20}, {7, 8}}, {1, 5}, 3}}) {
    hooks.change([&](WriteTx& tx) {
      for (const auto& [first, last] : one.asked) CHECK(add_recovery(tx, row.key, first, last));
    });
    const auto list = [&] {
      return hooks.read([](Connection& db) { return next_recoveries(db); });
    };
    REQUIRE(list().size() == 1);
    CHECK(std::pair(list().at(0).next, list().at(0).last) == one.first);
    std::size_t count = 0;
    for (; !list().empty(); ++count) {
      const Recovery next = list().at(0);
      hooks.change([&](WriteTx& tx) { advance_recovery(tx, next, next.last + 1); });
    }
    CHECK(count == one.count);
  }
}

TEST_CASE("recoveries: a range that is requested again while a part is processed starts again") {
  Hooks hooks;
  const WebhookRow row = hooks.add(EventTypeSet::payments());
  for (const auto& [first, last] : {std::pair(5, 7), std::pair(10, 20), std::pair(15, 30)}) {
    hooks.change([&](WriteTx& tx) { CHECK(add_recovery(tx, row.key, 10, 20)); });
    const auto read = hooks.read([](Connection& db) { return next_recoveries(db); });
    hooks.change([&](WriteTx& tx) {
      CHECK(add_recovery(tx, row.key, first, last));
      advance_recovery(tx, read.at(0), 21);
    });
    const auto left = hooks.read([](Connection& db) { return next_recoveries(db); });
    REQUIRE(left.size() == 1);
    CHECK(left.at(0).next == (first == 5 ? 5 : 10));
    CHECK(left.at(0).last == (first == 5 ? 7 : last));
    hooks.change([&](WriteTx& tx) { advance_recovery(tx, left.at(0), left.at(0).last + 1); });
  }
}
