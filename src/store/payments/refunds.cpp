#include "store/payments/refunds.h"

#include "store/commits/quota_book.h"
#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"

namespace coffer::store {
namespace {

using Row = RefundRow;
constexpr Column<Row> kRefundColumns[] = {
    joined<&Row::key>("refund"),
    column<&Row::payment>("payment"),
    column<&Row::tenant>("tenant"),
    changing(column<&Row::state>("state")),
    changing(column<&Row::amount>("amount")),
    changing(column<&Row::fee>("fee")),
    column<&Row::reason>("reason"),
    column<&Row::at>("at"),
    changing(column<&Row::booked_at>("booked_at")),
    changing(column<&Row::journal>("journal")),
    column<&Row::connector>("connector"),
    column<&Row::return_id>("return_id"),
    column<&Row::report>("report"),
    column<&Row::returned>("returned"),
    column<&Row::with_fee>("with_fee"),
    column<&Row::transaction_id>("transaction_id"),
    column<&Row::wanted>("wanted"),
    column<&Row::id>("id"),
    column<&Row::asked>("asked"),
    column<&Row::held>("held"),
    changing(column<&Row::failed_at>("failed_at")),
    changing(column<&Row::failure>("failure")),
};
const std::string kSelectRefund = select(kRefundColumns) + " FROM refunds";
const std::string kRefundsOf = kSelectRefund + " WHERE payment = ? ORDER BY refund";
const std::string kByReturn = kSelectRefund + " WHERE connector = ? AND return_id = ?";
const std::string kByReversal = kSelectRefund + " WHERE tenant = ? AND transaction_id = ?";
const std::string kRefundById = kSelectRefund + " WHERE id = ?";
const std::string kInsertRefund = ColumnList{}.add(kRefundColumns).insert_into("refunds");
const std::string kChangeRefund =
    ColumnList{}.add_changing(kRefundColumns).update("refunds") + " WHERE refund = ?";
constexpr const char* kCloseDisputed =
    "UPDATE refunds SET state = ? WHERE payment = ? AND state = ?";

std::optional<Row> intact(Connection& db, std::optional<Row> row,
                          std::initializer_list<FoundBy> found_by) {
  if (row) require_intact(db, "refunds", row->key, found_by);
  return row;
}

}  // namespace

std::vector<RefundRow> refunds_of(Connection& db, std::int64_t payment) {
  auto rows = all_rows<Row>(Query(db, kRefundsOf.c_str(), payment), kRefundColumns);
  for (const Row& row : rows) require_intact(db, "refunds", row.key, {{"payment", payment}});
  return rows;
}

std::optional<RefundRow> find_return(Connection& db, std::int64_t connector,
                                     std::string_view return_id) {
  return intact(db, first_row<Row>(db, kByReturn, kRefundColumns, connector, return_id),
                {{"connector", connector}, {"return_id", return_id}});
}

std::optional<RefundRow> find_reversal(Connection& db, const Tenant& tenant,
                                       std::string_view transaction_id) {
  return intact(db, first_row<Row>(db, kByReversal, kRefundColumns, tenant.key, transaction_id),
                {{"tenant", tenant.key}, {"transaction_id", transaction_id}});
}

std::optional<RefundRow> waiting_refund(Connection& db, std::int64_t payment) {
  for (Row& row : refunds_of(db, payment)) {
    if (row.id && row.state == RefundState::waiting) return std::move(row);
  }
  return std::nullopt;
}

std::optional<std::int64_t> payment_of_refund(Connection& db, RefundId id) {
  const auto row = intact(db, first_row<Row>(db, kRefundById, kRefundColumns, id), {{"id", id}});
  return row ? std::optional(row->payment) : std::nullopt;
}

void insert_refund(WriteTx& tx, RefundRow& row) {
  row.at = tx.now();
  if (row.state == RefundState::booked) row.booked_at = tx.now();
  insert_row(tx.db(), kInsertRefund, kRefundColumns, row);
  row.key = tx.db().last_insert_key();
  tx.quotas().add_bytes(row.tenant,
                        row_bytes::kRefund + static_cast<std::int64_t>(row.reason.size()));
}

void change_refund(WriteTx& tx, const RefundRow& row) {
  update_row(tx.db(), kChangeRefund, kRefundColumns, row, row.key);
  COFFER_CHECK(tx.db().changes() == 1);
}

void close_disputed_refunds(WriteTx& tx, std::int64_t payment) {
  tx.db().run(kCloseDisputed, RefundState::closed, payment, RefundState::disputed);
}

}  // namespace coffer::store
