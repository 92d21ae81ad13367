// Limits of the payments of an association, an application or a wallet
// (docs/contract.md#payment-limits).
#pragma once

#include <optional>
#include <vector>

#include "flows/context.h"
#include "flows/payments/payment_plan.h"
#include "store/payments/limits.h"

namespace coffer::flows {

/// Exactly one of the three. The environment belongs to the association; the others have theirs.
struct LimitOwner {
  std::optional<AssociationId> association;
  Environment environment = Environment::sandbox;
  std::optional<ApplicationId> application;
  std::optional<WalletId> wallet;
};

/// Sets the given limits; the others stay. A new limit counts payments from now on. `not-found`,
/// `validation-failed`.
Result<store::LimitRow> set_limit(const Context& context, const LimitOwner& owner,
                                  const AssetCode& asset, const PaymentLimitsChange& change);
/// Removes the limits and their counters. `not-found`.
Result<void> remove_limit(const Context& context, const LimitOwner& owner, const AssetCode& asset);
/// The present limit; `not-found` if the owner or the asset does not exist.
Result<std::optional<store::LimitRow>> limit_of(store::Connection& db, const LimitOwner& owner,
                                                const AssetCode& asset);

/// The limits that the payment is subject to, with its amounts added, one for each leg. Stored by
/// store_limit_use() once the payment is inserted. `limit-exceeded`.
Result<std::vector<store::LimitRow>> take_limits(store::WriteTx& tx, const Caller& caller,
                                                 const PaymentPlan& plan);
/// Whether the limit of the association permits a payment of this amount through the connector.
/// Counts nothing. `limit-exceeded`.
Result<void> check_association_limit(store::WriteTx& tx, const Tenant& tenant,
                                     const ConnectorTerms& connector, Amount amount);

}  // namespace coffer::flows
