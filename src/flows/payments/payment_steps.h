// Steps that commands about payments share: what is judged before one is accepted, and what every
// kind of settlement does, where the state, its event, and the money always change together.
#pragma once

#include <cstdint>
#include <span>

#include "domain/identity/tenant.h"
#include "flows/context.h"
#include "store/ledger/journal.h"
#include "store/payments/payments.h"

namespace coffer::flows {

/// As store::run_for, for commands that move money for a caller: the association is judged again
/// when the command's turn comes, because a suspension may have been committed while it waited.
/// `association-suspended` then, and nothing is stored.
template <class T, class F>
Result<T> run_money_write(const Context& context, const Tenant& tenant, F&& command,
                          store::CommitQueue::Mode mode = store::CommitQueue::Mode::commit) {
  return store::run_for<T>(
      context.queue,
      [&](store::WriteTx& tx) -> Result<T> {
        COFFER_TRY_VOID(require_active(tx.association_status(tenant)));
        return command(tx);
      },
      mode);
}

/// Along the transition table, with the event of the new status, and the message that the
/// submission asked for when it is `succeeded`.
void advance(const Context& context, store::WriteTx& tx, store::SettlementView& payment,
             const store::StatusChange& change);

/// The status `processing` with its event, for a command that ends the payment as well.
void pass_processing(const Context& context, store::WriteTx& tx, store::SettlementView& payment);

/// Posts what was held and the entry set, and ends in `succeeded`.
void succeed(const Context& context, store::WriteTx& tx, store::SettlementView& payment,
             std::span<const store::Movement> movements, store::StatusChange change);

/// A business failure is a successful command: the hold is released and everyone is told.
void fail(const Context& context, store::WriteTx& tx, store::SettlementView& payment,
          FailureCode code);

/// What crediting a collection moves: from the clearing account of its connector to its wallet.
Posting collection_posting(store::WriteTx& tx, const store::SettlementView& payment);

/// Delay before a collected amount that could not be credited is tried again.
inline constexpr std::int64_t kReviewPollMs = 60'000;

/// Credits `receiving_amount` of the payment from the clearing account of the provider that
/// collected, and ends in `succeeded` with this amount on its record; in `failed` when the ledger
/// can't hold it. False, with nothing done, while the wallet may not transact: the money is the
/// provider's until then.
bool credit_collection(const Context& context, store::WriteTx& tx, store::SettlementView& payment);

/// A wallet's account in an asset, which acceptance saw: trustlines are never removed.
AccountKey trustline(store::WriteTx& tx, std::int64_t wallet, std::int64_t asset);

}  // namespace coffer::flows
