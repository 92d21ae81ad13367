#include "flows/events.h"

#include "base/check.h"
#include "store/ledger/known_rows.h"
#include "store/ledger/wallets.h"

namespace coffer::flows {
namespace {

std::int64_t emit(store::WriteTx& tx, Random& random, std::int64_t tenant,
                  const store::NewEvent& event) {
  if (tx.known().has_webhooks()) tx.signal(store::Signal::webhooks);
  return store::append_event(tx, random, tenant, event);
}

store::NewEvent new_event(EventType type) {
  store::NewEvent event;
  event.type = static_cast<int>(type);
  return event;
}

}  // namespace

void emit_payment_event(store::WriteTx& tx, Random& random, std::int64_t tenant,
                        std::int64_t payment, PaymentStatus status, int version) {
  store::NewEvent event = new_event(event_for(status));
  event.payment = payment;
  event.version = version;
  emit(tx, random, tenant, event);
}

void emit_event(store::WriteTx& tx, Random& random, std::int64_t tenant, EventType type,
                std::int64_t key) {
  store::NewEvent event = new_event(type);
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
    case EventSubject::application:
      event.application = key;
      break;
    case EventSubject::nothing:
      throw InternalError("an event about nothing is a test event");
  }
  emit(tx, random, tenant, event);
}

TestEvent emit_test_event(store::WriteTx& tx, Random& random, std::int64_t tenant, EventType type,
                          std::optional<std::int64_t> webhook) {
  store::NewEvent event = new_event(type);
  event.webhook = webhook;
  event.test = true;
  const std::int64_t sequence = emit(tx, random, tenant, event);
  return {store::event_at(tx.db(), Tenant{.key = tenant}, sequence)->id, type, sequence};
}

}  // namespace coffer::flows
