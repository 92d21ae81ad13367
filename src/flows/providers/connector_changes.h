// The operator's connectors: registration, terms, requirements and fee rows
// (docs/contract.md#connectors).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/strong.h"
#include "domain/providers/connector.h"
#include "flows/context.h"
#include "store/providers/connectors.h"

namespace coffer::flows {

/// `terms` as they shall be, without key, id and time; codes in any case. Of its asset only the
/// code counts. An http connector without a secret gets one.
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

// Changes of one connector: `not-found`, and what registration refuses.

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
/// A paused connector gives no quotes. Setting what is set already changes nothing.
Result<store::ConnectorRow> set_connector_status(const Context& context, ConnectorId id,
                                                 ConnectorStatus status);
struct EndpointChange {
  std::string base_url;
  std::optional<int> timeout_ms;  // empty: as it is
  bool confirmed = false;         // although payments are in progress at the old address
};
/// Another address or timeout of an http connector. A payment that was sent to the old address goes
/// on there, with the secret of that address: another provider would say that it never arrived, and
/// make it a second time. `conflict` for a connector of another driver, and while there are such
/// payments unless the change is `confirmed`.
Result<store::ConnectorRow> set_connector_endpoint(const Context& context, ConnectorId id,
                                                   const EndpointChange& change);
/// The old secret ends with this commit, but for payments at addresses that the connector has left.
/// `conflict` for a connector that is not http.
Result<RegisteredConnector> rotate_connector_secret(const Context& context, ConnectorId id);
/// All of them, in form order.
Result<void> set_requirements(const Context& context, ConnectorId id,
                              const std::vector<Requirement>& requirements);

/// The fee of an off-ramp for one association, instead of the connector's. `not-found` naming what
/// there is not; `validation-failed` for an on-ramp connector.
Result<store::FeeRow> set_fee(const Context& context, AssociationId association, ConnectorId id,
                              TransactionType type, FeeRule fee);
Result<void> remove_fee(const Context& context, AssociationId association, ConnectorId id,
                        TransactionType type);

}  // namespace coffer::flows
