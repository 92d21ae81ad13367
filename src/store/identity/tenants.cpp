#include "store/identity/tenants.h"

#include "base/check.h"
#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

constexpr Column<AssociationRow> kAssociation[] = {
    joined<&AssociationRow::key>("association"),
    column<&AssociationRow::id>("id"),
    column<&AssociationRow::name>("name"),
    column<&AssociationRow::status>("status"),
    joined<&AssociationRow::created_at>("created_at"),
    joined<&AssociationRow::updated_at>("updated_at"),
    column<&AssociationRow::entity_type>("entity_type"),
};
const std::string kAssociations = select(kAssociation) + " FROM associations";
const std::string kAllAssociations = kAssociations + " ORDER BY association";
const std::string kAssociationById = kAssociations + " WHERE id = ?";
const std::string kInsertAssociation =
    ColumnList{"created_at", "updated_at"}.add(kAssociation).insert_into("associations");
constexpr const char* kFindTenant =
    "SELECT t.tenant FROM tenants t JOIN associations a ON a.association = t.association"
    " WHERE a.id = ? AND t.environment = ?";
constexpr const char* kTenantByKey =
    "SELECT t.tenant, a.id, t.environment FROM tenants t"
    " JOIN associations a ON a.association = t.association WHERE t.tenant = ?";

constexpr Column<ApplicationRow> kApplication[] = {
    joined<&ApplicationRow::key>("p.application"),
    column<&ApplicationRow::id>("p.id"),
    changing(column<&ApplicationRow::tenant, &Tenant::key>("p.tenant")),
    joined<&ApplicationRow::tenant, &Tenant::association>("a.id"),
    joined<&ApplicationRow::tenant, &Tenant::environment>(
        "iif(p.tenant IS NULL, NULL, p.environment)"),
    joined<&ApplicationRow::association_status>("a.status"),
    column<&ApplicationRow::environment>("p.environment"),
    changing(column<&ApplicationRow::name>("p.name")),
    changing(column<&ApplicationRow::suspended>("p.suspended")),
    changing(Column<ApplicationRow>{
        "p.scopes",
        [](const Query& q, int at, ApplicationRow& row) {
          row.scopes = ScopeSet::parse(q.text(at)).value();
        },
        [](Query& q, int at, const ApplicationRow& row) { q.bind(at, row.scopes.to_string()); }}),
    changing(column<&ApplicationRow::key_version>("p.key_version")),
    column<&ApplicationRow::client_id>("p.client_id"),
    changing(column<&ApplicationRow::client_secret_hash>("p.client_secret_hash")),
    changing(column<&ApplicationRow::api_key_hash>("p.api_key_hash")),
    changing(column<&ApplicationRow::connect_hash>("p.connect_hash")),
    changing(column<&ApplicationRow::sign_in_hash>("p.sign_in_hash")),
    changing(column<&ApplicationRow::public_key>("p.public_key")),
    joined<&ApplicationRow::created_at>("p.created_at"),
    changing(column<&ApplicationRow::networks>("p.networks")),
    changing(column<&ApplicationRow::certificates>("p.certificates")),
    changing(column<&ApplicationRow::old, &OldSecrets::until>("p.old_until")),
    changing(column<&ApplicationRow::old, &OldSecrets::key_version>("p.old_key_version")),
    changing(
        column<&ApplicationRow::old, &OldSecrets::client_secret_hash>("p.old_client_secret_hash")),
    changing(column<&ApplicationRow::old, &OldSecrets::api_key_hash>("p.old_api_key_hash")),
    changing(column<&ApplicationRow::old, &OldSecrets::connect_hash>("p.old_connect_hash")),
    changing(column<&ApplicationRow::old, &OldSecrets::sign_in_hash>("p.old_sign_in_hash")),
    changing(column<&ApplicationRow::rotated_at>("p.rotated_at")),
};
const std::string kApplications = select(kApplication) +
                                  " FROM applications p"
                                  " LEFT JOIN tenants t ON t.tenant = p.tenant"
                                  " LEFT JOIN associations a ON a.association = t.association";
const std::string kAllApplications = kApplications + " ORDER BY p.application";
const std::string kApplicationById = kApplications + " WHERE p.id = ?";
const std::string kApplicationByKey = kApplications + " WHERE p.application = ?";
const std::string kApplicationByClientId = kApplications + " WHERE p.client_id = ?";
const std::string kApplicationByApiKey = kApplications + " WHERE p.api_key_hash = ?";
const std::string kApplicationByOldApiKey = kApplications + " WHERE p.old_api_key_hash = ?";
const std::string kApplicationByConnect = kApplications + " WHERE p.connect_hash = ?";
const std::string kApplicationByOldConnect = kApplications + " WHERE p.old_connect_hash = ?";
const std::string kApplicationByPublicKey = kApplications + " WHERE p.public_key = ?";
const std::string kInsertApplication =
    ColumnList{"created_at", "updated_at"}.add(kApplication).insert_into("applications");
const std::string kUpdateApplication =
    ColumnList{"updated_at"}.add_changing(kApplication).update("applications") + " WHERE id = ?";

constexpr const char* kCountRotated =
    "SELECT count(*) FROM applications INDEXED BY applications_rotated"
    " WHERE rotated_at IS NOT NULL AND rotated_at >= ?";

constexpr const char* kPutSecretUse =
    "INSERT INTO secret_uses (hash, application, at, address) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (hash) DO UPDATE SET at = excluded.at, address = excluded.address";
constexpr const char* kForgetEndedSecrets =
    "DELETE FROM secret_uses WHERE application = ?1"
    " AND hash NOT IN (?2, ?3, ifnull(?4, ?2), ifnull(?5, ?3))";
