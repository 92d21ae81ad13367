// A provider that contradicts the final status of a payment, and the operator's correction
// (docs/operating.md#open-items).
#pragma once

#include "flows/context.h"
#include "outbound/providers/connector.h"
#include "store/providers/provider_payments.h"

namespace coffer::flows {

/// Whether the provider's word about a payment in a final status differs from it, or from the
/// collected amount.
bool contradicts(const store::ProviderView& view, const outbound::PayoutResponse& response);
bool contradicts(const store::ProviderView& view, const outbound::CollectionResponse& response);

/// Stores what the provider reported where its responses are stored. Returns false if it reported
/// the same before.
bool note_report(store::WriteTx& tx, std::int64_t payment, ProviderCall call,
                 const std::string& text);

/// Leaves a final status to an operator that the provider's signed message contradicts, without
/// another query; once for each report.
void leave_contradiction(store::WriteTx& tx, const store::ProviderView& view, ProviderCall call,
                         const std::string& report);

/// `asked` of a check that a provider's signed message caused. The message stands if the query
/// fails.
inline constexpr int kAfterMessage = 0;
/// `asked` of a check that an operator requested.
inline constexpr int kAfterRequest = 1;
/// Makes one query about a payment in a final status due now, in the lane of its connector.
void begin_check(store::WriteTx& tx, const store::ProviderView& view, std::int64_t lane, int asked);
/// Ends the query. A contradiction is left to an operator.
void end_check(store::WriteTx& tx, const store::ProviderView& view, bool contradicted);

/// Corrects a payment that the provider did execute to `succeeded`, with its entries: from
/// `failed`, `expired`, `refunded` or `refund_failed`. The caller checks `can_book` first.
void book(const Context& context, store::WriteTx& tx, store::ProviderView& view);
/// Whether the debited account has the money, and the ledger can hold it.
bool can_book(store::WriteTx& tx, const store::ProviderView& view);

}  // namespace coffer::flows
