#include "store/webhooks/events.h"

#include "base/numbers.h"
#include "store/file/chain_keys.h"
#include "store/payments/payment_seal.h"
#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"
#include "store/webhooks/event_id.h"

namespace coffer::store {
namespace {

constexpr Column<EventRow> kEventColumns[] = {
    joined<&EventRow::sequence>("sequence"),
    joined<&EventRow::id>(COFFER_EVENT_ID("")),
    joined<&EventRow::type>("type"),
    joined<&EventRow::payment>("payment"),
    joined<&EventRow::wallet>("wallet"),
    joined<&EventRow::webhook>("webhook"),
    joined<&EventRow::application>("application"),
    joined<&EventRow::wallet_status>("wallet_status"),
    joined<&EventRow::version>("version"),
    joined<&EventRow::test>("test"),
    joined<&EventRow::at>("at"),
};
const std::string kSelectEvent = select(kEventColumns) + " FROM events WHERE tenant = ?1";
const std::string kWithoutPayment =
    select(kEventColumns) + ", tenant FROM events WHERE payment IS NULL";
const std::string kAfter = kSelectEvent + " AND sequence > ?2 ORDER BY sequence LIMIT ?3";
const std::string kFrom = kSelectEvent + " AND sequence >= ?2 ORDER BY sequence";
const std::string kEventAt = kSelectEvent + " AND sequence = ?2";
constexpr KeyIndex kOfTenant = COFFER_KEY_INDEX("sequence", "events", "tenant = ?3");
constexpr KeyIndex kOfRareType =
    COFFER_KEY_INDEX("sequence", "events INDEXED BY events_of_rare_type",
                     "tenant = ?3 AND type = ?4 AND type NOT BETWEEN 0 AND 2");
static_assert(stored(EventType::payment_initiated) == 0);
static_assert(stored(EventType::payment_processing) == 1);
static_assert(stored(EventType::payment_succeeded) == 2);
constexpr const char* kTypeAt = "SELECT type FROM events WHERE tenant = ? AND sequence = ?";
constexpr const char* kLast =
    "SELECT sequence FROM events WHERE tenant = ? ORDER BY sequence DESC LIMIT 1";
constexpr const char* kTimeAt = "SELECT at FROM events WHERE tenant = ? AND sequence = ?";

constexpr const char* kBody = "SELECT body, mac FROM event_bodies WHERE event_body = ?";
constexpr const char* kKeepBody =
    "INSERT INTO event_bodies (event_body, body, mac) VALUES (?, ?, ?)"
    " ON CONFLICT (event_body) DO NOTHING";
constexpr const char* kKeepEventMac =
    "INSERT INTO row_macs (source, row, mac) VALUES ('events', ?, ?)"
    " ON CONFLICT (source, row) DO UPDATE SET mac = excluded.mac";
constexpr const char* kEventMac = "SELECT mac FROM row_macs WHERE source = 'events' AND row = ?";
constexpr const char* kBodiesAfter =
    "SELECT event_body, body, mac FROM event_bodies WHERE event_body > ? ORDER BY event_body"
    " LIMIT ?";
constexpr const char* kOldestBodies =
    "SELECT event_body, length(body) FROM event_bodies WHERE event_body >= ? AND event_body < ?"
    " ORDER BY event_body LIMIT ?";
constexpr const char* kDropBody = "DELETE FROM event_bodies WHERE event_body = ?";

constexpr int kTenantShift = 40;

std::int64_t body_key(const Tenant& tenant, std::int64_t sequence) {
  return tenant.key << kTenantShift | sequence;
}

/// `text` under the key of the rows; empty without keys.
std::string mac_of(Connection& db, std::string_view what, std::int64_t tenant,
                   std::int64_t sequence, std::string_view text) {
  const ChainKeys* keys = keys_of(db);
  if (keys == nullptr) return {};
  std::string head(what);
  for (const std::int64_t number : {tenant, sequence}) {
    head += '|';
    append_number(head, number);
  }
  return std::string(as_text(keys->rows.of(head += '|', text)));
}

/// The content of an event that is not about a payment.
std::string event_text(int type, std::optional<std::int64_t> wallet,
                       std::optional<std::int64_t> webhook, std::optional<std::int64_t> application,
                       std::optional<WalletStatus> wallet_status, int version, bool test,
                       Timestamp at) {
  std::string out;
  const auto add = [&](const std::optional<std::int64_t>& value) {
    value ? append_number(out, *value) : void(out += '-');
    out += '|';
  };
  add(type);
  add(wallet);
  add(webhook);
  add(application);
  add(wallet_status ? std::optional<std::int64_t>(stored(*wallet_status)) : std::nullopt);
  add(version);
  add(test ? 1 : 0);
  add(at.ms);
  return out;
}

[[noreturn]] void refuse(std::string_view what, const Tenant& tenant, std::int64_t sequence) {
  throw ForeignChange(std::string(what) + " " + std::to_string(sequence) + " of tenant " +
                      std::to_string(tenant.key) + " was inserted or changed by another program");
}

std::int64_t bytes_of_body(std::size_t length) {
  return row_bytes::kEventBody + static_cast<std::int64_t>(length);
}

}  // namespace

std::int64_t append_event(WriteTx& tx, Random& random, std::int64_t tenant, const NewEvent& event) {
  const std::int64_t sequence = tx.next_sequence(tenant);
  if (sequence == 1) keep_event_id_key(tx.db(), random);
  tx.new_rows().events.add(tenant, sequence, event.type, event.payment, event.wallet, event.webhook,
                           event.application, event.wallet_status, event.version, event.test,
                           tx.now());
  tx.quotas().add_bytes(tenant, row_bytes::kEvent);
  if (!event.payment) {
    const std::string text = event_text(event.type, event.wallet, event.webhook, event.application,
                                        event.wallet_status, event.version, event.test, tx.now());
    tx.db().run(kKeepEventMac, body_key(Tenant{.key = tenant}, sequence),
                Blob{mac_of(tx.db(), "event", tenant, sequence, text)});
  }
  return sequence;
}

std::vector<EventRow> events_after(Connection& db, const Tenant& tenant, std::int64_t sequence,
                                   int limit) {
  return all_rows<EventRow>(Query(db, kAfter.c_str(), tenant.key, sequence, limit), kEventColumns);
}

std::optional<KeySource> events_of_rare_type(const KeyWalk& walk, const Tenant& tenant,
                                             EventType type) {
  if (type <= EventType::payment_succeeded) return std::nullopt;
  return walk.along(kOfRareType, tenant.key, type);
}

RowPage<EventRow> list_events(Connection& db, const Tenant& tenant, const EventFilter& filter,
                              const PageAt& page) {
  KeyWalk walk(db, page, Order::ascending);
  std::optional<KeySource> rare;
  if (filter.type) rare = events_of_rare_type(walk, tenant, *filter.type);
  const auto fits = [&](std::int64_t sequence) {
    return !filter.type || first_integer(db, kTypeAt, tenant.key, sequence) == stored(*filter.type);
  };
  const auto load = [&](std::int64_t sequence) { return *event_at(db, tenant, sequence); };
  return walk.rows({{rare ? *rare : walk.along(kOfTenant, tenant.key)}}, fits, load,
                   {.lowest = filter.after + 1});
}

std::optional<EventRow> find_event(Connection& db, const Tenant& tenant, EventId id) {
  const Timestamp minted = id.uuid.time();
  Query query(db, kFrom.c_str(), tenant.key, first_sequence_since(db, tenant, minted));
  while (query.step()) {
    EventRow row = read_row<EventRow>(query, kEventColumns);
    if (row.at > minted) break;
    if (row.id == id) return row;
  }
  return std::nullopt;
}

std::optional<EventRow> find_event(Connection& db, EventId id) {
  for (const std::int64_t tenant : integers(db, "SELECT tenant FROM tenants")) {
    if (auto row = find_event(db, Tenant{.key = tenant}, id)) return row;
  }
  return std::nullopt;
}

std::optional<EventRow> event_at(Connection& db, const Tenant& tenant, std::int64_t sequence) {
  return first_row<EventRow>(db, kEventAt, kEventColumns, tenant.key, sequence);
}

std::int64_t last_sequence(Connection& db, const Tenant& tenant) {
  return first_integer(db, kLast, tenant.key).value_or(0);
}

std::int64_t first_sequence_since(Connection& db, const Tenant& tenant, Timestamp at) {
  std::int64_t low = 1;
  std::int64_t high = last_sequence(db, tenant) + 1;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    const auto there = first_time(db, kTimeAt, tenant.key, middle);
    const bool is_older = there.has_value() && *there < at;
    is_older ? low = middle + 1 : high = middle;
  }
  return low;
}

