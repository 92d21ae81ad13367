// Connectors, the fields that they require, and the fees of associations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/uuid.h"
#include "domain/identity/tenant.h"
#include "domain/providers/connector.h"
#include "store/commits/write_tx.h"
#include "store/rows/key_walk.h"

namespace coffer::store {

/// A connector with one of its endpoints. `terms.endpoint` has an empty secret. The caller of the
/// provider opens `sealed_secret`, which is sealed for the context
/// "connector-secret:<endpoint_id>".
struct ConnectorRow {
  ConnectorTerms terms;
  Uuid endpoint_id;
  std::string sealed_secret;
  Timestamp updated_at;
};

struct ConnectorFilter {
  std::optional<std::string> country;  // alpha-2
  std::optional<Direction> direction;
  std::optional<PayMethod> method;
  std::optional<AssetCode> asset;
  std::optional<ConnectorFlow> flow;
  std::optional<std::string> currency;
};

/// Connectors belong to the operator and are the same for every association of an environment.
std::optional<ConnectorRow> find_connector(Connection& db, Environment environment, ConnectorId id);
/// In any environment, for the operator.
std::optional<ConnectorRow> find_connector_of_any(Connection& db, ConnectorId id);
std::optional<ConnectorRow> find_connector_by_key(Connection& db, std::int64_t connector);
int currency_decimals_of(Connection& db, std::int64_t connector);
/// The connector with this endpoint, which may be retired; without an endpoint if `endpoint` is
/// empty.
std::optional<ConnectorRow> find_connector_at(Connection& db, std::int64_t connector,
                                              std::optional<std::int64_t> endpoint);
/// The connector once for each retired endpoint, oldest first.
std::vector<ConnectorRow> find_connector_at_retired(Connection& db, std::int64_t connector);
/// Newest first.
RowPage<ConnectorRow> list_connectors(Connection& db, Environment environment,
                                      const ConnectorFilter& filter, const PageAt& page);
/// Connectors of both environments, for the operator and for starting the lanes.
std::vector<ConnectorRow> list_connectors_of_all(Connection& db);
/// Returns the row key.
std::int64_t insert_connector(WriteTx& tx, const ConnectorRow& row,
                              const std::vector<Requirement>& requirements);
/// Replaces decimals, price, limits and status, and the secret and timeout of the endpoint with the
/// key `terms.endpoint->key`.
void update_connector(WriteTx& tx, const ConnectorRow& row);
/// Retires the present endpoint and replaces it with the endpoint of `row`. For a new endpoint, the
/// key is 0 and is set here; otherwise it is the key of a retired endpoint.
void move_connector(WriteTx& tx, ConnectorRow& row);

/// In form order.
std::vector<Requirement> requirements_of(Connection& db, std::int64_t connector);
/// Increments `requirements_version`, so that checks against the old requirements are detected.
void replace_requirements(WriteTx& tx, std::int64_t connector,
                          const std::vector<Requirement>& requirements);

struct FeeRow {
  AssociationId association;
  ConnectorId connector;
  std::int64_t connector_key = 0;
  TransactionType type = TransactionType::b2c;
  FeeRule fee;
};
/// The fee for exactly this association, connector and type, even if it is zero.
std::optional<FeeRule> find_fee(Connection& db, AssociationId association, std::int64_t connector,
                                TransactionType type);
std::vector<FeeRow> list_fees(Connection& db);
void put_fee(WriteTx& tx, const FeeRow& row);
/// Returns false if the fee does not exist.
bool delete_fee(WriteTx& tx, const FeeRow& row);

}  // namespace coffer::store
