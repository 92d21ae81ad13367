#include "store/payments/quotes.h"

#include "base/check.h"
#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"

namespace coffer::store {
namespace {

constexpr Column<QuoteRow> kQuoteColumns[] = {
    joined<&QuoteRow::key>("q.quote"),
    column<&QuoteRow::id>("q.id"),
    column<&QuoteRow::connector>("q.connector"),
    column<&QuoteRow::beneficiary>("q.beneficiary"),
    column<&QuoteRow::destination>("q.destination"),
    joined<&QuoteRow::beneficiary_id>("b.id"),
    joined<&QuoteRow::destination_id>("d.id"),
    column<&QuoteRow::type>("q.transaction_type"),
    column<&QuoteRow::price, &Price::send>("q.send_amount"),
    column<&QuoteRow::price, &Price::receive>("q.receive_amount"),
    column<&QuoteRow::price, &Price::fee>("q.fee"),
    column<&QuoteRow::price, &Price::total>("q.total"),
    column<&QuoteRow::price, &Price::rate, &Rate::numerator>("q.rate_numerator"),
    column<&QuoteRow::price, &Price::rate, &Rate::denominator>("q.rate_denominator"),
    column<&QuoteRow::provider_reference>("q.provider_reference"),
    column<&QuoteRow::created_at>("q.created_at"),
    column<&QuoteRow::expires_at>("q.expires_at"),
    joined<&QuoteRow::payment>("q.payment"),
};
const std::string kSelectQuote = select(kQuoteColumns) +
                                 " FROM quotes q LEFT JOIN beneficiaries b ON b.beneficiary ="
                                 " q.beneficiary LEFT JOIN destinations d ON d.destination ="
                                 " q.destination";
const std::string kFindQuote = kSelectQuote + " WHERE q.id = ? AND q.tenant = ?";
const std::string kFindByKey = kSelectQuote + " WHERE q.quote = ?";
const std::string kInsertQuote = ColumnList{"tenant"}.add(kQuoteColumns).insert_into("quotes");
// Newest first; the caller stops at the first one that must have expired.
constexpr const char* kNewest =
    "SELECT created_at, connector = ? AND payment IS NULL AND expires_at > ? FROM quotes"
    " WHERE quote > 0 ORDER BY quote DESC";
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

}  // namespace

std::optional<QuoteRow> find_quote(Connection& db, const Tenant& tenant, QuoteId id) {
  auto row = first_row<QuoteRow>(db, kFindQuote, kQuoteColumns, id, tenant.key);
  if (row) require_intact(db, "quotes", row->key, {{"id", id}});
  return row;
}

std::optional<QuoteRow> find_quote_by_key(Connection& db, std::int64_t quote) {
  require_intact(db, "quotes", quote);
  return first_row<QuoteRow>(db, kFindByKey, kQuoteColumns, quote);
}

std::int64_t open_quotes(Connection& db, std::int64_t connector, Timestamp now) {
  std::int64_t count = 0;
  Query query(db, kNewest, connector, now);
  while (query.step() && query.time(0).plus_ms(kQuoteLifetimeMs) > now) count += query.integer(1);
  return count;
}

std::int64_t insert_quote(WriteTx& tx, const Tenant& tenant, const QuoteRow& row) {
  insert_row(tx.db(), kInsertQuote, kQuoteColumns, row, tenant.key);
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
  // The quote counts as open until the end of its 10 s interval.
  tx.quotas().add_open_quotes(tenant.key, tx.now(), 1);
}

std::optional<QuoteParty> find_quote_party(Connection& db, const Tenant& tenant, BeneficiaryId id) {
  const auto found =
      first_of<QuoteParty, std::int64_t, EntityType, EntityType>(db, kParty, id, tenant.key);
  if (found) require_intact(db, "beneficiaries", found->beneficiary, {{"id", id}});
  return found;
}

std::vector<QuoteDestination> quote_destinations(Connection& db, std::int64_t beneficiary) {
  auto rows = all_of<QuoteDestination, std::int64_t, DestinationId, DestinationMethod, std::string,
                     std::string>(db, kDestinations, beneficiary);
  for (const QuoteDestination& row : rows) {
    require_intact(db, "destinations", row.key,
                   {{"beneficiary", beneficiary}, {"archived_at", std::nullopt}});
  }
  return rows;
}

}  // namespace coffer::store