std::optional<std::string> find_event_body(Connection& db, const Tenant& tenant,
                                           std::int64_t sequence) {
  Query query(db, kBody, body_key(tenant, sequence));
  if (!query.step()) return std::nullopt;
  const std::string mac = mac_of(db, "body", tenant.key, sequence, query.bytes(0));
  if (!mac.empty() && mac != query.bytes(1)) refuse("the body of event", tenant, sequence);
  return query.blob(0);
}

bool has_event_body(Connection& db, const Tenant& tenant, std::int64_t sequence) {
  return Query(db, kBody, body_key(tenant, sequence)).step();
}

void require_intact_event(Connection& db, const Tenant& tenant, const EventRow& event) {
  if (keys_of(db) == nullptr) return;
  if (event.payment) {
    require_intact_payment(db, *event.payment);
    Query payment(db, "SELECT tenant, version FROM payments WHERE payment = ?", *event.payment);
    if (payment.step() && payment.integer(0) == tenant.key && event.version <= payment.integer(1)) {
      return;
    }
    refuse("event", tenant, event.sequence);
  }
  const std::string text =
      event_text(stored(event.type), event.wallet, event.webhook, event.application,
                 event.wallet_status, event.version, event.test, event.at);
  Query query(db, kEventMac, body_key(tenant, event.sequence));
  if (!query.step() || query.bytes(0) != mac_of(db, "event", tenant.key, event.sequence, text)) {
    refuse("event", tenant, event.sequence);
  }
}

