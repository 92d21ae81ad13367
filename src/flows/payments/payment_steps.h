// Steps that payment commands share: checks before acceptance, and the parts of settlement in which
// state, event and money change together.
#pragma once

#include <cstdint>
#include <span>

#include "domain/identity/tenant.h"
#include "flows/context.h"
#include "store/ledger/journal.h"
#include "store/payments/payments.h"

namespace coffer::flows {

/// Moves the payment along the transition table and emits the event of the new status. On
/// `succeeded`, also queues the notification that the submission requested.
void advance(const Context& context, store::WriteTx& tx, store::SettlementView& payment,
             const store::StatusChange& change);

/// Sets the status `processing` and emits its event, for a command that also ends the payment.
void pass_processing(const Context& context, store::WriteTx& tx, store::SettlementView& payment);

/// Posts the held amounts as one entry set and moves the payment to `succeeded`.
void succeed(const Context& context, store::WriteTx& tx, store::SettlementView& payment,
             std::span<const store::Movement> movements, store::StatusChange change);

/// Moves the payment to `failed`, releases the hold and emits the event. A business failure is a
/// successful command.
void fail(const Context& context, store::WriteTx& tx, store::SettlementView& payment,
          FailureCode code);

/// The posting that credits a collection: from the clearing account of its connector to its wallet.
Posting collection_posting(store::WriteTx& tx, const store::SettlementView& payment);

/// Delay before the next attempt to credit a collected amount.
inline constexpr std::int64_t kReviewPollMs = 60'000;

/// Credits `receiving_amount` of the payment from the clearing account of the provider that
/// collected it. The payment becomes `succeeded` with this amount on its record, or `failed` if the
/// ledger cannot hold the amount. Returns false and changes nothing while the wallet may not
/// transact; the provider keeps the money until then.
bool credit_collection(const Context& context, store::WriteTx& tx, store::SettlementView& payment);

/// A wallet's account in an asset. It must exist, because acceptance found it, and trustlines are
/// never removed.
AccountKey trustline(store::WriteTx& tx, std::int64_t wallet, std::int64_t asset);

}  // namespace coffer::flows
