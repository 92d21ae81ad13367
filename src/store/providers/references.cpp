#include "store/providers/references.h"

#include "store/identity/row_bytes.h"
#include "store/lists/key_walk.h"

namespace coffer::store {
namespace {

#define REFERENCE_COLUMNS                                                                  \
  "SELECT r.onramp_reference, r.tenant, r.application, r.connector, c.id, r.wallet, w.id," \
  " w.public_key, r.customer_id, r.reference, r.has_metadata, r.created_at"                \
  " FROM onramp_references r JOIN connectors c ON c.connector = r.connector"               \
  " JOIN wallets w ON w.wallet = r.wallet"
constexpr const char* kByKey = REFERENCE_COLUMNS " WHERE r.onramp_reference = ?";
constexpr const char* kRelated =
    REFERENCE_COLUMNS " WHERE r.related_to = ? ORDER BY r.onramp_reference";
constexpr const char* kByReference = REFERENCE_COLUMNS " WHERE r.connector = ? AND r.reference = ?";
constexpr const char* kOwn =
    REFERENCE_COLUMNS " WHERE r.tenant = ? AND r.reference = ? ORDER BY r.onramp_reference LIMIT 1";
#undef REFERENCE_COLUMNS

constexpr KeyIndex kOfConnector = COFFER_KEY_INDEX(
    "onramp_reference", "onramp_references INDEXED BY onramp_references_by_connector",
    "tenant = ?3 AND connector = ?4 AND related_to IS NULL");
constexpr const char* kNextConnector =
    "SELECT connector FROM onramp_references INDEXED BY onramp_references_by_connector"
    " WHERE tenant = ? AND connector > ? AND related_to IS NULL ORDER BY connector LIMIT 1";
constexpr const char* kConnector = "SELECT connector FROM connectors WHERE id = ?";

constexpr const char* kMetadata =
    "SELECT name, value FROM onramp_reference_metadata WHERE onramp_reference = ?";
constexpr const char* kInsert =
    "INSERT INTO onramp_references (tenant, application, connector, wallet, customer_id, reference,"
    " related_to, has_metadata, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kInsertMetadata =
    "INSERT INTO onramp_reference_metadata (onramp_reference, name, value) VALUES (?, ?, ?)";
constexpr const char* kOfCustomer =
    "SELECT onramp_reference FROM onramp_references INDEXED BY onramp_references_of_customer"
    " WHERE tenant = ? AND connector = ? AND customer_id = ? AND related_to IS NULL";
constexpr const char* kTaken =
    "SELECT 1 FROM onramp_references WHERE connector = ? AND reference = ?";
constexpr const char* kFindPayment =
    "SELECT payment FROM reference_payments WHERE connector = ? AND provider_payment_id = ?";
constexpr const char* kInsertPayment =
    "INSERT INTO reference_payments (connector, provider_payment_id, onramp_reference, payment)"
    " VALUES (?, ?, ?, ?)";

ReferenceRow reference_row(const Query& q) {
  ReferenceRow row;
  row.key = q.integer(0);
  row.tenant = q.integer(1);
  row.application = q.integer(2);
  row.connector = q.integer(3);
  row.connector_id = q.id<ConnectorId>(4);
  row.wallet = q.integer(5);
  row.wallet_id = q.id<WalletId>(6);
  row.settlement_account = q.text(7);
  row.customer_id = q.text(8);
  row.reference = q.text(9);
  if (q.boolean(10)) row.metadata.emplace();
  row.created_at = q.time(11);
  return row;
}

void read_metadata(Connection& db, ReferenceRow& row) {
  if (!row.metadata) return;
  Query q(db, kMetadata, row.key);
  while (q.step()) (*row.metadata)[q.text(0)] = q.text(1);
}

void read_details(Connection& db, ReferenceRow& row) {
  read_metadata(db, row);
  {
    Query q(db, kRelated, row.key);
    while (q.step()) row.related.push_back(reference_row(q));
  }
  for (ReferenceRow& related : row.related) read_metadata(db, related);
}

template <class... Args>
std::optional<ReferenceRow> one_reference(Connection& db, const char* sql, const Args&... args) {
  std::optional<ReferenceRow> row;
  {
    Query q(db, sql, args...);
    if (q.step()) row = reference_row(q);
  }
  if (row) read_details(db, *row);
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
  tx.db().run(kInsert, tenant.key, owner.application, owner.connector, owner.wallet,
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
  return Query(db, kOfCustomer, tenant.key, connector, customer_id).step();
}

bool is_reference_free(Connection& db, std::int64_t connector, std::string_view reference) {
  return !Query(db, kTaken, connector, reference).step();
}

RowPage<ReferenceRow> list_references(Connection& db, const Tenant& tenant,
                                      const ReferenceFilter& filter, const PageAt& page) {
  RowBudget budget;
  const KeyWalk walk(db, page.backward ? Order::rising : Order::falling, budget);
  KeySets sets;
  std::vector<std::int64_t> of_customer;
  for (const std::int64_t connector : connectors_of(db, tenant, filter)) {
    if (!filter.customer_id) {
      sets.push_back(walk.of(kOfConnector, tenant.key, connector));
    } else if (const auto key =
                   first_integer(db, kOfCustomer, tenant.key, connector, *filter.customer_id)) {
      of_customer.push_back(*key);
    }
  }
  if (filter.customer_id) sets.push_back(walk.known(std::move(of_customer)));
  if (sets.empty()) return {};
  const auto found =
      walk.read(one(walk.any(std::move(sets))), {.beyond = page.key, .limit = page.limit},
                [](std::int64_t) { return true; });
  return load_page<ReferenceRow>(page, found,
                                 [&](std::int64_t key) { return *one_reference(db, kByKey, key); });
}

std::optional<ReferenceRow> find_reference(Connection& db, std::int64_t connector,
                                           std::string_view reference) {
  return one_reference(db, kByReference, connector, reference);
}

std::optional<ReferenceRow> find_own_reference(Connection& db, const Tenant& tenant,
                                               std::string_view reference) {
  return one_reference(db, kOwn, tenant.key, reference);
}

std::optional<std::int64_t> find_reference_payment(Connection& db, std::int64_t connector,
                                                   std::string_view provider_payment_id) {
  Query q(db, kFindPayment, connector, provider_payment_id);
  return q.step() ? std::optional(q.integer(0)) : std::nullopt;
}

void insert_reference_payment(WriteTx& tx, const ReferenceRow& reference,
                              std::string_view provider_payment_id, std::int64_t payment) {
  tx.db().run(kInsertPayment, reference.connector, provider_payment_id, reference.key, payment);
}

}  // namespace coffer::store
