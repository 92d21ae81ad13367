#include "flows/webhooks/events.h"

#include "base/check.h"
#include "store/ledger/wallets.h"

namespace coffer::flows {
namespace {

std::int64_t emit(store::WriteTx& tx, std::int64_t tenant, const store::NewEvent& event) {
  tx.signal(store::Signal::webhooks);
  return store::append_event(tx, tenant, event);
}

store::NewEvent new_event(store::WriteTx& tx, Random& random, EventType type) {
  store::NewEvent event;
  event.id = random.id<EventId>(tx.now());
  event.type = static_cast<int>(type);
  return event;
}

}  // namespace

void emit_payment_event(store::WriteTx& tx, Random& random, std::int64_t tenant,
                        std::int64_t payment, PaymentStatus status, int version) {
  store::NewEvent event = new_event(tx, random, event_for(status));
  event.payment = payment;
  event.version = version;
  emit(tx, tenant, event);
}

void emit_event(store::WriteTx& tx, Random& random, std::int64_t tenant, EventType type,
                std::int64_t key) {
  store::NewEvent event = new_event(tx, random, type);
  switch (info(type).subject) {
    case EventSubject::payment:
      event.payment = key;
      break;
    case EventSubject::wallet:
      event.wallet = key;
      event.wallet_status = store::wallet_status(tx.db(), key);
      break;
    case EventSubject::webhook:
      event.webhook = key;
      break;
    case EventSubject::nothing:
      throw InternalError("an event about nothing is a test event");
  }
  emit(tx, tenant, event);
}

TestEvent emit_test_event(store::WriteTx& tx, Random& random, std::int64_t tenant, EventType type,
                          std::optional<std::int64_t> webhook) {
  store::NewEvent event = new_event(tx, random, type);
  event.webhook = webhook;
  event.test = true;
  return {event.id, type, emit(tx, tenant, event)};
}

}  // namespace coffer::flows
