// Refunds of on-ramps: the provider gives collected money back to its payer
// (docs/contract.md#refunds).
//
// While a refund waits for the provider, the payment is `refund_pending`, its wallet holds what it
// gives back, and `state` of its provider part is that of the refund. Inside commands.
#pragma once

#include <optional>
#include <vector>

#include "flows/context.h"
#include "store/ledger/journal.h"
#include "store/payments/refunds.h"
#include "store/providers/provider_payments.h"

namespace coffer::flows {

/// The most that can be given back of a payment. The payer of an on-ramp who paid too much gets the
/// excess from the provider.
Amount reversible(const store::PaymentRecord& record);

/// The movements that give back `amount` of what was collected: the same share of the credited
/// amount, from the wallet. `wallet-not-verified`; `validation-failed` for an amount that is worth
/// nothing. The caller checks that the funds are there.
Result<std::vector<store::Movement>> collection_movements(store::WriteTx& tx,
                                                          const store::PaymentRecord& record,
                                                          const store::SettlementView& payment,
                                                          Amount amount);

/// Stores the refund with its ID, places the hold, and makes the call to the provider due. `row`
/// has `asked` and `held`; the caller has checked that the funds are there.
void begin_refund(const Context& context, store::WriteTx& tx, store::ProviderView& view,
                  store::RefundRow& row);

/// The refund that waits. It must exist.
store::RefundRow refund_in_progress(store::WriteTx& tx, std::int64_t payment);
/// Whether a call about `refund`, or without it about the payment, is about what waits for the
/// provider now. A decision in its place can end both during a call, and a reversal can follow.
bool is_current(store::WriteTx& tx, const store::SettlementView& payment,
                const std::optional<store::RefundRow>& refund);

/// Ends the waiting refund of the payment. Without `failure`, the payer has the money, and the
/// amount moves from the wallet to the clearing account of the connector; with it, the wallet keeps
/// the amount.
void end_refund(const Context& context, store::WriteTx& tx, store::ProviderView& view,
                std::optional<FailureCode> failure);

/// Whether a refund was booked, at once or after it had failed. `rows`: all of its payment.
bool payer_has(const std::vector<store::RefundRow>& rows, RefundId id);

/// Books a refund that failed although its payer has the money, as a further refund of this amount.
/// `conflict` if the payment has no such refund, if it was booked before, or if the wallet does not
/// have the funds.
Result<void> book_failed_refund(const Context& context, store::WriteTx& tx,
                                const store::PaymentRecord& record, store::ProviderView& view,
                                RefundId id);

}  // namespace coffer::flows
