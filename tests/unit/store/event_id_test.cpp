// IDs of events, which are computed from the row and the key of the file.
#include "store/webhooks/event_id.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

std::vector<EventRow> all_events(SmallLedger& ledger) {
  return ledger.read([&](Connection& db) { return events_after(db, ledger.tenant, 0, 10'000); });
}

std::vector<std::string> ids(const std::vector<EventRow>& events) {
  std::vector<std::string> out;
  for (const EventRow& event : events) out.push_back(event.id.to_string());
  return out;
}

/// Payments whose events all have the same millisecond.
void pay_at_once(SmallLedger& ledger, int count) {
  REQUIRE(ledger.write([&](WriteTx& tx) -> Result<void> {
    for (int i = 0; i < count; ++i) {
      ledger.settle(tx, ledger.accept(tx, ledger.transfer("p" + std::to_string(i), 1)));
    }
    return {};
  }));
}

}  // namespace

TEST_CASE("event id: a UUID of version 7 from the time and HMAC-SHA256, as documented") {
  SmallLedger ledger;
  // The expected IDs were computed with another implementation.
  const std::string key = "x'000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'";
  const auto id_of = [&](const std::string& row) {
    return ledger.value("SELECT lower(hex(event_id(" + key + ", " + row + ")))");
  };
  CHECK(id_of("3, 1, 1795395600123") == "01a205eabefb76a8aa6235fcba62cc09");
  CHECK(id_of("1099511627776, 1099511627775, 281474976710655") ==
        "ffffffffffff76caba244dff94c8fc91");
}

TEST_CASE("event id: each event has its own, which finds it") {
  SmallLedger ledger;
  pay_at_once(ledger, 40);
  const auto events = all_events(ledger);
  REQUIRE(events.size() == 120);
  std::set<Uuid> seen;
  for (const EventRow& event : events) {
    CHECK(event.id.uuid.time() == event.at);
    seen.insert(event.id.uuid);
    const auto found = ledger.read([&](Connection& db) { return find_event(db, event.id); });
    REQUIRE(found);
    CHECK(found->sequence == event.sequence);
  }
  CHECK(seen.size() == events.size());
}

TEST_CASE("event id: events of one millisecond show no order, and tenants have nothing in common") {
  SmallLedger ledger;
  pay_at_once(ledger, 40);
  const auto in_order = ids(all_events(ledger));
  CHECK_FALSE(std::is_sorted(in_order.begin(), in_order.end()));
  CHECK(ledger.value("SELECT count(*) FROM events a, meta m WHERE m.name = 'event_id_key'"
                     " AND event_id(m.value, a.tenant, a.sequence, a.at)"
                     " = event_id(m.value, a.tenant + 1, a.sequence, a.at)") == "0");
}

TEST_CASE("event ID: stable after a restart, with one random key per file") {
  SmallLedger ledger;
  ledger.pay_and_settle(ledger.transfer("a", 5));
  const auto before = ids(all_events(ledger));
  const char* key = "SELECT hex(value) FROM meta WHERE name = 'event_id_key'";
  const std::string drawn = ledger.value(key);
  CHECK(drawn.size() == 64);
  // The first event of another tenant.
  REQUIRE(ledger.write([&](WriteTx& tx) -> Result<void> {
    append_event(tx, ledger.random, 1, {.type = stored(EventType::webhook_test), .test = true});
    return {};
  }));
  ledger.close();
  ledger.open();
  CHECK(ledger.value(key) == drawn);
  CHECK(ids(all_events(ledger)) == before);
  SmallLedger other;
  other.pay_and_settle(other.transfer("a", 5));
  CHECK(ids(all_events(other)).size() == before.size());
}

TEST_CASE("event id: without a key, reading an event is an error") {
  SmallLedger ledger;
  ledger.pay_and_settle(ledger.transfer("a", 5));
  CHECK_THROWS_AS(ledger.value("SELECT event_id(NULL, 1, 1, 1)"), SqlError);
  CHECK_THROWS_AS(ledger.value("SELECT event_id(x'00', 1, 1, 1)"), SqlError);
}
