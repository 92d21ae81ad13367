#include "store/identity/tenants.h"

#include <algorithm>

#include "base/check.h"

namespace coffer::store {
namespace {

constexpr const char* kAllAssociations =
    "SELECT association, id, name, status, created_at, updated_at, entity_type FROM associations"
    " ORDER BY association";
constexpr const char* kAssociationById =
    "SELECT association, id, name, status, created_at, updated_at, entity_type FROM associations"
    " WHERE id = ?";
constexpr const char* kInsertAssociation =
    "INSERT INTO associations (id, name, status, created_at, updated_at, entity_type)"
    " VALUES (?, ?, ?, ?, ?, ?)";
constexpr const char* kInsertTenant =
    "INSERT INTO tenants (association, environment) VALUES (?, ?)";
constexpr const char* kSetAssociationStatus =
    "UPDATE associations SET status = ?, updated_at = ? WHERE id = ?";
constexpr const char* kFindTenant =
    "SELECT t.tenant FROM tenants t JOIN associations a ON a.association = t.association"
    " WHERE a.id = ? AND t.environment = ?";
constexpr const char* kTenantByKey =
    "SELECT t.tenant, a.id, t.environment FROM tenants t"
    " JOIN associations a ON a.association = t.association WHERE t.tenant = ?";

#define APPLICATION_COLUMNS                                                                      \
  "SELECT p.application, p.id, p.tenant, a.id, a.status, p.environment, p.name, p.suspended,"    \
  " p.scopes, p.key_version, p.client_id, p.client_secret_hash, p.api_key_hash, p.connect_hash," \
  " p.sign_in_hash, p.public_key, p.created_at, p.networks, p.old_until, p.old_key_version,"     \
  " p.old_client_secret_hash, p.old_api_key_hash, p.old_connect_hash, p.old_sign_in_hash,"       \
  " p.rotated_at, p.certificates"                                                                \
  " FROM applications p"                                                                         \
  " LEFT JOIN tenants t ON t.tenant = p.tenant"                                                  \
  " LEFT JOIN associations a ON a.association = t.association"
constexpr const char* kAllApplications = APPLICATION_COLUMNS " ORDER BY p.application";
constexpr const char* kApplicationById = APPLICATION_COLUMNS " WHERE p.id = ?";
constexpr const char* kApplicationByKey = APPLICATION_COLUMNS " WHERE p.application = ?";
constexpr const char* kApplicationByClientId = APPLICATION_COLUMNS " WHERE p.client_id = ?";
constexpr const char* kApplicationByApiKey =
    APPLICATION_COLUMNS " WHERE p.api_key_hash = ?1 OR p.old_api_key_hash = ?1";
constexpr const char* kApplicationByConnect =
    APPLICATION_COLUMNS " WHERE p.connect_hash = ?1 OR p.old_connect_hash = ?1";
constexpr const char* kApplicationByPublicKey = APPLICATION_COLUMNS " WHERE p.public_key = ?";
#undef APPLICATION_COLUMNS

constexpr const char* kInsertApplication =
    "INSERT INTO applications (id, tenant, environment, name, suspended, scopes, key_version,"
    " client_id, client_secret_hash, api_key_hash, connect_hash, sign_in_hash, public_key,"
    " created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kUpdateApplication =
    "UPDATE applications SET tenant = ?, name = ?, suspended = ?, scopes = ?, key_version = ?,"
    " client_secret_hash = ?, api_key_hash = ?, connect_hash = ?, sign_in_hash = ?,"
    " public_key = ?, updated_at = ?, networks = ?, old_until = ?, old_key_version = ?,"
    " old_client_secret_hash = ?, old_api_key_hash = ?, old_connect_hash = ?, old_sign_in_hash = ?,"
    " rotated_at = ?, certificates = ? WHERE id = ?";

constexpr const char* kCountRotated =
    "SELECT count(*) FROM applications INDEXED BY applications_rotated"
    " WHERE rotated_at IS NOT NULL AND rotated_at >= ?";

constexpr const char* kPutSecretUse =
    "INSERT INTO secret_uses (hash, application, at, address) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (hash) DO UPDATE SET at = excluded.at, address = excluded.address";
constexpr const char* kForgetEndedSecrets =
    "DELETE FROM secret_uses WHERE application = ?1"
    " AND hash NOT IN (?2, ?3, ifnull(?4, ?2), ifnull(?5, ?3))";
constexpr const char* kSecretUses = "SELECT hash, application, at, address FROM secret_uses";

AssociationRow association_row(const Query& query) {
  return {query.integer(0),
          query.id<AssociationId>(1),
          query.text(2),
          query.enumeration<AssociationStatus>(3),
          query.time(4),
          query.time(5),
          query.enumeration<EntityType>(6)};
}

Sha256 hash_column(const Query& query, int column) {
  const std::string bytes = query.blob(column);
  Sha256 hash{};
  COFFER_CHECK(bytes.size() == hash.size());
  std::copy(bytes.begin(), bytes.end(), hash.begin());
  return hash;
}

Blob blob(const Sha256& hash) { return Blob{as_text(hash)}; }

ApplicationRow application_row(const Query& query) {
  ApplicationRow row;
  row.key = query.integer(0);
  row.id = query.id<ApplicationId>(1);
  row.environment = query.enumeration<Environment>(5);
  if (!query.is_null(2)) {
    row.tenant = Tenant{query.integer(2), query.id<AssociationId>(3), row.environment};
    row.association_status = query.enumeration<AssociationStatus>(4);
  }
  row.name = query.text(6);
  row.suspended = query.boolean(7);
  row.scopes = ScopeSet::parse(query.text(8)).value();
  row.key_version = query.integer(9);
  row.client_id = query.text(10);
  row.client_secret_hash = hash_column(query, 11);
  row.api_key_hash = hash_column(query, 12);
  row.connect_hash = hash_column(query, 13);
  row.sign_in_hash = hash_column(query, 14);
  row.public_key = query.text(15);
  row.created_at = query.time(16);
  row.networks = query.text(17);
  if (!query.is_null(18)) {
    row.old = OldSecrets{hash_column(query, 20), hash_column(query, 21), hash_column(query, 22),
                         hash_column(query, 23), query.integer(19),      query.time(18)};
  }
  row.rotated_at = query.optional_time(24);
  row.certificates = query.text(25);
  return row;
}

std::optional<Blob> old_blob(const ApplicationRow& row, Sha256 OldSecrets::*hash) {
  return row.old ? std::optional(blob((*row.old).*hash)) : std::nullopt;
}

template <class Row, class... Args>
std::vector<Row> all(Connection& db, Row (*read)(const Query&), const char* sql,
                     const Args&... args) {
  std::vector<Row> out;
  Query query(db, sql, args...);
  while (query.step()) out.push_back(read(query));
  return out;
}

template <class Row, class... Args>
std::optional<Row> first(Connection& db, Row (*read)(const Query&), const char* sql,
                         const Args&... args) {
  Query query(db, sql, args...);
  return query.step() ? std::optional(read(query)) : std::nullopt;
}

std::optional<std::int64_t> tenant_key(const ApplicationRow& row) {
  return row.tenant ? std::optional(row.tenant->key) : std::nullopt;
}

}  // namespace

std::vector<AssociationRow> list_associations(Connection& db) {
  return all(db, association_row, kAllAssociations);
}
std::optional<AssociationRow> find_association(Connection& db, AssociationId id) {
  return first(db, association_row, kAssociationById, id);
}

void insert_association(WriteTx& tx, const AssociationRow& row) {
  tx.db().run(kInsertAssociation, row.id, row.name, row.status, tx.now(), tx.now(),
              row.entity_type);
  const std::int64_t association = tx.db().last_insert_key();
  for (const auto environment : {Environment::sandbox, Environment::production}) {
    tx.db().run(kInsertTenant, association, environment);
  }
  tx.touch_tenancy();
}

void set_association_status(WriteTx& tx, AssociationId id, AssociationStatus status) {
  tx.db().run(kSetAssociationStatus, status, tx.now(), id);
  tx.touch_tenancy();
}

std::optional<Tenant> find_tenant(Connection& db, AssociationId association,
                                  Environment environment) {
  Query query(db, kFindTenant, association, environment);
  if (!query.step()) return std::nullopt;
  return Tenant{query.integer(0), association, environment};
}

Tenant tenant_by_key(Connection& db, std::int64_t tenant) {
  Query query(db, kTenantByKey, tenant);
  COFFER_CHECK(query.step());
  return {query.integer(0), query.id<AssociationId>(1), query.enumeration<Environment>(2)};
}

std::vector<ApplicationRow> list_applications(Connection& db) {
  return all(db, application_row, kAllApplications);
}
std::optional<ApplicationRow> find_application(Connection& db, ApplicationId id) {
  return first(db, application_row, kApplicationById, id);
}
std::optional<ApplicationRow> find_application_by_key(Connection& db, std::int64_t application) {
  return first(db, application_row, kApplicationByKey, application);
}
std::optional<ApplicationRow> find_application_by_client_id(Connection& db,
                                                            std::string_view client_id) {
  return first(db, application_row, kApplicationByClientId, client_id);
}
std::optional<ApplicationRow> find_application_by_api_key(Connection& db, const Sha256& hash) {
  return first(db, application_row, kApplicationByApiKey, blob(hash));
}
std::optional<ApplicationRow> find_application_by_connect_secret(Connection& db,
                                                                 const Sha256& hash) {
  return first(db, application_row, kApplicationByConnect, blob(hash));
}
std::optional<ApplicationRow> find_application_by_public_key(Connection& db,
                                                             std::string_view public_key) {
  return first(db, application_row, kApplicationByPublicKey, public_key);
}

void insert_application(WriteTx& tx, const ApplicationRow& row) {
  tx.db().run(kInsertApplication, row.id, tenant_key(row), row.environment, row.name, row.suspended,
              row.scopes.to_string(), row.key_version, row.client_id, blob(row.client_secret_hash),
              blob(row.api_key_hash), blob(row.connect_hash), blob(row.sign_in_hash),
              row.public_key, tx.now(), tx.now());
  tx.touch_tenancy();
}

void update_application(WriteTx& tx, const ApplicationRow& row) {
  tx.db().run(kUpdateApplication, tenant_key(row), row.name, row.suspended, row.scopes.to_string(),
              row.key_version, blob(row.client_secret_hash), blob(row.api_key_hash),
              blob(row.connect_hash), blob(row.sign_in_hash), row.public_key, tx.now(),
              row.networks, row.old ? std::optional(row.old->until) : std::nullopt,
              row.old ? std::optional(row.old->key_version) : std::nullopt,
              old_blob(row, &OldSecrets::client_secret_hash),
              old_blob(row, &OldSecrets::api_key_hash), old_blob(row, &OldSecrets::connect_hash),
              old_blob(row, &OldSecrets::sign_in_hash), row.rotated_at, row.certificates, row.id);
  tx.touch_tenancy();
}

std::int64_t count_rotated_applications(Connection& db, Timestamp since) {
  Query query(db, kCountRotated, since);
  query.step();
  return query.integer(0);
}

void put_secret_use(WriteTx& tx, const SecretUse& use) {
  tx.db().run(kPutSecretUse, blob(use.hash), use.application, use.at, use.address);
}

void forget_ended_secrets(WriteTx& tx, const ApplicationRow& row) {
  tx.db().run(kForgetEndedSecrets, row.key, blob(row.api_key_hash), blob(row.connect_hash),
              old_blob(row, &OldSecrets::api_key_hash), old_blob(row, &OldSecrets::connect_hash));
}

std::vector<SecretUse> list_secret_uses(Connection& db) {
  std::vector<SecretUse> out;
  Query query(db, kSecretUses);
  while (query.step()) {
    out.push_back({hash_column(query, 0), query.integer(1), query.time(2), query.text(3)});
  }
  return out;
}

}  // namespace coffer::store
