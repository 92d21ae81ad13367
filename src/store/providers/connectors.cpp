#include "store/providers/connectors.h"

#include <algorithm>

#include "base/check.h"

namespace coffer::store {
namespace {

#define CONNECTOR_AT                                                                            \
  "SELECT c.connector, c.id, c.environment, c.name, c.provider, c.driver, c.flow, c.direction," \
  " c.method, c.country, c.currency, c.currency_decimals, s.asset, s.code, s.issuer, s.name,"   \
  " s.decimals, c.rate_numerator, c.rate_denominator, c.fee_fixed, c.fee_basis_points,"         \
  " c.min_amount, c.max_amount, c.day_limit, c.month_limit, c.transaction_types,"               \
  " c.issues_references, c.status, e.base_url, e.sealed_secret, e.timeout_ms, c.created_at,"    \
  " c.updated_at, e.connector_endpoint, e.id, e.retired_at IS NOT NULL,"                        \
  " c.requirements_version"                                                                     \
  " FROM connectors c JOIN assets s ON s.asset = c.asset"                                       \
  " LEFT JOIN connector_endpoints e ON e.connector = c.connector AND "
#define CONNECTOR_COLUMNS CONNECTOR_AT "e.retired_at IS NULL"

constexpr const char* kFind = CONNECTOR_COLUMNS " WHERE c.id = ?1 AND c.environment = ?2";
constexpr const char* kFindOfAny = CONNECTOR_COLUMNS " WHERE c.id = ?1";
constexpr const char* kFindByKey = CONNECTOR_COLUMNS " WHERE c.connector = ?1";
constexpr const char* kFindAt = CONNECTOR_AT "e.connector_endpoint = ?2 WHERE c.connector = ?1";
constexpr const char* kFindAtRetired = CONNECTOR_AT
    "e.retired_at IS NOT NULL WHERE c.connector = ?1 AND e.connector_endpoint IS NOT NULL"
    " ORDER BY e.connector_endpoint";
#define CONNECTOR_FILTER                                                    \
  " WHERE c.environment = ?1 AND (?2 IS NULL OR c.country = ?2)"            \
  " AND (?3 IS NULL OR c.direction = ?3) AND (?4 IS NULL OR c.method = ?4)" \
  " AND (?5 IS NULL OR s.code = ?5) AND (?6 IS NULL OR c.flow = ?6)"        \
  " AND (?7 IS NULL OR c.currency = ?7)"
constexpr const char* kListForward = CONNECTOR_COLUMNS CONNECTOR_FILTER
    " AND (?8 IS NULL OR c.connector < ?8)"
    " ORDER BY c.connector DESC LIMIT ?9";
constexpr const char* kListBackward = CONNECTOR_COLUMNS CONNECTOR_FILTER
    " AND (?8 IS NULL OR c.connector > ?8)"
    " ORDER BY c.connector LIMIT ?9";
constexpr const char* kListOfAll = CONNECTOR_COLUMNS " ORDER BY c.environment, c.connector";
#undef CONNECTOR_FILTER
#undef CONNECTOR_COLUMNS
#undef CONNECTOR_AT

constexpr const char* kInsert =
    "INSERT INTO connectors (id, environment, name, provider, driver, flow, direction, method,"
    " country, currency, currency_decimals, asset, rate_numerator, rate_denominator, fee_fixed,"
    " fee_basis_points, min_amount, max_amount, day_limit, month_limit, transaction_types,"
    " issues_references, status, created_at, updated_at)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,"
    " ?19, ?20, ?21, ?22, ?23, ?24, ?24)";
constexpr const char* kUpdate =
    "UPDATE connectors SET rate_numerator = ?, rate_denominator = ?, fee_fixed = ?,"
    " fee_basis_points = ?, min_amount = ?, max_amount = ?, day_limit = ?, month_limit = ?,"
    " status = ?, updated_at = ? WHERE connector = ?";

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
constexpr const char* kBringBackEndpoint =
    "UPDATE connector_endpoints SET retired_at = NULL WHERE connector_endpoint = ?";

constexpr const char* kRequirements =
    "SELECT position, name, type, required, label, description, pattern, min_length, max_length,"
    " transaction_types FROM connector_requirements WHERE connector = ? ORDER BY position";
constexpr const char* kChoices =
    "SELECT position, code, label FROM connector_choices WHERE connector = ?"
    " ORDER BY position, choice";
constexpr const char* kInsertRequirement =
    "INSERT INTO connector_requirements (connector, position, name, type, required, label,"
    " description, pattern, min_length, max_length, transaction_types)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kInsertChoice =
    "INSERT INTO connector_choices (connector, position, choice, code, label)"
    " VALUES (?, ?, ?, ?, ?)";
constexpr const char* kDeleteChoices = "DELETE FROM connector_choices WHERE connector = ?";
constexpr const char* kDeleteRequirements =
    "DELETE FROM connector_requirements WHERE connector = ?";

#define ASSOCIATION_KEY "(SELECT association FROM associations WHERE id = ?1)"
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

FeeRule fee_rule(const Query& q, int column) {
  return {q.amount(column), static_cast<int>(q.integer(column + 1))};
}

ConnectorRow connector_row(const Query& q) {
  ConnectorRow row;
  ConnectorTerms& terms = row.terms;
  terms.key = q.integer(0);
  terms.id = q.id<ConnectorId>(1);
  terms.environment = q.enumeration<Environment>(2);
  terms.name = q.text(3);
  terms.provider = q.text(4);
  terms.driver = q.enumeration<DriverKind>(5);
  terms.flow = q.enumeration<ConnectorFlow>(6);
  terms.direction = q.enumeration<Direction>(7);
  terms.method = q.enumeration<PayMethod>(8);
  terms.country = q.text(9);
  terms.currency = q.text(10);
  terms.currency_decimals = static_cast<int>(q.integer(11));
  terms.asset = {q.integer(12), *AssetCode::parse(q.text(13)), q.text(14), q.text(15),
                 static_cast<int>(q.integer(16))};
  terms.rate = {q.integer(17), q.integer(18)};
  terms.fee = fee_rule(q, 19);
  terms.min_amount = q.amount(21);
  terms.max_amount = q.amount(22);
  terms.day_limit = q.optional_amount(23);
  terms.month_limit = q.optional_amount(24);
  terms.types = static_cast<TransactionTypes>(q.integer(25));
  terms.issues_references = q.boolean(26);
  terms.status = q.enumeration<ConnectorStatus>(27);
  if (!q.is_null(28)) {
    terms.endpoint = ProviderEndpoint{q.text(28), Secret(), static_cast<int>(q.integer(30)),
                                      q.integer(33), q.boolean(35)};
    row.sealed_secret = q.blob(29);
    row.endpoint_id = q.uuid(34);
  }
  terms.created_at = q.time(31);
  row.updated_at = q.time(32);
  row.requirements_version = q.integer(36);
  return row;
}

template <class... Args>
std::optional<ConnectorRow> one(Connection& db, const char* sql, const Args&... args) {
  Query query(db, sql, args...);
  return query.step() ? std::optional(connector_row(query)) : std::nullopt;
}

template <class... Args>
std::vector<ConnectorRow> all(Connection& db, const char* sql, const Args&... args) {
  std::vector<ConnectorRow> out;
  Query query(db, sql, args...);
  while (query.step()) out.push_back(connector_row(query));
  return out;
}

/// Returns the key.
std::int64_t insert_endpoint(WriteTx& tx, std::int64_t connector, const ConnectorRow& row) {
  const ProviderEndpoint& endpoint = *row.terms.endpoint;
  Query(tx.db(), kInsertEndpoint, row.endpoint_id, connector, endpoint.base_url,
        Blob{row.sealed_secret}, endpoint.timeout_ms, tx.now())
      .run();
  return tx.db().last_insert_key();
}

void update_endpoint(WriteTx& tx, const ConnectorRow& row) {
  const ProviderEndpoint& endpoint = *row.terms.endpoint;
  Query(tx.db(), kUpdateEndpoint, Blob{row.sealed_secret}, endpoint.timeout_ms, endpoint.key).run();
  COFFER_CHECK(tx.db().changes() == 1);
}

void insert_requirements(WriteTx& tx, std::int64_t connector,
                         const std::vector<Requirement>& requirements) {
  int position = 0;
  for (const Requirement& requirement : requirements) {
    Query(tx.db(), kInsertRequirement, connector, position, requirement.name, requirement.type,
          requirement.required, requirement.label, requirement.description, requirement.pattern,
          requirement.min_length, requirement.max_length,
          static_cast<std::int64_t>(requirement.types))
        .run();
    int choice = 0;
    for (const auto& [code, label] : requirement.choices) {
      Query(tx.db(), kInsertChoice, connector, position, choice++, code, label).run();
    }
    ++position;
  }
}

std::optional<int> optional_int(const Query& q, int column) {
  const auto value = q.optional_integer(column);
  return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

}  // namespace

std::optional<ConnectorRow> find_connector(Connection& db, Environment environment,
                                           ConnectorId id) {
  return one(db, kFind, id, environment);
}
std::optional<ConnectorRow> find_connector_of_any(Connection& db, ConnectorId id) {
  return one(db, kFindOfAny, id);
}
std::optional<ConnectorRow> find_connector_by_key(Connection& db, std::int64_t connector) {
  return one(db, kFindByKey, connector);
}

std::optional<ConnectorRow> find_connector_at(Connection& db, std::int64_t connector,
                                              std::optional<std::int64_t> endpoint) {
  return one(db, kFindAt, connector, endpoint);
}
std::vector<ConnectorRow> find_connector_at_retired(Connection& db, std::int64_t connector) {
  return all(db, kFindAtRetired, connector);
}

std::vector<ConnectorRow> list_connectors(Connection& db, Environment environment,
                                          const ConnectorFilter& filter, const PageAt& page) {
  std::optional<std::string> asset;
  if (filter.asset) asset = filter.asset->value();
  auto out = all(db, page.backward ? kListBackward : kListForward, environment, filter.country,
                 filter.direction, filter.method, asset, filter.flow, filter.currency, page.key,
                 page.limit);
  if (page.backward) std::reverse(out.begin(), out.end());
  return out;
}

std::vector<ConnectorRow> list_connectors_of_all(Connection& db) { return all(db, kListOfAll); }

std::int64_t insert_connector(WriteTx& tx, const ConnectorRow& row,
                              const std::vector<Requirement>& requirements) {
  const ConnectorTerms& terms = row.terms;
  Query(tx.db(), kInsert, terms.id, terms.environment, terms.name, terms.provider, terms.driver,
        terms.flow, terms.direction, terms.method, terms.country, terms.currency,
        terms.currency_decimals, terms.asset.key, terms.rate.numerator, terms.rate.denominator,
        terms.fee.fixed, terms.fee.basis_points, terms.min_amount, terms.max_amount,
        terms.day_limit, terms.month_limit, static_cast<std::int64_t>(terms.types),
        terms.issues_references, terms.status, tx.now())
      .run();
  const std::int64_t key = tx.db().last_insert_key();
  if (terms.endpoint) insert_endpoint(tx, key, row);
  insert_requirements(tx, key, requirements);
  return key;
}

void update_connector(WriteTx& tx, const ConnectorRow& row) {
  const ConnectorTerms& terms = row.terms;
  Query(tx.db(), kUpdate, terms.rate.numerator, terms.rate.denominator, terms.fee.fixed,
        terms.fee.basis_points, terms.min_amount, terms.max_amount, terms.day_limit,
        terms.month_limit, terms.status, tx.now(), terms.key)
      .run();
  COFFER_CHECK(tx.db().changes() == 1);
  if (terms.endpoint) update_endpoint(tx, row);
}

void move_connector(WriteTx& tx, ConnectorRow& row) {
  ProviderEndpoint& endpoint = *row.terms.endpoint;
  Query(tx.db(), kRetireEndpoint, tx.now(), row.terms.key).run();
  COFFER_CHECK(tx.db().changes() == 1);
  if (endpoint.key == 0) {
    endpoint.key = insert_endpoint(tx, row.terms.key, row);
  } else {
    Query(tx.db(), kBringBackEndpoint, endpoint.key).run();
    COFFER_CHECK(tx.db().changes() == 1);
  }
  endpoint.retired = false;
}

std::vector<Requirement> requirements_of(Connection& db, std::int64_t connector) {
  std::vector<Requirement> out;
  std::vector<std::int64_t> positions;
  {
    Query q(db, kRequirements, connector);
    while (q.step()) {
      positions.push_back(q.integer(0));
      out.push_back({q.text(1),
                     q.enumeration<Requirement::Type>(2),
                     q.boolean(3),
                     q.text(4),
                     q.text(5),
                     q.optional_text(6),
                     optional_int(q, 7),
                     optional_int(q, 8),
                     {},
                     static_cast<TransactionTypes>(q.integer(9))});
    }
  }
  Query q(db, kChoices, connector);
  while (q.step()) {
    const auto at = std::find(positions.begin(), positions.end(), q.integer(0));
    COFFER_CHECK(at != positions.end());
    out[static_cast<std::size_t>(at - positions.begin())].choices.push_back({q.text(1), q.text(2)});
  }
  return out;
}

void replace_requirements(WriteTx& tx, std::int64_t connector,
                          const std::vector<Requirement>& requirements) {
  Query(tx.db(), kDeleteChoices, connector).run();
  Query(tx.db(), kDeleteRequirements, connector).run();
  insert_requirements(tx, connector, requirements);
  Query(tx.db(), kCountRequirements, tx.now(), connector).run();
}

std::optional<FeeRule> find_fee(Connection& db, AssociationId association, std::int64_t connector,
                                TransactionType type) {
  Query query(db, kFindFee, association, connector, type);
  return query.step() ? std::optional(fee_rule(query, 0)) : std::nullopt;
}

std::vector<FeeRow> list_fees(Connection& db) {
  std::vector<FeeRow> out;
  Query q(db, kListFees);
  while (q.step()) {
    out.push_back({q.id<AssociationId>(0), q.id<ConnectorId>(1), q.integer(2),
                   q.enumeration<TransactionType>(3), fee_rule(q, 4)});
  }
  return out;
}

void put_fee(WriteTx& tx, const FeeRow& row) {
  Query(tx.db(), kPutFee, row.association, row.connector_key, row.type, row.fee.fixed,
        row.fee.basis_points, tx.now())
      .run();
}

bool delete_fee(WriteTx& tx, const FeeRow& row) {
  Query(tx.db(), kDeleteFee, row.association, row.connector_key, row.type).run();
  return tx.db().changes() == 1;
}

}  // namespace coffer::store
