#include "store/providers/references.h"

#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

constexpr Column<ReferenceRow> kReferenceColumns[] = {
    joined<&ReferenceRow::key>("r.onramp_reference"),
    joined<&ReferenceRow::tenant>("r.tenant"),
    joined<&ReferenceRow::application>("r.application"),
    joined<&ReferenceRow::connector>("r.connector"),
    joined<&ReferenceRow::connector_id>("c.id"),
    joined<&ReferenceRow::wallet>("r.wallet"),
    joined<&ReferenceRow::wallet_id>("w.id"),
    joined<&ReferenceRow::settlement_account>("w.public_key"),
    joined<&ReferenceRow::customer_id>("r.customer_id"),
    joined<&ReferenceRow::reference>("r.reference"),
    {"r.has_metadata",
     [](const Query& q, int at, ReferenceRow& row) {
       if (q.boolean(at)) row.metadata.emplace();
     }},
    joined<&ReferenceRow::created_at>("r.created_at"),
};
const std::string kSelectReference = select(kReferenceColumns) +
                                     " FROM onramp_references r JOIN connectors c ON c.connector ="
                                     " r.connector JOIN wallets w ON w.wallet = r.wallet";
const std::string kReferenceByKey = kSelectReference + " WHERE r.onramp_reference = ?";
const std::string kRelated =
    kSelectReference + " WHERE r.related_to = ? ORDER BY r.onramp_reference";
const std::string kByReference = kSelectReference + " WHERE r.connector = ? AND r.reference = ?";
const std::string kOwn =
    kSelectReference +
    " WHERE r.tenant = ? AND r.reference = ? ORDER BY r.onramp_reference LIMIT 1";

constexpr KeyIndex kOfConnector = COFFER_KEY_INDEX(
    "onramp_reference", "onramp_references INDEXED BY onramp_references_by_connector",
    "tenant = ?3 AND connector = ?4 AND related_to IS NULL");
constexpr const char* kNextConnector =
    "SELECT connector FROM onramp_references INDEXED BY onramp_references_by_connector"
    " WHERE tenant = ? AND connector > ? AND related_to IS NULL ORDER BY connector LIMIT 1";
constexpr const char* kConnector = "SELECT connector FROM connectors WHERE id = ?";

constexpr const char* kInsertReference =
    "INSERT INTO onramp_references (tenant, application, connector, wallet, customer_id, reference,"
    " related_to, has_metadata, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kInsertMetadata =
    "INSERT INTO onramp_reference_metadata (onramp_reference, name, value) VALUES (?, ?, ?)";
constexpr KeyIndex kOfCustomer = COFFER_KEY_INDEX(
    "onramp_reference", "onramp_references INDEXED BY onramp_references_of_customer",
    "tenant = ?3 AND connector = ?4 AND customer_id = ?5 AND related_to IS NULL");
constexpr const char* kHasReferences =
    "SELECT 1 FROM onramp_references INDEXED BY onramp_references_of_customer"
    " WHERE tenant = ? AND connector = ? AND customer_id = ? AND related_to IS NULL";
constexpr const char* kTaken =
    "SELECT 1 FROM onramp_references WHERE connector = ? AND reference = ?";
constexpr const char* kReferencePayment =
    "SELECT payment FROM reference_payments WHERE connector = ? AND provider_payment_id = ?";
constexpr const char* kInsertPaymentReference =
    "INSERT INTO reference_payments (connector, provider_payment_id, onramp_reference, payment)"
    " VALUES (?, ?, ?, ?)";

void read_metadata(Connection& db, ReferenceRow& row) {
  if (!row.metadata) return;
  Query q(db, "SELECT rowid, name, value FROM onramp_reference_metadata WHERE onramp_reference = ?",
          row.key);
  while (q.step()) {
    require_intact(db, "onramp_reference_metadata", q.integer(0),
                   {{"onramp_reference", row.key}, {"name", q.bytes(1)}});
    (*row.metadata)[q.text(1)] = q.text(2);
  }
}

void read_details(Connection& db, ReferenceRow& row) {
  read_metadata(db, row);
  {
    Query q(db, kRelated.c_str(), row.key);
    while (q.step()) row.related.push_back(read_row<ReferenceRow>(q, kReferenceColumns));
  }
  for (ReferenceRow& related : row.related) {
    require_intact(db, "onramp_references", related.key, {{"related_to", row.key}});
    read_metadata(db, related);
  }
}

