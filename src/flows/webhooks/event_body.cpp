#include "flows/webhooks/event_body.h"

#include "base/check.h"
#include "flows/payments/record_json.h"
#include "flows/webhooks/sample_event.h"
#include "flows/webhooks/webhook_json.h"
#include "store/identity/tenants.h"
#include "store/ledger/wallets.h"
#include "store/rows/guarded_rows.h"
#include "store/webhooks/event_id.h"
#include "store/webhooks/webhooks.h"

namespace coffer::flows {
namespace {

/// Omits compliance details, which must not be stored or sent in events, and balances, which have
/// not changed.
Json wallet_data(store::Connection& db, const store::EventRow& event,
                 const std::string& network_name) {
  auto wallet = store::find_wallet_by_key(db, *event.wallet);
  COFFER_CHECK(wallet.has_value());
  if (event.wallet_status && *event.wallet_status != wallet->status) {
    wallet->status = *event.wallet_status;
    wallet->reason.reset();
  }
  Json out = wallet_identity_json(*wallet, network_name);
  out["createdAt"] = wallet->created_at.to_string();
  out["updatedAt"] = event.at.to_string();
  return out;
}

Json webhook_data(store::Connection& db, const store::EventRow& event) {
  const auto webhook = store::find_webhook_by_key(db, *event.webhook);
  COFFER_CHECK(webhook.has_value());
  return webhook_json(*webhook);
}

/// Contains only data that never changes, so that the bytes do not depend on when they are
/// rendered.
Json application_data(store::Connection& db, const store::EventRow& event) {
  const auto application = store::find_application_by_key(db, *event.application);
  COFFER_CHECK(application.has_value());
  return credentials_json(*application, event.at);
}

/// The record as of the commit that wrote the event. Omits later data from the provider, which has
/// no event until the payment ends, so that the bytes do not depend on when they are rendered.
store::PaymentRecord at_event(const store::PaymentRecord& now, int version) {
  store::PaymentRecord record = as_of(now, version);
  const bool arrived = record.request.type == PaymentType::onramp_reference;
  const bool asked =
      record.status == PaymentStatus::initiated || record.status == PaymentStatus::processing;
  if (!record.provider || arrived || !asked) return record;
  record.provider->state = ProviderState::fresh;
  record.provider->in_review = false;
  record.provider->provider_reference.reset();
  record.provider->instructions.clear();
  record.provider->collected.reset();
  record.ledger_hash.reset();
  return record;
}

}  // namespace

const store::PaymentRecord& EventBodies::record(std::int64_t payment) {
  if (!record_ || record_->key != payment) {
    record_ = store::find_payment_by_key(db_, payment);
    COFFER_CHECK(record_.has_value());
  }
  return *record_;
}

std::string EventBodies::body_of(const store::EventRow& event) {
  auto kept = store::find_event_body(db_, tenant_, event.sequence);
  return kept ? *std::move(kept) : render(event);
}

std::string EventBodies::render(const store::EventRow& event) {
  if (!key_is_intact_) store::require_intact_meta(db_, store::kEventIdKey);
  key_is_intact_ = true;
  store::require_intact_event(db_, tenant_, event);
  Json out{{"id", event.id.to_string()},
           {"type", name(event.type)},
           {"timestamp", event.at.to_string()},
           {"apiVersion", "v1"},
           {"environment", name(tenant_.environment)},
           {"associationId", tenant_.association.to_string()},
           {"sequence", event.sequence}};
  if (event.test) out["test"] = true;
  if (event.test) {
    out["data"] = sample_data(event, tenant_, context_.network_name);
  } else if (event.payment) {
    const store::PaymentRecord then = at_event(record(*event.payment), event.version);
    const auto reached = info(event.type).reached;
    if (reached && then.status != *reached) {
      throw store::ForeignChange("event " + std::to_string(event.sequence) + " of tenant " +
                                 std::to_string(tenant_.key) + " contradicts its payment");
    }
    out["data"] = record_json(then, tenant_.environment);
  } else if (event.wallet) {
    out["data"] = wallet_data(db_, event, context_.network_name);
  } else if (event.application) {
    out["data"] = application_data(db_, event);
  } else {
    out["data"] = webhook_data(db_, event);
  }
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace coffer::flows
