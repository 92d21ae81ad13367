// Customer payments that arrive on a reference (docs/contract.md#references). A provider can only
// repeat its report, so no report of money is rejected for what it says about the payment.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "flows/context.h"
#include "store/payments/payments.h"
#include "store/providers/arrivals.h"

namespace coffer::flows {

/// A customer's payment, as the provider reports it.
struct ReferenceArrival {
  std::string reference;
  std::string provider_payment_id;  // counted once per connector
  std::string amount;               // the text of a number greater than zero
  std::string currency;
  Payer payer;
  bool simulated = false;  // requested by a sandbox route, so quotas apply
};
struct ArrivedPayment {
  std::optional<PaymentId> id;  // empty: stored as an unassigned arrival
  bool known = false;           // reported before
};
/// Records the payment in one durable commit. Settlement credits the wallet, unless the payment
/// does not cover the fee, has another currency or more decimal places: then it fails, and an
/// operator books or returns the money. A payment on an unknown reference, or with an amount that
/// cannot be stored, becomes an unassigned arrival. A repeated report changes nothing; one with
/// different content is noted with the payment, for an operator (`conflict` if it is simulated).
Result<ArrivedPayment> accept_reference_payment(const Context& context,
                                                const ConnectorTerms& connector,
                                                const ReferenceArrival& arrival,
                                                std::string_view request_id);

/// Inside a command: stores money without a payment as an unassigned arrival.
void put_aside(const Context& context, store::WriteTx& tx, std::int64_t connector,
               const ReferenceArrival& arrival);

/// Inside the settlement command: credits the wallet from the provider's clearing account. Waits
/// while the wallet may not transact.
void settle_reference_payment(const Context& context, store::WriteTx& tx,
                              store::SettlementView& payment);

/// Assigns an unassigned arrival to a reference of its connector, as if it had arrived on it.
/// `not-found`; `conflict` if it was assigned or returned before, or its amount cannot be stored.
Result<PaymentId> assign_arrival(const Context& context, ArrivalId id, const std::string& reference,
                                 std::string_view request_id);
/// Records that the provider returned the money to the payer. `not-found`, `conflict`.
Result<store::ArrivalRow> return_arrival(const Context& context, ArrivalId id);

}  // namespace coffer::flows
