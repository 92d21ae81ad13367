// Beneficiaries and their payment destinations. Rows to which payments may refer are never deleted.
// Beneficiaries are archived. A replaced destination stays as an archived row with the same ID, so
// a row to which a payment refers by key never changes.
#pragma once

#include <optional>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/parties/beneficiary.h"
#include "store/commits/write_tx.h"
#include "store/parties/beneficiary_terms.h"
#include "store/rows/page.h"

namespace coffer::store {

struct BeneficiaryRow {
  std::int64_t key = 0;
  BeneficiaryId id;
  Beneficiary detail;
  bool archived = false;  // not found by the API, and unusable for new payments
  Timestamp created_at;
  Timestamp updated_at;

  EntityType type() const { return entity_type(detail); }
};

struct DestinationRow {
  std::int64_t key = 0;
  DestinationId id;
  std::int64_t beneficiary = 0;
  BeneficiaryId beneficiary_id;
  Destination detail;
  bool archived = false;
  Timestamp created_at;
  bool operator==(const DestinationRow&) const = default;
};

/// Whether the beneficiary has the tag, and each of the words begins one of its words.
bool beneficiary_fits(Connection& db, std::int64_t key, const TermsWanted& wanted);
/// Computes all search terms again if this version folds texts in another way than the one that
/// stored them. Call this outside a transaction, before the commit queue starts.
void refresh_search_terms(Connection& writer);

/// Includes archived beneficiaries.
std::optional<BeneficiaryRow> find_beneficiary(Connection& db, const Tenant& tenant,
                                               BeneficiaryId id);
std::optional<BeneficiaryRow> find_beneficiary_by_key(Connection& db, std::int64_t key);
/// Those not archived, newest first.
RowPage<BeneficiaryRow> list_beneficiaries(Connection& db, const Tenant& tenant,
                                           const TermsWanted& wanted, const PageAt& page);

/// The active row of this ID, otherwise its last archived one.
std::optional<DestinationRow> find_destination(Connection& db, const Tenant& tenant,
                                               DestinationId id);
std::optional<DestinationRow> find_destination_by_key(Connection& db, std::int64_t key);
/// Those not archived, in the order of creation.
std::vector<DestinationRow> destinations_of(Connection& db, std::int64_t beneficiary,
                                            std::optional<DestinationMethod> method = std::nullopt);

/// Writes the beneficiary with addresses and tags; sets `key` and times.
void insert_beneficiary(WriteTx& tx, const Tenant& tenant, BeneficiaryRow& row);
/// Replaces details, addresses and tags; sets `updated_at`.
void update_beneficiary(WriteTx& tx, const Tenant& tenant, BeneficiaryRow& row);
/// Sets only `updated_at`, after a change of a destination.
void touch_beneficiary(WriteTx& tx, const Tenant& tenant, BeneficiaryRow& row);
/// Archives the beneficiary and its destinations.
void archive_beneficiary(WriteTx& tx, const Tenant& tenant, const BeneficiaryRow& row);
/// Archives all destinations of a beneficiary.
void archive_destinations(WriteTx& tx, const Tenant& tenant, const BeneficiaryRow& row);

/// Writes the destination; sets `key`, and `created_at` unless it is set.
void insert_destination(WriteTx& tx, const Tenant& tenant, DestinationRow& row);
void archive_destination(WriteTx& tx, const Tenant& tenant, const DestinationRow& row);

}  // namespace coffer::store
