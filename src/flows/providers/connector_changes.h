// Changes of connectors by the operator: registration, terms, requirements and fees
// (docs/contract.md#connectors).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/strong.h"
#include "domain/providers/connector.h"
#include "flows/context.h"
#include "store/providers/connectors.h"

namespace coffer::flows {

/// The intended `terms`, without key, ID and time; codes in upper or lower case. Of the asset, only
/// the code is used. An http connector without a secret gets a new one.
struct NewConnector {
  ConnectorTerms terms;
  std::vector<Requirement> requirements;
};

struct RegisteredConnector {
  store::ConnectorRow connector;
  Secret secret;  // of an http connector; shown once
};

/// `validation-failed`, `amount-precision` or `amount-out-of-range` with all invalid fields.
Result<RegisteredConnector> register_connector(const Context& context,
                                               const NewConnector& connector);

// Changes of a connector return `not-found` and the Problems of registration.

Result<store::ConnectorRow> set_connector_rate(const Context& context, ConnectorId id, Rate rate);
Result<store::ConnectorRow> set_connector_fee(const Context& context, ConnectorId id, FeeRule fee);
struct ConnectorLimits {
  Amount min_amount;
  Amount max_amount;
  std::optional<Amount> day_limit;
  std::optional<Amount> month_limit;
};
Result<store::ConnectorRow> set_connector_limits(const Context& context, ConnectorId id,
                                                 const ConnectorLimits& limits);
/// A paused connector issues no quotes. Setting the current status changes nothing.
Result<store::ConnectorRow> set_connector_status(const Context& context, ConnectorId id,
                                                 ConnectorStatus status);
struct EndpointChange {
  std::string base_url;
  std::optional<int> timeout_ms;  // empty: unchanged
  bool confirmed = false;         // the operator accepts payments in progress at the old address
};
/// Changes the address or timeout of an http connector. A payment that was sent to the old address
/// continues there, with the secret of that address: a different provider would respond that the
/// payment never arrived, and would execute it a second time. `conflict` for a connector of another
/// driver, and while there are such payments, unless the change is `confirmed`.
Result<store::ConnectorRow> set_connector_endpoint(const Context& context, ConnectorId id,
                                                   const EndpointChange& change);
/// The old secret becomes invalid with this commit, except for payments at retired addresses of the
/// connector. `conflict` for a connector that is not http.
Result<RegisteredConnector> rotate_connector_secret(const Context& context, ConnectorId id);
/// Replaces all requirements, in form order.
Result<void> set_requirements(const Context& context, ConnectorId id,
                              const std::vector<Requirement>& requirements);

/// Sets the fee of an off-ramp for one association, instead of the connector's fee. `not-found` for
/// a missing association or connector; `validation-failed` for an on-ramp connector.
Result<store::FeeRow> set_fee(const Context& context, AssociationId association, ConnectorId id,
                              TransactionType type, FeeRule fee);
Result<void> remove_fee(const Context& context, AssociationId association, ConnectorId id,
                        TransactionType type);

}  // namespace coffer::flows
