// Whether a payment can get a result from an operator.
#pragma once

#include <string>

#include "flows/settlement/resolve_payment.h"
#include "store/providers/provider_payments.h"

namespace coffer::flows {

/// Why the payment cannot get this result in its current state; empty if it can. Sets the amount to
/// credit in `view`.
std::string objection(store::WriteTx& tx, const store::PaymentRecord& record,
                      store::ProviderView& view, const ManualResult& result);

}  // namespace coffer::flows
