// Funds that payments in progress reserve on the accounts of their source wallets.
//
// The hold of a payment with one leg has no row: its amount including the fee is held on the
// trustline of its source wallet until the payment ends, or until an off-ramp is debited. The holds
// of a multi-transfer are rows, because their amounts depend on the order of its legs. The view
// `payment_holds` contains both.
#pragma once

#include <cstdint>
#include <span>

#include "domain/ledger/ledger.h"
#include "store/payments/payments.h"

namespace coffer::store {

/// Reserves funds for a payment that was just stored. The caller has checked `available`.
void place_holds(WriteTx& tx, std::int64_t payment, PaymentType type, std::span<const Hold> holds);
/// Returns everything that a payment in progress holds to `available`, exactly once. Call it before
/// the change of status that ends the hold, and before post() if `state` is posted.
void close_holds(WriteTx& tx, const SettlementView& payment, HoldState state);

}  // namespace coffer::store
