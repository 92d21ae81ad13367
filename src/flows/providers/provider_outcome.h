// What a provider said becomes state, events and entries, inside a command. Called with the answer
// of a call, and by whoever decides in the provider's place (sandbox routes, the operator).
#pragma once

#include "flows/context.h"
#include "outbound/connector.h"
#include "store/providers/provider_payments.h"

namespace coffer::flows {

/// `asked` counts how often the provider was asked since something last changed; it sets the pace
/// of the next question. A payment that is over is left as it is: late and repeated news change
/// nothing.
void apply_answer(const Context& context, store::WriteTx& tx, store::ProviderView& view, int asked,
                  const outbound::PayoutAnswer& answer);
void apply_answer(const Context& context, store::WriteTx& tx, store::ProviderView& view, int asked,
                  const outbound::CollectionAnswer& answer);

/// Nobody knows what the provider did: it is asked again later.
void apply_fault(const Context& context, store::WriteTx& tx, store::ProviderView& view, int asked,
                 const Problem& fault);

/// Ends a cash-out that failed after its debit in `refunded`, with a set of its own that mirrors
/// the first: from `refund_pending`, or from `refund_failed` when the money came after all. From
/// `refund_pending` it ends in `refund_failed` where `can_give_back` says no; from `refund_failed`
/// the caller asks that first.
void give_back(const Context& context, store::WriteTx& tx, store::ProviderView& view);

/// Whether the ledger can hold what the refund brings back.
bool can_give_back(store::WriteTx& tx, const store::ProviderView& view);

}  // namespace coffer::flows
