#include "flows/webhooks/sample_event.h"

#include <vector>

#include "base/check.h"
#include "flows/payments/record_json.h"
#include "flows/webhooks/webhook_json.h"

namespace coffer::flows {
namespace {

constexpr std::int64_t kStepMs = 500;  // between two statuses of a sample

/// IDs that differ from the event's ID only in the last byte: well-formed, but without an object.
template <class IdType>
IdType sample_id(const store::EventRow& event, std::uint8_t which) {
  Uuid uuid = event.id.uuid;
  uuid.bytes.back() = static_cast<std::uint8_t>(uuid.bytes.back() ^ which);
  return IdType{uuid};
}

Amount units(std::int64_t whole) { return Amount::from_units(whole * 10'000'000); }

/// A transfer between own wallets, in its initial status.
store::PaymentRecord sample_transfer(const store::EventRow& event) {
  store::PaymentRecord record;
  record.id = sample_id<PaymentId>(event, 1);
  record.request.transaction_id = "sample-" + std::to_string(event.sequence);
  TransferLeg leg;
  leg.source_wallet = sample_id<WalletId>(event, 2);
  leg.sending_asset = *AssetCode::parse("USDC");
  leg.amount = units(10);
  leg.description = "Sample payment";
  record.request.legs = {leg};
  record.sending_asset = leg.sending_asset;
  record.sending_amount = leg.amount;
  record.created_at = record.updated_at = event.at;
  return record;
}

/// An off-ramp, because only off-ramps are refunded.
void make_offramp(store::PaymentRecord& record, const store::EventRow& event) {
  record.request.type = PaymentType::offramp;
  record.request.beneficiary = sample_id<BeneficiaryId>(event, 4);
  record.request.destination = sample_id<DestinationId>(event, 5);
  record.request.quote = sample_id<QuoteId>(event, 6);
  store::ProviderPart part;
  part.connector = sample_id<ConnectorId>(event, 7);
  part.currency = "KES";
  part.fee = units(1);
  part.total = units(11);
  part.state = ProviderState::over;
  record.receiving_amount = units(1'295);
  record.provider = std::move(part);
}

/// Moves the sample to the next status.
void reach(store::PaymentRecord& record, PaymentStatus status) {
  record.updated_at = record.updated_at.plus_ms(kStepMs);
  record.status = status;
  ++record.version;
  switch (status) {
    case PaymentStatus::initiated:
      break;
    case PaymentStatus::processing:
      record.processing_at = record.updated_at;
      break;
    case PaymentStatus::failed:
      record.failure = FailureCode::account_closed;
      record.completed_at = record.updated_at;
      break;
    case PaymentStatus::succeeded:
    case PaymentStatus::expired:
      record.completed_at = record.updated_at;
      break;
    case PaymentStatus::refund_pending:
      record.refund_pending_at = record.updated_at;
      break;
    case PaymentStatus::refunded:
    case PaymentStatus::refund_failed:
      record.refund_closed_at = record.updated_at;
      break;
  }
}

/// The statuses after `initiated` up to the given one.
std::vector<PaymentStatus> way_to(PaymentStatus status) {
  using enum PaymentStatus;
  switch (status) {
    case initiated:
      return {};
    case processing:
      return {processing};
    case succeeded:
    case failed:
    case expired:
      return {processing, status};
    case refund_pending:
      return {processing, failed, refund_pending};
    case refunded:
    case refund_failed:
      return {processing, failed, refund_pending, status};
  }
  throw InternalError("unknown payment status");
}

Json sample_payment(const store::EventRow& event, const Tenant& tenant, PaymentStatus status) {
  store::PaymentRecord record = sample_transfer(event);
  const std::vector<PaymentStatus> way = way_to(status);
  const bool refunds = way.size() > 2;
  if (refunds) {
    make_offramp(record, event);
  } else {
    record.request.legs.front().destination_wallet = sample_id<WalletId>(event, 3);
  }
  for (const PaymentStatus next : way) reach(record, next);
  return record_json(record, tenant.environment);
}

Json sample_arrival(const store::EventRow& event, const Tenant& tenant) {
  store::PaymentRecord record = sample_transfer(event);
  record.request.type = PaymentType::onramp_reference;
  TransferLeg& leg = record.request.legs.front();
  leg.destination_wallet = leg.source_wallet;
  leg.source_wallet.reset();
  return record_json(record, tenant.environment);
}

Json sample_wallet(const store::EventRow& event, const std::string& network_name) {
  store::WalletRow wallet;
  wallet.id = sample_id<WalletId>(event, 2);
  wallet.name = "Sample wallet";
  wallet.account_number = "0000000000000000";
  wallet.public_key = "GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF";
  wallet.asset_code = *AssetCode::parse("USDC");
  wallet.status = WalletStatus::verified;
  Json out = wallet_identity_json(wallet, network_name);
  out["createdAt"] = event.at.to_string();
  out["updatedAt"] = event.at.to_string();
  return out;
}

Json sample_webhook(const store::EventRow& event, const Tenant& tenant) {
  store::WebhookRow webhook;
  webhook.id = sample_id<WebhookId>(event, 2);
  webhook.application_id = sample_id<ApplicationId>(event, 3);
  webhook.tenant = tenant;
  webhook.url = "https://example.com/webhooks";
  webhook.types = EventTypeSet::payments();
  webhook.created_at = webhook.updated_at = event.at;
  webhook.disabled_at = event.at;
  webhook.disable_reason = DisableReason::endpoint_gone;
  return webhook_json(webhook);
}

Json sample_application(const store::EventRow& event) {
  store::ApplicationRow application;
  application.id = sample_id<ApplicationId>(event, 2);
  application.client_id = "app_0123456789abcdef01234567";
  return credentials_json(application, event.at);
}

}  // namespace

Json sample_data(const store::EventRow& event, const Tenant& tenant,
                 const std::string& network_name) {
  const EventTypeRow& row = info(event.type);
  switch (row.subject) {
    case EventSubject::payment:
      return row.reached ? sample_payment(event, tenant, *row.reached)
                         : sample_arrival(event, tenant);
    case EventSubject::wallet:
      return sample_wallet(event, network_name);
    case EventSubject::webhook:
      return sample_webhook(event, tenant);
    case EventSubject::application:
      return sample_application(event);
    case EventSubject::nothing:
      return {{"message", "This is a test event."}};
  }
  throw InternalError("unknown subject of an event");
}

}  // namespace coffer::flows
