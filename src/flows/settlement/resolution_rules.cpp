#include "flows/settlement/resolution_rules.h"

#include <algorithm>
#include <limits>

#include "domain/providers/quote.h"
#include "flows/ledger/market_changes.h"
#include "flows/payments/payment_steps.h"
#include "flows/providers/contradictions.h"
#include "flows/providers/provider_outcome.h"
#include "store/ledger/wallets.h"
#include "store/operations/payment_story.h"
#include "store/payments/quotes.h"
#include "store/payments/refunds.h"
#include "store/providers/connectors.h"

namespace coffer::flows {
namespace {

using store::PaymentRecord;
using store::ProviderView;

// The longest possible duration of a call. An older call that is still open was interrupted by a
// crash, and the next call queries its result.
constexpr std::int64_t kCallMsMax = 120'000;

/// Whether a call is in progress, so its response is not known yet.
bool is_being_asked(store::WriteTx& tx, std::int64_t payment) {
  const auto attempts = store::attempts_of_payment(tx.db(), payment);
  return std::ranges::any_of(attempts, [&](const store::StoryAttempt& attempt) {
    return !attempt.closed_at && tx.now() < attempt.opened_at.plus_ms(kCallMsMax);
  });
}

constexpr const char* kLedgerFull =
    "Crediting this amount would exceed the ledger's limit for the asset. Try again when less of "
    "it is in circulation.";
constexpr const char* kNotCovered =
    "The wallet does not have sufficient available funds. Resolve the payment when it has.";

bool is_incoming(PaymentType type) { return type != PaymentType::offramp; }
bool is_in_progress(PaymentStatus status) { return !is_settled(status); }

/// What the price gives for the money that arrived; zero if it does not cover the fee, or has
/// another currency.
Amount priced_credit(store::Connection& db, const PaymentRecord& record, const ProviderView& view) {
  const auto connector = store::find_connector_by_key(db, *view.payment.keys.connector);
  if (view.payment.keys.quote) {
    const Price price = store::find_quote_by_key(db, *view.payment.keys.quote)->price;
    return received_of(price, view.collected.value_or(price.send),
                       connector->terms.receive_decimals());
  }
  if (record.receiving_amount) return *record.receiving_amount;
  if (record.failure != FailureCode::amount_precision) return Amount();
  const Amount whole = truncate_to(*record.sending_amount, connector->terms.currency_decimals);
  const auto price = price_exact_send(connector->terms, whole, std::nullopt);
  return price ? price->receive : Amount();
}

/// The most that the money of a customer payment on a reference can be worth: without a fee, at the
/// connector's rate. Of another currency, whose rate is not known: as much as the connector's
/// largest payment.
Amount most_credit(store::Connection& db, const PaymentRecord& record, const ProviderView& view) {
  const ConnectorTerms terms =
      store::find_connector_by_key(db, *view.payment.keys.connector)->terms;
  const bool foreign = record.provider->currency != terms.currency;
  const Amount arrived = foreign ? terms.max_amount : *record.sending_amount;
  const auto most = terms.rate ? multiply(arrived, *terms.rate, Rounding::up) : Amount();
  return most ? *most : Amount::from_units(std::numeric_limits<std::int64_t>::max());
}

/// Why this amount of late or uncredited money cannot be credited; empty if it can. Sets
/// `receiving_amount` of the payment.
std::string objection_to_credit(store::WriteTx& tx, const PaymentRecord& record, ProviderView& view,
                                const ManualResult& result) {
  const Amount credit = result.amount.value_or(priced_credit(tx.db(), record, view));
  if (!credit.is_positive()) {
    return "The price gives no amount for this payment. State the amount to credit.";
  }
  const int decimals = record.receiving_decimals.value_or(Amount::kScale);
  const std::string code = record.request.receiving_asset->value();
  if (truncate_to(credit, decimals) != credit) {
    return "The amount " + decimals_rule(code, decimals) + ".";
  }
  const auto quoted = record.provider->quoted_receiving;
  if (quoted && credit > *quoted) {
    return "The amount exceeds the " + quoted->to_string(decimals) + " " + code + " of the quote.";
  }
  if (!view.payment.keys.quote) {
    const Amount most = most_credit(tx.db(), record, view);
    if (credit > most) {
      return "The amount exceeds the " + most.to_string(Amount::kScale) + " " + code +
             " that the connector's rate gives for the money that arrived.";
    }
  }
  view.payment.receiving_amount = credit;
  return can_book(tx, view) ? "" : kLedgerFull;
}

std::string objection_to_success(store::WriteTx& tx, const PaymentRecord& record,
                                 ProviderView& view, const ManualResult& result) {
  const bool in_progress = is_in_progress(record.status);
  const bool quoted = is_quoted(record.request.type);
  if (record.status == PaymentStatus::succeeded || record.status == PaymentStatus::refund_pending) {
    return "This payment is " + std::string(name(record.status)) + ".";
  }
  if (in_progress && !quoted) {
    return "coffer credits this payment as soon as its wallet is verified.";
  }
  if (result.amount && (in_progress || !is_incoming(record.request.type))) {
    return "An amount can only be stated for money that was collected but not credited.";
  }
  if (!is_incoming(record.request.type)) {
    const bool debits = !in_progress && record.status != PaymentStatus::refund_failed;
    return debits && !can_book(tx, view) ? kNotCovered : "";
  }
  const auto wallet = view.payment.keys.legs.front().destination_wallet;
  if (store::wallet_status(tx.db(), *wallet) != WalletStatus::verified) {
    return "The destination wallet is not verified, so it cannot receive payments. Complete its "
           "review first.";
  }
  if (!in_progress) return objection_to_credit(tx, record, view, result);
  return may_enter(tx, view.payment.environment, collection_posting(tx, view.payment))
             ? ""
             : kLedgerFull;
}

std::string objection_to_refund(store::WriteTx& tx, const PaymentRecord& record,
                                const ProviderView& view) {
  const bool incoming = is_incoming(record.request.type);
  switch (record.status) {
    case PaymentStatus::initiated:
    case PaymentStatus::processing:
      if (!incoming && view.state == ProviderState::accepted) return "";
      return "The wallet has not been debited, so there is nothing to refund. Resolve the payment "
             "as succeeded or failed.";
    case PaymentStatus::refund_pending:
    case PaymentStatus::refund_failed:
    case PaymentStatus::succeeded:
      if (can_give_back(tx, view)) return "";
      return incoming ? kNotCovered : kLedgerFull;
    case PaymentStatus::failed:
    case PaymentStatus::refunded:
    case PaymentStatus::expired:
      break;
  }
  return "Only a payment that moved money can be resolved as refunded. This one is " +
         std::string(name(record.status)) + ".";
}

/// Of a decision about a refund of an on-ramp.
std::string objection_to_named_refund(store::WriteTx& tx, const PaymentRecord& record, bool waits,
                                      bool open, const ManualResult& result) {
  const bool refunded = result.as == Resolution::refunded;
  if (!waits) {
    if (refunded && open) return "";
    return refunded ? "A refund that failed can be resolved as refunded once, after the provider "
                      "has contradicted it."
                    : "No refund of this payment waits, so --refund goes only with --as refunded.";
  }
  // Another one can begin while a decision waits for its approval.
  const auto id = store::waiting_refund(tx.db(), record.key).value().id;
  if (result.refund == id && (refunded || result.as == Resolution::failed)) return "";
  return "The provider is giving money back to its payer. Decide about this refund with --refund " +
         id->to_string() + " --as refunded, or --as failed if the payer does not get the money.";
}

}  // namespace

std::string objection(store::WriteTx& tx, const PaymentRecord& record, ProviderView& view,
                      const ManualResult& result) {
  if (is_being_asked(tx, record.key) || is_checking(view.open_item)) {
    return "A request to the provider is in progress. Wait for its result, at most 2 minutes, then "
           "try again.";
  }
  if (result.amount && result.as != Resolution::succeeded) {
    return "An amount can only be stated with the result succeeded.";
  }
  const bool open =
      view.open_item == OpenItem::unbooked || view.open_item == OpenItem::contradicted;
  if (is_refunding(view.payment) || result.refund) {
    return objection_to_named_refund(tx, record, is_refunding(view.payment), open, result);
  }
  const bool in_progress = is_in_progress(record.status);
  const std::string now = " This one is " + std::string(name(record.status)) + ".";
  const bool refunding = record.status == PaymentStatus::refund_pending ||
                         record.status == PaymentStatus::refund_failed;
  if (!in_progress && !open && !(refunding && result.as == Resolution::refunded)) {
    return "A final status can only be corrected after the provider has contradicted it. Query the "
           "provider first with \"coffer payment retry\"." +
           now;
  }
  const bool reversed = was_paid(view.payment) && record.status != PaymentStatus::succeeded;
  if (reversed && result.as != Resolution::unchanged) {
    if (is_incoming(record.request.type)) {
      return "Refunds of this payment have ended, so its status stands. If the payer has the money "
             "of one that failed, resolve the payment as refunded with --refund ID, otherwise as "
             "unchanged.";
    }
    return "Money of this payment was given back after it had succeeded, so its status stands. "
           "Credit what else came back with \"coffer payment reverse\", then resolve the payment "
           "as "
           "unchanged.";
  }
  const bool corrects = !in_progress && !refunding && result.as != Resolution::unchanged &&
                        result.as != Resolution::returned;
  if (corrects && record.corrected_at) {
    return "The status of this payment was corrected before. Settle the difference with the "
           "provider, then resolve the payment as unchanged.";
  }
  switch (result.as) {
    case Resolution::succeeded:
      return objection_to_success(tx, record, view, result);
    case Resolution::failed:
      return in_progress ? "" : "Only a payment in progress can be resolved as failed." + now;
    case Resolution::refunded:
      return objection_to_refund(tx, record, view);
    case Resolution::returned:
      if (!is_incoming(record.request.type) || record.status == PaymentStatus::succeeded ||
          (in_progress && is_quoted(record.request.type))) {
        return "Only money that was collected but not credited can be resolved as returned." + now;
      }
      return "";
    case Resolution::unchanged:
      return view.open_item == OpenItem::contradicted
                 ? ""
                 : "Only a contradicted status can be resolved as unchanged.";
  }
  throw InternalError("unknown resolution");
}

}  // namespace coffer::flows
