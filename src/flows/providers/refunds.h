// Money that is given back after its payment has succeeded: payouts that the recipient's bank sends
// back, and reversals (docs/contract.md#refunds).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/identity/tenant.h"
#include "flows/context.h"
#include "flows/payments/submit_payment.h"
#include "store/ledger/journal.h"
#include "store/payments/refunds.h"
#include "store/providers/provider_payments.h"

namespace coffer::flows {

/// A payout that came back, in whole or in part, as its provider reports it.
struct ReturnReport {
  std::string payout;     // its ID
  std::string return_id;  // counted once per connector
  std::string amount;     // in the currency of the payout: the text of a number greater than zero
  std::string currency;
  std::string reason;
  bool with_fee = false;  // the fee came back too
};
/// Records the return in one durable commit, and credits the source wallet if the payout has
/// succeeded: the same share of the debited amount, and everything once everything has come back. A
/// return of a payout in progress waits for its end. One that contradicts its payout, or an earlier
/// report with this ID, is left to an operator; one of an unknown payout becomes an unassigned
/// arrival. Repeating a report changes nothing. `unauthorized` if `connector` is a retired address
/// that did not get the payout.
Result<void> accept_return(const Context& context, const ConnectorTerms& connector,
                           const ReturnReport& report);

/// Inside a command that ends a payout: books the returns in this state, those that waited for it
/// or, if an operator books a failed payout after all, those that contradicted it.
void settle_returns(const Context& context, store::WriteTx& tx, store::ProviderView& view,
                    RefundState state = RefundState::waiting);

/// A request to give back a payment that has succeeded.
struct Reversal {
  PaymentId payment;
  std::string transaction_id;    // in the same namespace as those of payments
  std::optional<Amount> amount;  // in the sending asset; empty: all that is left
  std::string reason;
};
/// Moves the money back in one commit and returns the payment. The reversal of an on-ramp holds the
/// money instead, until its provider has given it back (flows/providers/collection_refunds.h). With
/// `validate_only`, runs every check and stores nothing. `not-found`; `conflict` for a payment that
/// has not succeeded; `validation-failed` or `forbidden` for a type that the caller cannot reverse;
/// `reversal-exceeds-payment`, `amount-precision`, `insufficient-funds`, `wallet-not-verified`,
/// `transaction-id-conflict`, `association-suspended`, `quota-exceeded`.
Result<Submission> reverse_payment(const Context& context, const Caller& caller,
                                   const Reversal& reversal, bool validate_only);
/// The same for an operator, who can also reverse swaps, payouts whose money the provider has
/// returned outside of the protocol, and payments that another association received.
Result<Submission> reverse_for_operator(const Context& context, const Reversal& reversal,
                                        bool validate_only = false);

/// The sums of the booked refunds of a payment.
struct GivenBack {
  Amount amount;  // without the fee
  Amount fee;
  Amount debited;     // what the wallet of an on-ramp gave
  Amount of_returns;  // the part of `amount` that belongs to returns
  Amount returned;    // in the currency of the payout
  std::size_t parts = 0;
};
/// Throws ForeignChange (store/rows/guarded_rows.h) if they are not what its digest covers.
GivenBack given_back(store::Connection& db, const store::SettlementView& payment);

/// Inside a command: posts the movements of a refund, stores its row as booked, and changes the
/// status of the payment. Without movements, only stores the row.
void book_refund(const Context& context, store::WriteTx& tx, store::SettlementView& payment,
                 store::RefundRow& row, const std::vector<store::Movement>& movements);

}  // namespace coffer::flows
