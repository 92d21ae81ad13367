// The movements of a payment through a provider, and of its refund.
#pragma once

#include <vector>

#include "store/ledger/journal.h"
#include "store/providers/provider_payments.h"

namespace coffer::flows {

/// An off-ramp: the amount to the connector's clearing account, the fee to the fee account. A
/// collection: the credit from the clearing account. All come from one account.
std::vector<store::Movement> provider_movements(store::WriteTx& tx,
                                                const store::ProviderView& view);
/// The same, mirrored.
std::vector<store::Movement> refund_movements(store::WriteTx& tx, const store::ProviderView& view);
/// Whether the account from which the movements come has the money.
bool is_covered(store::WriteTx& tx, const std::vector<store::Movement>& movements);

}  // namespace coffer::flows
