// Wallets as JSON of requests (docs/contract.md#wallets).
#pragma once

#include "api/json/fields.h"
#include "api/pipeline/route.h"
#include "flows/ledger/wallet_changes.h"

namespace coffer::api {

/// Adds all errors to those of `fields`; the result is meaningful only if there are none. `today`
/// limits dates of birth.
flows::NewWallet read_new_wallet(Fields& fields, Timestamp today);

/// GET /v1/assets, which the Connect group also serves at another path.
Result<http::Response> list_assets(const Services& services, const Call& call);

}  // namespace coffer::api
