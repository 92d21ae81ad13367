#include "flows/payments/record_json.h"

#include <utility>

#include "base/digest.h"

namespace coffer::flows {
namespace {

/// Maximum number of members in addition to the first ones, which every record has.
constexpr std::size_t kMembersMax = 31;

/// Adds the member only if there is a value.
void put(Json& object, const char* name, const std::optional<std::string>& value) {
  if (value) object[name] = *value;
}

Json history_json(const store::PaymentRecord& record) {
  Json out = Json::array();
  for (const Reached& reached : reached_statuses(record)) {
    Json item = object_with_room(reached.why ? 2 : 0, "status", name(reached.status), "at",
                                 reached.at.to_string());
    if (reached.why) {
      item["code"] = info(*reached.why).name;
      item["message"] = info(*reached.why).message;
    }
    out.push_back(std::move(item));
  }
  return out;
}

Json legs_json(const store::PaymentRecord& record) {
  Json out = Json::array();
  for (std::size_t i = 0; i < record.request.legs.size(); ++i) {
    const TransferLeg& leg = record.request.legs[i];
    Json item = object_with_room(3, "sourceWalletId", leg.source_wallet->to_string(),
                                 "destinationWalletId", leg.destination_wallet->to_string(),
                                 "sendingAssetCode", leg.sending_asset.value(), "amount",
                                 leg.amount.to_string(record.leg_decimals[i]));
    put(item, "fromRef", leg.refs.from_ref);
    put(item, "toRef", leg.refs.to_ref);
    put(item, "description", leg.description);
    out.push_back(std::move(item));
  }
  return out;
}

template <class IdType>
void put_id(Json& out, const char* name, const std::optional<IdType>& id) {
  if (id) out[name] = id->to_string();
}

/// Amounts of both sides. In a payment through a provider, one of them is in a currency.
void put_amounts(Json& out, const store::PaymentRecord& record) {
  if (record.sending_amount && record.sending_asset) {
    const std::string amount = record.sending_amount->to_string(record.sending_decimals);
    out["sendingAssetCode"] = record.sending_asset->value();
    out["sendingAmount"] = amount;
    out["total"] = amount;
  }
  if (const auto receiving = store::receiving_denomination(record)) {
    out["receivingAssetCode"] = receiving->code;
    if (record.receiving_amount) {
      out["receivingAmount"] = record.receiving_amount->to_string(receiving->decimals);
    }
    if (record.request.min_receiving) {
      out["minReceivingAmount"] = record.request.min_receiving->to_string(receiving->decimals);
    }
  }
  if (!record.provider) return;
  out["fee"] = record.provider->fee.to_string(record.sending_decimals);
  out["total"] = record.provider->total.to_string(record.sending_decimals);
  const auto& collected = record.provider->collected;
  if (collected) out["collectedAmount"] = collected->to_string(record.sending_decimals);
  if (const auto excess = excess_amount(record)) {
    out["excessAmount"] = excess->to_string(record.sending_decimals);
  }
}

std::string_view refund_status(PaymentStatus status) {
  switch (status) {
    case PaymentStatus::refund_pending:
      return "pending";
    case PaymentStatus::refunded:
      return "refunded";
    case PaymentStatus::refund_failed:
      return "failed";
    case PaymentStatus::initiated:
    case PaymentStatus::processing:
    case PaymentStatus::succeeded:
    case PaymentStatus::failed:
    case PaymentStatus::expired:
      break;
  }
  return {};
}

void put_refund(Json& out, const store::PaymentRecord& record, Amount amount) {
  out["refund"] = {{"status", refund_status(record.status)},
                   {"amount", amount.to_string(record.sending_decimals)},
                   {"at", reached_statuses(record).back().at.to_string()}};
}

/// What was given back after success.
void put_refunds(Json& out, const store::PaymentRecord& record) {
  if (record.refunds.empty()) return;
  Amount amount;
  for (const auto& refund : record.refunds) {
    if (refund.state != RefundState::failed) amount = amount + refund.amount;
  }
  put_refund(out, record, amount);
  out["refund"]["reason"] = record.refunds.back().reason;
}

/// The members of a payment through a provider.
void put_provider(Json& out, const store::PaymentRecord& record) {
  if (!record.provider) return;
  const store::ProviderPart& part = *record.provider;
  out["connectorId"] = part.connector.to_string();
  put_id(out, "quoteId", record.request.quote);
  put(out, "providerReference", part.provider_reference);
  if (!part.instructions.empty()) out["instructions"] = part.instructions;
  if (part.expires_at && !part.instructions.empty()) {
    out["instructionsExpireAt"] = part.expires_at->to_string();
  }
  if (record.refund_pending_at && record.status != PaymentStatus::succeeded) {
    put_refund(out, record, part.total);
  }
}

/// A multi-transfer shows its legs; other payments show the movement itself.
void put_movement(Json& out, const store::PaymentRecord& record) {
  if (has_legs(record.request.type)) {
    out["legs"] = legs_json(record);
    return;
  }
  const TransferLeg& leg = record.request.only();
  put_id(out, "sourceWalletId", leg.source_wallet);
  put_id(out, "destinationWalletId", leg.destination_wallet);
  put_id(out, "beneficiaryId", record.request.beneficiary);
  put_id(out, "destinationId", record.request.destination);
  put(out, "fromRef", leg.refs.from_ref);
  put(out, "toRef", leg.refs.to_ref);
  put(out, "description", leg.description);
}

}  // namespace

std::optional<Amount> excess_amount(const store::PaymentRecord& record) {
  if (!record.provider || !record.provider->collected) return std::nullopt;
  const Amount excess = *record.provider->collected - *record.sending_amount;
  return excess.is_positive() ? std::optional(excess) : std::nullopt;
}

const char* substatus(const store::PaymentRecord& record) {
  if (!record.provider) return nullptr;
  if (const auto& collected = record.provider->collected) {
    if (*collected == *record.sending_amount) return nullptr;
    return *collected < *record.sending_amount ? "underpaid" : "overpaid";
  }
  if (record.status != PaymentStatus::processing) return nullptr;
  if (record.provider->in_review) return "in_review";
  const bool waits = record.provider->state == ProviderState::accepted;
  if (!waits) return nullptr;
  return record.request.type == PaymentType::onramp ? "awaiting_payment" : "awaiting_provider";
}

Json record_json(const store::PaymentRecord& record, Environment environment) {
  Json out = object_with_room(kMembersMax, "id", record.id.to_string(), "transactionRecordId",
                              record.id.to_string(), "transactionId", record.request.transaction_id,
                              "type", name(record.request.type), "status", name(record.status));
  if (const char* detail = substatus(record)) out["substatus"] = detail;
  const auto& why = record.refunds.empty() ? record.failure : record.refunds.back().failure;
  if (why && record.status != PaymentStatus::succeeded) {
    const FailureInfo& failure = info(*why);
    out["statusReason"] = {
        {"code", failure.name}, {"message", failure.message}, {"retryable", failure.retryable}};
  }
  out["statusHistory"] = history_json(record);
  out["environment"] = name(environment);
  put_amounts(out, record);
  put(out, "path", record.path);
  put_movement(out, record);
  put_provider(out, record);
  put_refunds(out, record);
  put(out, "memo", record.request.memo);
  if (record.metadata) out["metadata"] = record.request.metadata;
  if (record.ledger_hash)
    out["ledgerTransactionHash"] = to_hex(std::string_view(*record.ledger_hash));
  out["version"] = record.version;
  out["createdAt"] = record.created_at.to_string();
  out["updatedAt"] = record.updated_at.to_string();
  if (record.completed_at) out["completedAt"] = record.completed_at->to_string();
  return out;
}

Json wallet_identity_json(const store::WalletRow& wallet, const std::string& network_name) {
  constexpr std::size_t kAddedByCallers = 5;
  Json out =
      object_with_room(kAddedByCallers + 1, "id", wallet.id.to_string(), "walletName", wallet.name,
                       "accountNumber", wallet.account_number, "publicKey", wallet.public_key,
                       "networkName", network_name, "assetCode", wallet.asset_code.value(),
                       "ownAccount", wallet.own_account, "status", name(wallet.status));
  if (wallet.reason) {
    out["statusReason"] = {{"code", wallet.reason->code}, {"message", wallet.reason->message}};
  }
  return out;
}

}  // namespace coffer::flows
