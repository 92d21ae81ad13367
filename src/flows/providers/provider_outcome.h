// Turns the result of a provider into state, events and entries, inside a command. Called with the
// response to a call, and by sandbox routes and the operator, who decide instead of the provider.
#pragma once

#include "flows/context.h"
#include "outbound/providers/connector.h"
#include "store/providers/provider_payments.h"

namespace coffer::flows {

/// `asked` counts how often the provider was asked since something last changed; it sets the pace
/// of the next question. A payment that is over is left as it is: late and repeated news change
/// nothing.
void apply_response(const Context& context, store::WriteTx& tx, store::ProviderView& view,
                    int asked, const outbound::PayoutResponse& answer);
void apply_response(const Context& context, store::WriteTx& tx, store::ProviderView& view,
                    int asked, const outbound::CollectionResponse& answer);

/// It is unknown what the provider did: coffer asks again later.
void apply_fault(const Context& context, store::WriteTx& tx, store::ProviderView& view, int asked,
                 const Problem& fault);

/// Ends an off-ramp that failed after its debit in `refunded`, with a set of its own that mirrors
/// the first: from `refund_pending`, or from `refund_failed` when the money came after all. From
/// `refund_pending` it ends in `refund_failed` where `can_give_back` says no; from `refund_failed`
/// the caller asks that first.
void give_back(const Context& context, store::WriteTx& tx, store::ProviderView& view);

/// Whether the ledger can hold what the refund brings back.
bool can_give_back(store::WriteTx& tx, const store::ProviderView& view);

}  // namespace coffer::flows
