#include "store/payments/quotes.h"

#include "base/check.h"
#include "store/identity/row_bytes.h"

namespace coffer::store {
namespace {

#define QUOTE_COLUMNS                                                                       \
  "SELECT q.quote, q.id, q.connector, q.beneficiary, q.destination, b.id, d.id,"            \
  " q.transaction_type, q.send_amount, q.receive_amount, q.fee, q.total, q.rate_numerator," \
  " q.rate_denominator, q.provider_reference, q.created_at, q.expires_at, q.payment"        \
  " FROM quotes q LEFT JOIN beneficiaries b ON b.beneficiary = q.beneficiary"               \
  " LEFT JOIN destinations d ON d.destination = q.destination"
constexpr const char* kFind = QUOTE_COLUMNS " WHERE q.id = ?1 AND q.tenant = ?2";
constexpr const char* kFindByKey = QUOTE_COLUMNS " WHERE q.quote = ?";
#undef QUOTE_COLUMNS

constexpr const char* kInsert =
    "INSERT INTO quotes (tenant, id, connector, beneficiary, destination, transaction_type,"
    " send_amount, receive_amount, fee, total, rate_numerator, rate_denominator,"
    " provider_reference, created_at, expires_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kUse =
    "UPDATE quotes SET payment = ? WHERE quote = ? AND payment IS NULL RETURNING expires_at";
constexpr const char* kExpire =
    "UPDATE quotes SET expires_at = ? WHERE quote = ? AND payment IS NULL";

constexpr const char* kParty =
    "SELECT b.beneficiary, a.entity_type, b.entity_type FROM beneficiaries b"
    " JOIN tenants t ON t.tenant = b.tenant JOIN associations a ON a.association = t.association"
    " WHERE b.id = ? AND b.tenant = ? AND b.archived_at IS NULL";
constexpr const char* kDestinations =
    "SELECT destination, id, method, ifnull(country, ''), ifnull(currency, '') FROM destinations"
    " WHERE beneficiary = ? AND archived_at IS NULL ORDER BY destination";

template <class IdType>
std::optional<IdType> optional_id(const Query& q, int column) {
  return q.is_null(column) ? std::nullopt : std::optional(q.id<IdType>(column));
}

QuoteRow quote_row(const Query& q) {
  QuoteRow row;
  row.key = q.integer(0);
  row.id = q.id<QuoteId>(1);
  row.connector = q.integer(2);
  row.beneficiary = q.optional_integer(3);
  row.destination = q.optional_integer(4);
  row.beneficiary_id = optional_id<BeneficiaryId>(q, 5);
  row.destination_id = optional_id<DestinationId>(q, 6);
  if (!q.is_null(7)) row.type = q.enumeration<TransactionType>(7);
  row.price = {
      q.amount(8), q.amount(9), q.amount(10), q.amount(11), {q.integer(12), q.integer(13)}};
  row.provider_reference = q.optional_text(14);
  row.created_at = q.time(15);
  row.expires_at = q.time(16);
  row.payment = q.optional_integer(17);
  return row;
}

}  // namespace

std::optional<QuoteRow> find_quote(Connection& db, const Tenant& tenant, QuoteId id) {
  Query query(db, kFind, id, tenant.key);
  return query.step() ? std::optional(quote_row(query)) : std::nullopt;
}

std::optional<QuoteRow> find_quote_by_key(Connection& db, std::int64_t quote) {
  Query query(db, kFindByKey, quote);
  return query.step() ? std::optional(quote_row(query)) : std::nullopt;
}

std::int64_t insert_quote(WriteTx& tx, const Tenant& tenant, const QuoteRow& row) {
  tx.db().run(kInsert, tenant.key, row.id, row.connector, row.beneficiary, row.destination,
              row.type, row.price.send, row.price.receive, row.price.fee, row.price.total,
              row.price.rate.numerator, row.price.rate.denominator, row.provider_reference,
              row.created_at, row.expires_at);
  const std::int64_t key = tx.db().last_insert_key();
  tx.quotas().add_open_quotes(tenant.key, row.expires_at, 1);
  tx.quotas().add_bytes(tenant.key, row_bytes::kQuote);
  return key;
}

void use_quote(WriteTx& tx, const Tenant& tenant, std::int64_t quote, std::int64_t payment) {
  Query query(tx.db(), kUse, payment, quote);
  COFFER_CHECK(query.step());
  tx.quotas().add_open_quotes(tenant.key, query.time(0), -1);
}

void expire_quote(WriteTx& tx, const Tenant& tenant, const QuoteRow& quote) {
  tx.db().run(kExpire, tx.now(), quote.key);
  COFFER_CHECK(tx.db().changes() == 1);
  tx.quotas().add_open_quotes(tenant.key, quote.expires_at, -1);
  // It counts as open until the end of its 10 s interval.
  tx.quotas().add_open_quotes(tenant.key, tx.now(), 1);
}

std::optional<QuoteParty> find_quote_party(Connection& db, const Tenant& tenant, BeneficiaryId id) {
  Query query(db, kParty, id, tenant.key);
  if (!query.step()) return std::nullopt;
  return QuoteParty{query.integer(0), query.enumeration<EntityType>(1),
                    query.enumeration<EntityType>(2)};
}

std::vector<QuoteDestination> quote_destinations(Connection& db, std::int64_t beneficiary) {
  std::vector<QuoteDestination> out;
  Query q(db, kDestinations, beneficiary);
  while (q.step()) {
    out.push_back({q.integer(0), q.id<DestinationId>(1), q.enumeration<DestinationMethod>(2),
                   q.text(3), q.text(4)});
  }
  return out;
}

}  // namespace coffer::store