EventBodyPiece check_event_bodies(Connection& db, std::int64_t after, std::int64_t limit) {
  EventBodyPiece out{.last = after};
  Query bodies(db, kBodiesAfter, after, limit);
  for (; bodies.step(); ++out.rows) {
    out.last = bodies.integer(0);
    const std::int64_t tenant = out.last >> kTenantShift;
    const std::int64_t sequence = out.last - (tenant << kTenantShift);
    const std::string mac = mac_of(db, "body", tenant, sequence, bodies.bytes(1));
    if (!out.fault.empty() || mac.empty() || mac == bodies.bytes(2)) continue;
    out.fault = "the body of event " + std::to_string(sequence) + " of tenant " +
                std::to_string(tenant) + " was changed by another program";
  }
  return out;
}

std::string verify_events(Connection& db) {
  EventBodyPiece bodies = check_event_bodies(db, INT64_MIN, INT64_MAX);
  if (!bodies.fault.empty()) return bodies.fault;
  try {
    Query query(db, kWithoutPayment.c_str());
    while (query.step()) {
      require_intact_event(db, Tenant{.key = query.integer(std::size(kEventColumns))},
                           read_row<EventRow>(query, kEventColumns));
    }
  } catch (const ForeignChange& change) {
    return change.what();
  }
  return {};
}

void keep_event_body(WriteTx& tx, const Tenant& tenant, std::int64_t sequence,
                     std::string_view body) {
  tx.db().run(kKeepBody, body_key(tenant, sequence), Blob{body},
              Blob{mac_of(tx.db(), "body", tenant.key, sequence, body)});
  if (tx.db().changes() == 1) tx.quotas().add_bytes(tenant.key, bytes_of_body(body.size()));
}

int drop_event_bodies(WriteTx& tx, const Tenant& tenant, Timestamp before, int limit) {
  const std::int64_t end = body_key(tenant, first_sequence_since(tx.db(), tenant, before));
  std::vector<std::int64_t> keys;
  {
    Query query(tx.db(), kOldestBodies, body_key(tenant, 0), end, limit);
    while (query.step()) {
      keys.push_back(query.integer(0));
      tx.quotas().add_bytes(tenant.key, -bytes_of_body(static_cast<std::size_t>(query.integer(1))));
    }
  }
  for (const std::int64_t key : keys) tx.db().run(kDropBody, key);
  return static_cast<int>(keys.size());
}

}  // namespace coffer::store
