// Connector data for pricing and executing payments: secrets and limits.
#pragma once

#include <string>

#include "base/validation_errors.h"
#include "domain/providers/connector.h"
#include "flows/context.h"
#include "store/providers/connectors.h"

namespace coffer::flows {

/// The context for which the secret of a connector's endpoint is sealed.
std::string connector_secret_context(const Uuid& endpoint);
/// Seals `secret` into `row` for its endpoint.
void seal_secret(const Context& context, store::ConnectorRow& row, const Secret& secret);
/// The connector with its secret opened, for the registry of drivers.
Result<ConnectorTerms> callable(const Context& context, const store::ConnectorRow& row);

/// `amount-out-of-range` on `amount` if this off-ramp exceeds the connector's rolling limits per
/// destination (docs/contract.md#quotes). Checked at the quote, and again inside the command at
/// submission.
void check_limits(store::Connection& db, const ConnectorTerms& connector, std::int64_t destination,
                  Amount amount, Timestamp now, ValidationErrors& errors);

}  // namespace coffer::flows
