#include "flows/providers/provider_message.h"

#include <array>
#include <string_view>

#include "base/check.h"
#include "base/telemetry/log.h"
#include "flows/providers/contradictions.h"
#include "flows/providers/provider_outcome.h"
#include "store/parties/beneficiaries.h"

namespace coffer::flows {
namespace {

using outbound::Collection;
using outbound::CollectionResponse;
using outbound::Party;
using outbound::Payout;
using outbound::PayoutResponse;

void put(Party& party, const char* name, const std::optional<std::string>& value) {
  if (value) party.details[name] = *value;
}

void put_details(Party& party, const BankDetails& bank) {
  party.details["accountName"] = bank.account_name;
  put(party, "accountNumber", bank.account_number);
  put(party, "iban", bank.iban);
  put(party, "bankName", bank.bank_name);
  put(party, "bankCode", bank.bank_code);
  put(party, "branchCode", bank.branch_code);
  put(party, "swiftBic", bank.swift_bic);
}

void put_details(Party& party, const MobileMoneyDetails& mobile) {
  party.details["provider"] = mobile.provider;
  party.details["phoneNumber"] = mobile.phone_number;
  put(party, "accountName", mobile.account_name);
}

void put_details(Party& party, const CryptoDetails& crypto) {
  party.details["networkName"] = crypto.network_name;
  party.details["assetSymbol"] = crypto.asset_symbol;
  party.details["walletAddress"] = crypto.wallet_address;
  put(party, "memo", crypto.memo);
}

Party recipient(store::Connection& db, const store::PaymentKeys& keys) {
  const auto beneficiary = store::find_beneficiary_by_key(db, *keys.beneficiary);
  const auto destination = store::find_destination_by_key(db, *keys.destination);
  COFFER_CHECK(beneficiary && destination);
  Party party;
  party.name = display_name(beneficiary->detail);
  party.account = outcome_digits(destination->detail);
  party.details["method"] = name(destination->detail.method);
  party.details["countryIsoCode2"] = destination->detail.country;
  party.details["currencyIsoCode3"] = destination->detail.currency;
  std::visit([&](const auto& details) { put_details(party, details); },
             destination->detail.details);
  return party;
}

Party payer(const Payer& payer) {
  Party party;
  party.name = payer.name;
  party.account = payer.account_number.value_or(payer.phone.value_or(""));
  put(party, "accountNumber", payer.account_number);
  put(party, "phone", payer.phone);
  return party;
}

Payout payout(store::Connection& db, const store::PaymentRecord& record,
              const store::ProviderView& view, const store::ProviderDetail& detail) {
  Payout out;
  out.id = record.id;
  out.send = *record.sending_amount;
  out.receive = *record.receiving_amount;
  out.recipient = recipient(db, view.payment.keys);
  out.type = detail.type.value_or(TransactionType::b2c);
  out.quote_reference = detail.quote_reference;
  out.to_ref = record.request.only().refs.to_ref;
  const Compliance compliance = record.request.compliance.value_or(Compliance());
  out.purpose_of_payment = compliance.purpose_of_payment;
  out.source_of_funds = compliance.source_of_funds;
  out.relationship = compliance.relationship;
  out.fields = record.request.additional_fields;
  out.first_sent_at = view.first_sent_at.value_or(record.created_at);
  return out;
}

Collection collection(const store::PaymentRecord& record, const store::ProviderView& view,
                      const store::ProviderDetail& detail) {
  Collection out;
  out.id = record.id;
  out.send = *record.sending_amount;
  out.receive = *record.receiving_amount;
  out.payer = payer(record.request.payer.value_or(Payer()));
  out.quote_reference = detail.quote_reference;
  out.fields = record.request.additional_fields;
  out.first_sent_at = view.first_sent_at.value_or(record.created_at);
  out.expires_at = view.expires_at.value_or(out.first_sent_at.plus_ms(kCollectionLifetimeMs));
  return out;
}

outbound::Refund refund_of(const store::PaymentRecord& record, const store::RefundRow& row) {
  outbound::Refund out;
  out.id = *row.id;
  out.payment = record.id;
  if (record.request.type == PaymentType::onramp_reference) {
    out.reference = record.request.only().refs.to_ref;
    out.provider_payment_id = record.provider->provider_reference;
  }
  out.amount = *row.asked;
  out.currency = record.sending_asset->value();
  out.decimals = record.sending_decimals;
  out.payer = payer(record.request.payer.value_or(Payer()));
  out.reason = row.reason;
  out.first_sent_at = row.at;
  return out;
}

template <class Response>
ProviderReply reply(Result<Response> response) {
  if (!response) return unexpected(std::move(response).error());
  return std::variant<PayoutResponse, CollectionResponse>(*std::move(response));
}

/// Whether the provider does not know the payment.
bool is_unknown(const std::variant<PayoutResponse, CollectionResponse>& response) {
  return std::visit(
      [](const auto& each) { return each.state == decltype(each.state)::never_arrived; }, response);
}

template <class Response>
std::string response_text(const Response& response) {
  std::string out(name(response.state));
  if (response.state != decltype(response.state)::failed) return out;
  return out + ": " +
         std::string(info(response.failure.value_or(FailureCode::provider_error)).name);
}

}  // namespace

Result<const ConnectorTerms*> ConnectorCache::get(const store::ConnectorRow& connector) {
  const auto& endpoint = connector.terms.endpoint;
  const std::pair at(connector.terms.key, endpoint ? endpoint->key : 0);
  const auto known = terms_.find(at);
  if (known != terms_.end()) return &known->second;
  COFFER_TRY(ConnectorTerms terms, callable(context_, connector));
  return &terms_.emplace(at, std::move(terms)).first->second;
}

Result<ProviderMessage> provider_message(store::Connection& db, ConnectorCache& connectors,
                                         const store::ConnectorRow& connector,
                                         const store::ProviderView& view,
                                         const std::optional<store::RefundRow>& refund) {
  const auto record = store::find_payment_by_key(db, view.payment.key);
  COFFER_CHECK(record.has_value());
  const store::ProviderDetail detail = store::provider_detail(db, view.payment.key);
  ProviderMessage message;
  COFFER_TRY(message.terms, connectors.get(connector));
  if (refund) {
    message.content = refund_of(*record, *refund);
  } else if (message.terms->direction == Direction::off_ramp) {
    message.content = payout(db, *record, view, detail);
  } else {
    message.content = collection(*record, view, detail);
  }
  return message;
}

ProviderReply call_provider(const Context& context, ProviderCall call,
                            const ProviderMessage& message) {
  outbound::Connector& provider = context.connectors;
  const ConnectorTerms& terms = *message.terms;
  switch (call) {
    case ProviderCall::submit:
      return reply(provider.submit(terms, std::get<Payout>(message.content)));
    case ProviderCall::status:
      return reply(provider.payout_status(terms, std::get<Payout>(message.content)));
    case ProviderCall::cancel:
      return reply(provider.cancel(terms, std::get<Payout>(message.content)));
    case ProviderCall::collect:
      return reply(provider.collect(terms, std::get<Collection>(message.content)));
    case ProviderCall::collection_status:
      return reply(provider.collection_status(terms, std::get<Collection>(message.content)));
    case ProviderCall::expire:
      return reply(provider.expire(terms, std::get<Collection>(message.content)));
    case ProviderCall::refund:
      return reply(provider.refund(terms, std::get<outbound::Refund>(message.content)));
    case ProviderCall::refund_status:
      return reply(provider.refund_status(terms, std::get<outbound::Refund>(message.content)));
  }
  throw InternalError("unknown provider call");
}

void apply_reply(const Context& context, store::WriteTx& tx, store::ProviderView& view, int asked,
                 const ProviderReply& reply) {
  if (!reply) return apply_fault(context, tx, view, asked, reply.error());
  std::visit([&](const auto& response) { apply_response(context, tx, view, asked, response); },
             *reply);
}

void apply_check(store::WriteTx& tx, store::ProviderView& view, int asked,
                 const ProviderReply& reply) {
  if (!reply) return end_check(tx, view, asked == kAfterMessage);
  const auto* collection = std::get_if<CollectionResponse>(&*reply);
  const bool contradicted =
      std::visit([&](const auto& response) { return contradicts(view, response); }, *reply);
  // What arrived late is on record before an operator books it.
  const bool credited = was_paid(view.payment);
  if (collection != nullptr && collection->collected && (!credited || !view.collected)) {
    store::set_collected(tx, view, *collection->collected);
  }
  const bool by_message = asked == kAfterMessage;
  // A provider that reports a result, but then does not know the payment, has confirmed nothing.
  const bool stands = contradicted || (by_message && is_unknown(*reply));
  if (by_message && !stands) {
    log_warning("providers",
                "the provider's message about a final status differs from its own response",
                {{"payment_key", view.payment.key}});
  }
  end_check(tx, view, stands);
}

std::string outcome_text(const ProviderReply& reply) {
  if (!reply) return std::string(info(reply.error().slug).name);
  return std::visit([](const auto& response) { return response_text(response); }, *reply);
}

}  // namespace coffer::flows
