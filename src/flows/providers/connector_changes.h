// The operator's connectors: registration, terms, requirements and fee rows (decisions section 5).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/strong.h"
#include "domain/connector.h"
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

/// `validation-failed`, `amount-precision` or `amount-out-of-range` with every field at fault.
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
/// Another address or timeout of an http connector; `conflict` for one of another driver.
Result<store::ConnectorRow> set_connector_endpoint(const Context& context, ConnectorId id,
                                                   const std::string& base_url, int timeout_ms);
/// The old secret ends with this commit. `conflict` for a connector that is not http.
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