constexpr Column<SecretUse> kSecretUse[] = {
    joined<&SecretUse::hash>("hash"),
    joined<&SecretUse::application>("application"),
    joined<&SecretUse::at>("at"),
    joined<&SecretUse::address>("address"),
};
const std::string kSecretUses = select(kSecretUse) + " FROM secret_uses";

Blob hash_blob(const Sha256& hash) { return Blob{as_text(hash)}; }

/// `column`: the one in which the statement looks for the value; empty: the key.
std::optional<ApplicationRow> find_one(Connection& db, const std::string& sql,
                                       std::string_view column, const auto& value) {
  auto row = first_row<ApplicationRow>(db, sql, kApplication, value);
  if (!row) return row;
  if (column.empty()) {
    require_intact(db, "applications", row->key);
  } else {
    require_intact(db, "applications", row->key, {{column, value}});
  }
  if (row->tenant) require_intact_tenant(db, row->tenant->key);
  return row;
}

std::optional<Blob> old_blob(const ApplicationRow& row, Sha256 OldSecrets::*hash) {
  return row.old ? std::optional(hash_blob((*row.old).*hash)) : std::nullopt;
}

}  // namespace

std::vector<AssociationRow> list_associations(Connection& db) {
  return all_rows<AssociationRow>(Query(db, kAllAssociations.c_str()), kAssociation);
}
std::optional<AssociationRow> find_association(Connection& db, AssociationId id) {
  auto row = first_row<AssociationRow>(db, kAssociationById, kAssociation, id);
  if (row) require_intact(db, "associations", row->key, {{"id", id}});
  return row;
}

void insert_association(WriteTx& tx, const AssociationRow& row) {
  insert_row(tx.db(), kInsertAssociation, kAssociation, row, tx.now(), tx.now());
  const std::int64_t association = tx.db().last_insert_key();
  for (const auto environment : {Environment::sandbox, Environment::production}) {
    tx.db().run("INSERT INTO tenants (association, environment) VALUES (?, ?)", association,
                environment);
  }
  tx.touch_tenancy();
}

void set_association_status(WriteTx& tx, AssociationId id, AssociationStatus status) {
  tx.db().run("UPDATE associations SET status = ?, updated_at = ? WHERE id = ?", status, tx.now(),
              id);
  tx.touch_tenancy();
}

std::optional<Tenant> find_tenant(Connection& db, AssociationId association,
                                  Environment environment) {
  const auto key = first_integer(db, kFindTenant, association, environment);
  if (!key) return std::nullopt;
  require_intact(db, "tenants", *key, {{"environment", environment}});
  require_intact_tenant(db, *key, {{"id", association}});
  return Tenant{*key, association, environment};
}

Tenant tenant_by_key(Connection& db, std::int64_t tenant) {
  const auto found =
      first_of<Tenant, std::int64_t, AssociationId, Environment>(db, kTenantByKey, tenant);
  COFFER_CHECK(found.has_value());
  require_intact_tenant(db, tenant);
  return *found;
}

std::vector<ApplicationRow> list_applications(Connection& db) {
  return all_rows<ApplicationRow>(Query(db, kAllApplications.c_str()), kApplication);
}
std::optional<ApplicationRow> find_application(Connection& db, ApplicationId id) {
  return find_one(db, kApplicationById, "id", id);
}
std::optional<ApplicationRow> find_application_by_key(Connection& db, std::int64_t application) {
  return find_one(db, kApplicationByKey, {}, application);
}
std::optional<ApplicationRow> find_application_by_client_id(Connection& db,
                                                            std::string_view client_id) {
  return find_one(db, kApplicationByClientId, "client_id", client_id);
}
std::optional<ApplicationRow> find_application_by_api_key(Connection& db, const Sha256& hash) {
  auto row = find_one(db, kApplicationByApiKey, "api_key_hash", hash_blob(hash));
  return row ? row : find_one(db, kApplicationByOldApiKey, "old_api_key_hash", hash_blob(hash));
}
std::optional<ApplicationRow> find_application_by_connect_secret(Connection& db,
                                                                 const Sha256& hash) {
  auto row = find_one(db, kApplicationByConnect, "connect_hash", hash_blob(hash));
  return row ? row : find_one(db, kApplicationByOldConnect, "old_connect_hash", hash_blob(hash));
}
std::optional<ApplicationRow> find_application_by_public_key(Connection& db,
                                                             std::string_view public_key) {
  return find_one(db, kApplicationByPublicKey, "public_key", public_key);
}

void insert_application(WriteTx& tx, const ApplicationRow& row) {
  insert_row(tx.db(), kInsertApplication, kApplication, row, tx.now(), tx.now());
  tx.touch_tenancy();
}

void update_application(WriteTx& tx, const ApplicationRow& row) {
  update_row(tx.db(), kUpdateApplication, kApplication, row, row.id, tx.now());
  tx.touch_tenancy();
}

std::int64_t count_rotated_applications(Connection& db, Timestamp since) {
  return first_integer(db, kCountRotated, since).value_or(0);
}

void put_secret_use(WriteTx& tx, const SecretUse& use) {
  tx.db().run(kPutSecretUse, hash_blob(use.hash), use.application, use.at, use.address);
}

void forget_ended_secrets(WriteTx& tx, const ApplicationRow& row) {
  tx.db().run(kForgetEndedSecrets, row.key, hash_blob(row.api_key_hash),
              hash_blob(row.connect_hash), old_blob(row, &OldSecrets::api_key_hash),
              old_blob(row, &OldSecrets::connect_hash));
}

std::vector<SecretUse> list_secret_uses(Connection& db) {
  return all_rows<SecretUse>(Query(db, kSecretUses.c_str()), kSecretUse);
}

}  // namespace coffer::store
