// Limits of payments and what was paid under each. Counters are written in the commit that accepts
// a payment, or gives an amount back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "domain/ids.h"
#include "domain/payments/limit.h"
#include "store/commits/write_tx.h"
#include "store/payments/payments.h"

namespace coffer::store {

/// Whose payments a limit counts, in row keys: all of a tenant, or those of one of its applications
/// or wallets.
struct LimitHolder {
  std::int64_t tenant = 0;
  std::optional<std::int64_t> application = {};
  std::optional<std::int64_t> wallet = {};
  std::int64_t asset = 0;
};

struct LimitRow {
  std::int64_t key = 0;
  LimitHolder holder;
  PaymentLimits limits;
  std::int64_t since = 0;  // the last payment before the limit was set
  LimitUse use;            // as stored; see current_use()
  // Read only:
  Asset asset;
  std::optional<ApplicationId> application;
  std::optional<WalletId> wallet;
  Timestamp updated_at;
};

/// True if the tenant, or one of its applications or wallets, has a limit.
bool has_limits(Connection& db, std::int64_t tenant);
std::optional<LimitRow> find_limit(Connection& db, const LimitHolder& holder);
/// By association, then by age.
std::vector<LimitRow> list_limits(Connection& db);
/// The limits that a payment of this application out of this wallet is subject to, at most three.
std::vector<LimitRow> limits_on(Connection& db, const LimitHolder& payer);

/// Sets the limits; a new one counts payments from now on.
void put_limit(WriteTx& tx, const LimitHolder& holder, const PaymentLimits& limits);
/// Returns false if the holder has no limit.
bool delete_limit(WriteTx& tx, const LimitHolder& holder);

void store_limit_use(WriteTx& tx, const LimitRow& row);
/// Counts what a change of status to `after` gives back, or takes again. `payment` is still in the
/// status before, and `refunded` is what it had given back before.
void recount_limits(WriteTx& tx, const SettlementView& payment,
                    const std::optional<Amount>& refunded, const PaymentState& after);

}  // namespace coffer::store
