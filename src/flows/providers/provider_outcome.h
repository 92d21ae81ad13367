// Converts a provider's result to state, events and entries, inside a command. Used for the
// response to a call, and for decisions of sandbox routes and operators in place of the provider.
#pragma once

#include "flows/context.h"
#include "outbound/providers/connector.h"
#include "store/providers/provider_payments.h"

namespace coffer::flows {

/// `asked` is the number of requests to the provider since the last change, which determines the
/// delay of the next one. A payment in a final status is not changed, so late and repeated results
/// have no effect. While an on-ramp is refunded, a PayoutResponse is about its refund.
void apply_response(const Context& context, store::WriteTx& tx, store::ProviderView& view,
                    int asked, const outbound::PayoutResponse& response);
void apply_response(const Context& context, store::WriteTx& tx, store::ProviderView& view,
                    int asked, const outbound::CollectionResponse& response);

/// Handles a call with an unknown result: coffer queries the provider again later.
void apply_fault(const Context& context, store::WriteTx& tx, store::ProviderView& view, int asked,
                 const Problem& fault);

/// Moves a payment whose money was returned to `refunded`, with a separate entry set that mirrors
/// the first: from `refund_pending`, or from `refund_failed` if the money was returned later. From
/// `refund_pending`, it becomes `refund_failed` if `can_give_back` returns false; from
/// `refund_failed`, the caller checks this first.
void give_back(const Context& context, store::WriteTx& tx, store::ProviderView& view);

/// Whether the ledger can hold the refunded amount; of a collection, whether the wallet has it.
bool can_give_back(store::WriteTx& tx, const store::ProviderView& view);

}  // namespace coffer::flows
