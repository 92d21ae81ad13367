#include "store/providers/connectors.h"

#include <algorithm>

#include "base/check.h"
#include "store/rows/guarded_rows.h"
#include "store/rows/key_walk.h"
#include "store/rows/members.h"

namespace coffer::store {
namespace {

std::vector<Column<ConnectorRow>> connector_columns() {
  auto out = member_columns<ConnectorRow, &ConnectorRow::terms>("c.");
  out.insert(out.end(),
             {joined<&ConnectorRow::terms, &ConnectorTerms::key>("c.connector"),
              joined<&ConnectorRow::terms, &ConnectorTerms::asset, &Asset::code>("s.code"),
              joined<&ConnectorRow::terms, &ConnectorTerms::asset, &Asset::issuer>("s.issuer"),
              joined<&ConnectorRow::terms, &ConnectorTerms::asset, &Asset::name>("s.name"),
              joined<&ConnectorRow::terms, &ConnectorTerms::asset, &Asset::decimals>("s.decimals"),
              column<&ConnectorRow::terms, &ConnectorTerms::created_at>("c.created_at"),
              column<&ConnectorRow::updated_at>("c.updated_at"),
              joined<&ConnectorRow::endpoint_id>("e.id"),
              joined_blob<&ConnectorRow::sealed_secret>("e.sealed_secret")});
  return out;
}
const auto kConnectorColumns = connector_columns();
/// All NULL if a connector has no endpoint.
constexpr Column<ProviderEndpoint> kEndpoint[] = {
    joined<&ProviderEndpoint::key>("e.connector_endpoint"),
    joined<&ProviderEndpoint::base_url>("e.base_url"),
    joined<&ProviderEndpoint::timeout_ms>("e.timeout_ms"),
    joined<&ProviderEndpoint::retired>("e.retired_at IS NOT NULL"),
};

const std::string kAt = select(kConnectorColumns, kEndpoint) +
                        " FROM connectors c JOIN assets s ON s.asset = c.asset"
                        " LEFT JOIN connector_endpoints e ON e.connector = c.connector AND ";
const std::string kSelectConnector = kAt + "e.retired_at IS NULL";
const std::string kFindConnector = kSelectConnector + " WHERE c.id = ?1 AND c.environment = ?2";
const std::string kFindOfAny = kSelectConnector + " WHERE c.id = ?1";
constexpr const char* kDecimalsOf = "SELECT currency_decimals FROM connectors WHERE connector = ?";
const std::string kFindByKey = kSelectConnector + " WHERE c.connector = ?1";
const std::string kFindAt = kAt + "e.connector_endpoint = ?2 WHERE c.connector = ?1";
const std::string kFindAtRetired =
    kAt +
    "e.retired_at IS NOT NULL WHERE c.connector = ?1 AND e.connector_endpoint IS NOT NULL"
    " ORDER BY e.connector_endpoint";
const std::string kFiltered =
    kSelectConnector +
    " WHERE c.environment = ?1 AND (?2 IS NULL OR c.country = ?2)"
    " AND (?3 IS NULL OR c.direction = ?3) AND (?4 IS NULL OR c.method = ?4)"
    " AND (?5 IS NULL OR s.code = ?5) AND (?6 IS NULL OR c.flow = ?6)"
    " AND (?7 IS NULL OR c.currency = ?7)";
const std::string kListForward =
    kFiltered + " AND (?8 IS NULL OR c.connector < ?8) ORDER BY c.connector DESC LIMIT ?9";
const std::string kListBackward =
    kFiltered + " AND (?8 IS NULL OR c.connector > ?8) ORDER BY c.connector LIMIT ?9";
const std::string kListOfAll = kSelectConnector + " ORDER BY c.environment, c.connector";
const std::string kInsertConnector = ColumnList{}.add(kConnectorColumns).insert_into("connectors");

const std::string kUpdateConnector =
    ColumnList{"updated_at"}.add_changing(kConnectorColumns).update("connectors") +
    " WHERE connector = ?";

constexpr const char* kCountRequirements =
    "UPDATE connectors SET requirements_version = requirements_version + 1, updated_at = ?"
    " WHERE connector = ?";

constexpr const char* kInsertEndpoint =
    "INSERT INTO connector_endpoints (id, connector, base_url, sealed_secret, timeout_ms,"
    " created_at) VALUES (?, ?, ?, ?, ?, ?)";
constexpr const char* kUpdateEndpoint =
    "UPDATE connector_endpoints SET sealed_secret = ?, timeout_ms = ? WHERE connector_endpoint = ?";
constexpr const char* kRetireEndpoint =
    "UPDATE connector_endpoints SET retired_at = ? WHERE connector = ? AND retired_at IS NULL";

const auto kRequirementColumns = member_columns<Requirement>("");
const std::string kRequirements =
    select(kRequirementColumns) +
    ", position FROM connector_requirements WHERE connector = ? ORDER BY position";
const std::string kInsertRequirement = ColumnList{"connector", "position"}
                                           .add(kRequirementColumns)
                                           .insert_into("connector_requirements");
constexpr const char* kChoices =
    "SELECT position, code, label FROM connector_choices WHERE connector = ?"
    " ORDER BY position, choice";
constexpr const char* kInsertChoice =
    "INSERT INTO connector_choices (connector, position, choice, code, label)"
    " VALUES (?, ?, ?, ?, ?)";

constexpr const char* kAssociationRow = "SELECT association FROM associations WHERE id = ?";
#define ASSOCIATION_KEY "(SELECT association FROM associations WHERE id = ?1)"
constexpr const char* kFeeRow = "SELECT rowid FROM fee_rows WHERE association = " ASSOCIATION_KEY
                                " AND connector = ?2 AND transaction_type = ?3";
constexpr const char* kFindFee =
    "SELECT fixed, basis_points FROM fee_rows WHERE association = " ASSOCIATION_KEY
    " AND connector = ?2 AND transaction_type = ?3";
constexpr const char* kPutFee =
    "INSERT INTO fee_rows (association, connector, transaction_type, fixed, basis_points,"
    " updated_at) VALUES (" ASSOCIATION_KEY
    ", ?2, ?3, ?4, ?5, ?6)"
    " ON CONFLICT (association, connector, transaction_type) DO UPDATE SET"
    " fixed = excluded.fixed, basis_points = excluded.basis_points,"
    " updated_at = excluded.updated_at";
constexpr const char* kDeleteFee = "DELETE FROM fee_rows WHERE association = " ASSOCIATION_KEY
                                   " AND connector = ?2 AND transaction_type = ?3";
#undef ASSOCIATION_KEY
constexpr const char* kListFees =
    "SELECT a.id, c.id, f.connector, f.transaction_type, f.fixed, f.basis_points FROM fee_rows f"
    " JOIN associations a ON a.association = f.association"
    " JOIN connectors c ON c.connector = f.connector"
    " ORDER BY f.association, f.connector, f.transaction_type";

ConnectorRow connector_row(const Query& q) {
  auto row = read_row<ConnectorRow>(q, kConnectorColumns);
  const auto endpoint = static_cast<int>(kConnectorColumns.size());
  if (!q.is_null(endpoint)) row.terms.endpoint = read_row<ProviderEndpoint>(q, kEndpoint, endpoint);
  return row;
}

ConnectorRow intact(Connection& db, ConnectorRow row,
                    std::initializer_list<FoundBy> found_by = {}) {
  require_intact(db, "connectors", row.terms.key, found_by);
  if (row.terms.endpoint) {
    require_intact(db, "connector_endpoints", row.terms.endpoint->key,
                   {{"connector", row.terms.key}});
  }
  return row;
}

/// With its present endpoint.
template <class... Args>
std::optional<ConnectorRow> one(Connection& db, const std::string& sql,
                                std::initializer_list<FoundBy> found_by, const Args&... args) {
  Query query(db, sql.c_str(), args...);
  if (!query.step()) return std::nullopt;
  ConnectorRow row = intact(db, connector_row(query), found_by);
  if (row.terms.endpoint) {
    require_intact(db, "connector_endpoints", row.terms.endpoint->key,
                   {{"retired_at", std::nullopt}});
  }
  return row;
}

template <class... Args>
std::vector<ConnectorRow> all(Connection& db, const std::string& sql, const Args&... args) {
  std::vector<ConnectorRow> out;
  Query query(db, sql.c_str(), args...);
  while (query.step()) out.push_back(connector_row(query));
  return out;
}

/// Returns the row key.
std::int64_t insert_endpoint(WriteTx& tx, std::int64_t connector, const ConnectorRow& row) {
  const ProviderEndpoint& endpoint = *row.terms.endpoint;
  tx.db().run(kInsertEndpoint, row.endpoint_id, connector, endpoint.base_url,
              Blob{row.sealed_secret}, endpoint.timeout_ms, tx.now());
  return tx.db().last_insert_key();
}

void update_endpoint(WriteTx& tx, const ConnectorRow& row) {
  const ProviderEndpoint& endpoint = *row.terms.endpoint;
  tx.db().run(kUpdateEndpoint, Blob{row.sealed_secret}, endpoint.timeout_ms, endpoint.key);
  COFFER_CHECK(tx.db().changes() == 1);
}

void insert_requirements(WriteTx& tx, std::int64_t connector,
                         const std::vector<Requirement>& requirements) {
  int position = 0;
  for (const Requirement& requirement : requirements) {
    Query query(tx.db(), kInsertRequirement.c_str(), connector, position);
    bind_row(query, 3, kRequirementColumns, requirement);
    query.run();
    int choice = 0;
    for (const auto& [code, label] : requirement.choices) {
      tx.db().run(kInsertChoice, connector, position, choice++, code, label);
    }
    ++position;
  }
}

}  // namespace

std::optional<ConnectorRow> find_connector(Connection& db, Environment environment,
                                           ConnectorId id) {
  return one(db, kFindConnector, {{"id", id}}, id, environment);
}
std::optional<ConnectorRow> find_connector_of_any(Connection& db, ConnectorId id) {
  return one(db, kFindOfAny, {{"id", id}}, id);
}
std::optional<ConnectorRow> find_connector_by_key(Connection& db, std::int64_t connector) {
  return one(db, kFindByKey, {}, connector);
}

int currency_decimals_of(Connection& db, std::int64_t connector) {
  return static_cast<int>(first_integer(db, kDecimalsOf, connector).value());
}

std::optional<ConnectorRow> find_connector_at(Connection& db, std::int64_t connector,
                                              std::optional<std::int64_t> endpoint) {
  Query query(db, kFindAt.c_str(), connector, endpoint);
  return query.step() ? std::optional(intact(db, connector_row(query))) : std::nullopt;
}
std::vector<ConnectorRow> find_connector_at_retired(Connection& db, std::int64_t connector) {
  auto rows = all(db, kFindAtRetired, connector);
  for (ConnectorRow& row : rows) row = intact(db, std::move(row));
  return rows;
}

RowPage<ConnectorRow> list_connectors(Connection& db, Environment environment,
                                      const ConnectorFilter& filter, const PageAt& page) {
  std::optional<std::string> asset;
  if (filter.asset) asset = filter.asset->value();
  auto rows = all(db, page.backward ? kListBackward : kListForward, environment, filter.country,
                  filter.direction, filter.method, asset, filter.flow, filter.currency, page.key,
                  page.limit + 1);
  if (page.backward) std::ranges::reverse(rows);
  return page_of(std::move(rows), page, [](const ConnectorRow& row) { return row.terms.key; });
}

std::vector<ConnectorRow> list_connectors_of_all(Connection& db) { return all(db, kListOfAll); }

std::int64_t insert_connector(WriteTx& tx, const ConnectorRow& row,
                              const std::vector<Requirement>& requirements) {
  ConnectorRow stored_row = row;
  stored_row.terms.created_at = stored_row.updated_at = tx.now();
  insert_row(tx.db(), kInsertConnector, kConnectorColumns, stored_row);
  const std::int64_t key = tx.db().last_insert_key();
  if (row.terms.endpoint) insert_endpoint(tx, key, row);
  insert_requirements(tx, key, requirements);
  return key;
}

void update_connector(WriteTx& tx, const ConnectorRow& row) {
  update_row(tx.db(), kUpdateConnector, kConnectorColumns, row, row.terms.key, tx.now());
  COFFER_CHECK(tx.db().changes() == 1);
  if (row.terms.endpoint) update_endpoint(tx, row);
}

void move_connector(WriteTx& tx, ConnectorRow& row) {
  ProviderEndpoint& endpoint = *row.terms.endpoint;
  tx.db().run(kRetireEndpoint, tx.now(), row.terms.key);
  COFFER_CHECK(tx.db().changes() == 1);
  if (endpoint.key == 0) {
    endpoint.key = insert_endpoint(tx, row.terms.key, row);
  } else {
    tx.db().run("UPDATE connector_endpoints SET retired_at = NULL WHERE connector_endpoint = ?",
                endpoint.key);
    COFFER_CHECK(tx.db().changes() == 1);
  }
  endpoint.retired = false;
}

std::vector<Requirement> requirements_of(Connection& db, std::int64_t connector) {
  std::vector<Requirement> out;
  std::vector<std::int64_t> positions;
  {
    Query q(db, kRequirements.c_str(), connector);
    while (q.step()) {
      positions.push_back(q.integer(static_cast<int>(kRequirementColumns.size())));
      out.push_back(read_row<Requirement>(q, kRequirementColumns));
    }
  }
  Query q(db, kChoices, connector);
  while (q.step()) {
    const auto at = std::ranges::find(positions, q.integer(0));
    COFFER_CHECK(at != positions.end());
    out[static_cast<std::size_t>(at - positions.begin())].choices.push_back({q.text(1), q.text(2)});
  }
  return out;
}

void replace_requirements(WriteTx& tx, std::int64_t connector,
                          const std::vector<Requirement>& requirements) {
  tx.db().run("DELETE FROM connector_choices WHERE connector = ?", connector);
  tx.db().run("DELETE FROM connector_requirements WHERE connector = ?", connector);
  insert_requirements(tx, connector, requirements);
  tx.db().run(kCountRequirements, tx.now(), connector);
}

std::optional<FeeRule> find_fee(Connection& db, AssociationId association, std::int64_t connector,
                                TransactionType type) {
  const auto key = first_integer(db, kAssociationRow, association);
  require_intact(db, "associations", key, {{"id", association}});
  require_intact(db, "fee_rows", first_integer(db, kFeeRow, association, connector, type),
                 {{"association", key}, {"connector", connector}, {"transaction_type", type}});
  return first_of<FeeRule, Amount, int>(db, kFindFee, association, connector, type);
}

std::vector<FeeRow> list_fees(Connection& db) {
  return all_of<FeeRow, AssociationId, ConnectorId, std::int64_t, TransactionType, Amount, int>(
      db, kListFees);
}

void put_fee(WriteTx& tx, const FeeRow& row) {
  tx.db().run(kPutFee, row.association, row.connector_key, row.type, row.fee.fixed,
              row.fee.basis_points, tx.now());
}

bool delete_fee(WriteTx& tx, const FeeRow& row) {
  tx.db().run(kDeleteFee, row.association, row.connector_key, row.type);
  return tx.db().changes() == 1;
}

}  // namespace coffer::store