template <class... Args>
std::optional<ReferenceRow> one_reference(Connection& db, const std::string& sql,
                                          std::initializer_list<FoundBy> found_by,
                                          const Args&... args) {
  std::optional<ReferenceRow> row;
  {
    Query q(db, sql.c_str(), args...);
    if (q.step()) row = read_row<ReferenceRow>(q, kReferenceColumns);
  }
  if (!row) return row;
  require_intact(db, "onramp_references", row->key, found_by);
  read_details(db, *row);
  return row;
}

/// Row keys of the matching connectors on which the tenant has references.
std::vector<std::int64_t> connectors_of(Connection& db, const Tenant& tenant,
                                        const ReferenceFilter& filter) {
  std::vector<std::int64_t> out;
  if (filter.connector) {
    if (const auto key = first_integer(db, kConnector, *filter.connector)) out.push_back(*key);
    return out;
  }
  std::int64_t last = 0;
  while (const auto key = first_integer(db, kNextConnector, tenant.key, last)) {
    out.push_back(*key);
    last = *key;
  }
  return out;
}

std::int64_t insert_one(WriteTx& tx, const Tenant& tenant, const ReferenceRow& owner,
                        const ReferenceRow& row, std::optional<std::int64_t> related_to) {
  tx.db().run(kInsertReference, tenant.key, owner.application, owner.connector, owner.wallet,
              owner.customer_id, row.reference, related_to, row.metadata.has_value(), tx.now());
  const std::int64_t key = tx.db().last_insert_key();
  tx.quotas().add_bytes(tenant.key, row_bytes::kReference);
  if (row.metadata) {
    for (const auto& [name, value] : *row.metadata) {
      tx.db().run(kInsertMetadata, key, name, value);
    }
  }
  return key;
}

}  // namespace

std::int64_t insert_reference(WriteTx& tx, const Tenant& tenant, const ReferenceRow& row) {
  const std::int64_t key = insert_one(tx, tenant, row, row, std::nullopt);
  for (const ReferenceRow& related : row.related) insert_one(tx, tenant, row, related, key);
  return key;
}

bool has_references(Connection& db, const Tenant& tenant, std::int64_t connector,
                    std::string_view customer_id) {
  return Query(db, kHasReferences, tenant.key, connector, customer_id).step();
}

bool is_reference_free(Connection& db, std::int64_t connector, std::string_view reference) {
  return !Query(db, kTaken, connector, reference).step();
}

RowPage<ReferenceRow> list_references(Connection& db, const Tenant& tenant,
                                      const ReferenceFilter& filter, const PageAt& page) {
  KeyWalk walk(db, page);
  KeySources sources;
  for (const std::int64_t connector : connectors_of(db, tenant, filter)) {
    sources.push_back(filter.customer_id
                          ? walk.along(kOfCustomer, tenant.key, connector, *filter.customer_id)
                          : walk.along(kOfConnector, tenant.key, connector));
  }
  const auto load = [&](std::int64_t key) {
    return *one_reference(db, kReferenceByKey, {{"tenant", tenant.key}}, key);
  };
  return walk.rows(
      {sources}, [](std::int64_t) { return true; }, load);
}

std::optional<ReferenceRow> find_reference(Connection& db, std::int64_t connector,
                                           std::string_view reference) {
  return one_reference(db, kByReference, {{"connector", connector}, {"reference", reference}},
                       connector, reference);
}

std::optional<ReferenceRow> find_own_reference(Connection& db, const Tenant& tenant,
                                               std::string_view reference) {
  return one_reference(db, kOwn, {{"tenant", tenant.key}, {"reference", reference}}, tenant.key,
                       reference);
}

std::optional<std::int64_t> find_reference_payment(Connection& db, std::int64_t connector,
                                                   std::string_view provider_payment_id) {
  return first_integer(db, kReferencePayment, connector, provider_payment_id);
}

void insert_reference_payment(WriteTx& tx, const ReferenceRow& reference,
                              std::string_view provider_payment_id, std::int64_t payment) {
  tx.db().run(kInsertPaymentReference, reference.connector, provider_payment_id, reference.key,
              payment);
}

}  // namespace coffer::store
