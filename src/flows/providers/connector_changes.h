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
  ConnectorChange change = {};  // applied to `terms`
  bool validate_only = false;   // runs every check and stores nothing
};

struct RegisteredConnector {
  store::ConnectorRow connector;
  Secret secret;  // of an http connector; shown once
};

/// `validation-failed`, `amount-precision` or `amount-out-of-range` with all invalid fields.
Result<RegisteredConnector> register_connector(const Context& context,
                                               const NewConnector& connector);

// Changes of a connector return `not-found` and the Problems of registration.

/// A paused connector issues no quotes. New amounts and prices apply to new quotes. `conflict` for
/// new decimals while payments or quotes have amounts with the present ones.
Result<store::ConnectorRow> change_connector(const Context& context, ConnectorId id,
                                             const ConnectorChange& change);
struct EndpointChange {
  std::optional<std::string> base_url;  // empty: unchanged
  std::optional<int> timeout_ms;        // empty: unchanged
  bool confirmed = false;  // the operator accepts payments in progress at the old address
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
/// Requires a field, or changes a required one.
Result<void> require_field(const Context& context, ConnectorId id, const RequirementChange& change);
/// Removes a requirement, if there is one with this name.
Result<void> unrequire_field(const Context& context, ConnectorId id, const std::string& name);

/// Sets the fee of an off-ramp for one association, instead of the connector's fee. In a new fee, a
/// part that is not given is zero. `not-found` for
/// a missing association or connector; `validation-failed` for an on-ramp connector.
Result<store::FeeRow> set_fee(const Context& context, AssociationId association, ConnectorId id,
                              TransactionType type, const FeeChange& change);
Result<void> remove_fee(const Context& context, AssociationId association, ConnectorId id,
                        TransactionType type);

}  // namespace coffer::flows
