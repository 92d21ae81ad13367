// Associations, their two tenants, and their applications.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "domain/identity/tenant.h"
#include "domain/ledger/wallet.h"
#include "store/commits/write_tx.h"

namespace coffer::store {

struct AssociationRow {
  std::int64_t key = 0;
  AssociationId id;
  std::string name;
  AssociationStatus status = AssociationStatus::pending;
  Timestamp created_at;
  Timestamp updated_at;
  // The association's party type in the transaction type of an off-ramp.
  EntityType entity_type = EntityType::business;
};

/// Secrets that a rotation has replaced, and the tokens issued for them.
struct OldSecrets {
  Sha256 client_secret_hash{};
  Sha256 api_key_hash{};
  Sha256 connect_hash{};
  Sha256 sign_in_hash{};
  std::int64_t key_version = 0;
  Timestamp until;
};

/// The stored part of an application: hashes, no secrets.
struct ApplicationRow {
  std::int64_t key = 0;
  ApplicationId id;
  std::optional<Tenant> tenant;  // empty: no association yet
  std::optional<AssociationStatus> association_status;
  Environment environment = Environment::sandbox;
  std::string name;
  bool suspended = false;
  ScopeSet scopes;
  std::int64_t key_version = 1;
  std::string client_id;
  Sha256 client_secret_hash{};
  Sha256 api_key_hash{};
  Sha256 connect_hash{};
  Sha256 sign_in_hash{};
  std::string public_key;
  Timestamp created_at;
  std::string networks;           // CIDRs separated by commas; empty: any address
  std::string certificates;       // SHA-256 fingerprints separated by commas; empty: none required
  std::optional<OldSecrets> old;  // of the last rotation with an overlap, which may have ended
  std::optional<Timestamp> rotated_at;

  /// The old secrets while they are accepted.
  const OldSecrets* old_at(Timestamp now) const {
    return old && now < old->until ? &*old : nullptr;
  }
  /// Whether tokens of this version are accepted.
  bool accepts(std::int64_t version, Timestamp now) const {
    return version == key_version || (old_at(now) != nullptr && version == old->key_version);
  }
};

std::vector<AssociationRow> list_associations(Connection& db);
std::optional<AssociationRow> find_association(Connection& db, AssociationId id);
/// Creates the association and its two tenants.
void insert_association(WriteTx& tx, const AssociationRow& row);
void set_association_status(WriteTx& tx, AssociationId id, AssociationStatus status);
std::optional<Tenant> find_tenant(Connection& db, AssociationId association,
                                  Environment environment);
/// The tenant with this row key.
Tenant tenant_by_key(Connection& db, std::int64_t tenant);

std::vector<ApplicationRow> list_applications(Connection& db);
std::optional<ApplicationRow> find_application(Connection& db, ApplicationId id);
std::optional<ApplicationRow> find_application_by_key(Connection& db, std::int64_t application);
std::optional<ApplicationRow> find_application_by_client_id(Connection& db,
                                                            std::string_view client_id);
/// Both also find an application by a secret that a rotation has replaced. The caller checks
/// whether that secret is still valid.
std::optional<ApplicationRow> find_application_by_api_key(Connection& db, const Sha256& hash);
std::optional<ApplicationRow> find_application_by_connect_secret(Connection& db,
                                                                 const Sha256& hash);
std::optional<ApplicationRow> find_application_by_public_key(Connection& db,
                                                             std::string_view public_key);
void insert_application(WriteTx& tx, const ApplicationRow& row);
/// Replaces hashes, public key, scopes, suspension, networks, certificates, key version and the
/// time of the last rotation of an existing row.
void update_application(WriteTx& tx, const ApplicationRow& row);

/// Applications whose secrets were rotated at or after this time.
std::int64_t count_rotated_applications(Connection& db, Timestamp since);

/// The last use of an API key or a connect secret.
struct SecretUse {
  Sha256 hash{};  // hash of the secret
  std::int64_t application = 0;
  Timestamp at;
  std::string address;  // address of the client
};
void put_secret_use(WriteTx& tx, const SecretUse& use);
/// Deletes the uses of secrets that are neither present nor old secrets of the application.
void forget_ended_secrets(WriteTx& tx, const ApplicationRow& row);
std::vector<SecretUse> list_secret_uses(Connection& db);

}  // namespace coffer::store
