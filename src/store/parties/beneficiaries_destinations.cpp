// Destinations of beneficiaries.
#include <map>

#include "base/check.h"
#include "store/parties/beneficiaries.h"
#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"

namespace coffer::store {
namespace {

constexpr Column<DestinationRow> kDestinationColumns[] = {
    joined<&DestinationRow::key>("d.destination"),
    column<&DestinationRow::id>("d.id"),
    column<&DestinationRow::beneficiary>("d.beneficiary"),
    joined<&DestinationRow::beneficiary_id>("b.id"),
    column<&DestinationRow::detail, &Destination::method>("d.method"),
    // A crypto destination may have no country and no currency.
    text_or_null<&DestinationRow::detail, &Destination::country>("d.country"),
    text_or_null<&DestinationRow::detail, &Destination::currency>("d.currency"),
    column<&DestinationRow::detail, &Destination::label>("d.label"),
    column<&DestinationRow::created_at>("d.created_at"),
    joined<&DestinationRow::archived>("d.archived_at IS NOT NULL"),
};

/// The method determines which of the columns have values.
const TextColumns<BankDetails, MobileMoneyDetails, CryptoDetails> kDetails;

const std::string kSelectDestination = select(kDestinationColumns) +
                                       select_texts("d", kDetails.names()) +
                                       " FROM destinations d"
                                       " JOIN beneficiaries b ON b.beneficiary = d.beneficiary";
const std::string kFindDestination =
    kSelectDestination +
    " WHERE d.id = ? AND d.tenant = ? ORDER BY d.archived_at IS NULL DESC, d.destination DESC"
    " LIMIT 1";
const std::string kDestinationByKey = kSelectDestination + " WHERE d.destination = ?";
const std::string kOfBeneficiary =
    kSelectDestination +
    " WHERE d.beneficiary = ?1 AND d.archived_at IS NULL AND (?2 IS NULL OR d.method = ?2)";
const std::string kInsertDestination =
    ColumnList{"tenant"}.add(kDetails).add(kDestinationColumns).insert_into("destinations");

constexpr const char* kFirstOfId = "SELECT min(destination) FROM destinations WHERE id = ?";
constexpr const char* kArchiveDestination =
    "UPDATE destinations SET archived_at = ?"
    " WHERE destination = ? AND tenant = ? AND archived_at IS NULL";

DestinationRow destination_row(const Query& q) {
  auto row = read_row<DestinationRow>(q, kDestinationColumns);
  row.detail.details =
      kDetails.read(q, std::size(kDestinationColumns), static_cast<std::size_t>(row.detail.method));
  return row;
}

DestinationRow intact(Connection& db, DestinationRow row,
                      std::initializer_list<FoundBy> found_by = {}) {
  require_intact(db, "destinations", row.key, found_by);
  return row;
}

}  // namespace

std::optional<DestinationRow> find_destination(Connection& db, const Tenant& tenant,
                                               DestinationId id) {
  Query query(db, kFindDestination.c_str(), id, tenant.key);
  if (!query.step()) return std::nullopt;
  return intact(db, destination_row(query), {{"id", id}});
}

std::optional<DestinationRow> find_destination_by_key(Connection& db, std::int64_t key) {
  Query query(db, kDestinationByKey.c_str(), key);
  return query.step() ? std::optional(intact(db, destination_row(query))) : std::nullopt;
}

std::vector<DestinationRow> destinations_of(Connection& db, std::int64_t beneficiary,
                                            std::optional<DestinationMethod> method) {
  // By the first row of each ID, so that a replaced destination keeps its position.
  std::map<std::int64_t, DestinationRow> in_order;
  Query query(db, kOfBeneficiary.c_str(), beneficiary, method);
  while (query.step()) {
    DestinationRow row = intact(db, destination_row(query),
                                {{"beneficiary", beneficiary}, {"archived_at", std::nullopt}});
    const auto first = first_integer(db, kFirstOfId, row.id);
    in_order.emplace(first.value_or(row.key), std::move(row));
  }
  std::vector<DestinationRow> out;
  for (auto& [first, row] : in_order) out.push_back(std::move(row));
  return out;
}

void insert_destination(WriteTx& tx, const Tenant& tenant, DestinationRow& row) {
  if (row.created_at == Timestamp{}) row.created_at = tx.now();
  Query query(tx.db(), kInsertDestination.c_str(), tenant.key);
  kDetails.bind(query, 2, row.detail.details);
  bind_row(query, 2 + kDetails.count(), kDestinationColumns, row);
  query.run();
  row.key = tx.db().last_insert_key();
  tx.quotas().add(tenant.key, Quota::destinations, 1);
  tx.quotas().add_bytes(tenant.key, row_bytes::kDestination);
}

void archive_destination(WriteTx& tx, const Tenant& tenant, const DestinationRow& row) {
  tx.db().run(kArchiveDestination, tx.now(), row.key, tenant.key);
  COFFER_CHECK(tx.db().changes() == 1);
  tx.quotas().add(tenant.key, Quota::destinations, -1);
}

}  // namespace coffer::store
