#include "store/providers/arrivals.h"

#include <limits>

#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

constexpr Column<ArrivalRow> kArrivalColumns[] = {
    joined<&ArrivalRow::key>("a.arrival"),
    joined<&ArrivalRow::id>("a.id"),
    joined<&ArrivalRow::connector>("a.connector"),
    joined<&ArrivalRow::connector_id>("c.id"),
    joined<&ArrivalRow::provider_payment_id>("a.provider_payment_id"),
    joined<&ArrivalRow::reference>("a.reference"),
    joined<&ArrivalRow::amount>("a.amount"),
    joined<&ArrivalRow::currency>("a.currency"),
    joined<&ArrivalRow::payer, &Payer::name>("a.payer_name"),
    joined<&ArrivalRow::payer, &Payer::account_number>("a.payer_account"),
    joined<&ArrivalRow::payer, &Payer::phone>("a.payer_phone"),
    joined<&ArrivalRow::arrived_at>("a.arrived_at"),
    joined<&ArrivalRow::returned_at>("a.returned_at"),
    joined<&ArrivalRow::payment_id>("p.id"),
};
const std::string kSelectArrival = select(kArrivalColumns) + " FROM unassigned_arrivals a";
#define THEIR_IDS                                   \
  " JOIN connectors c ON c.connector = a.connector" \
  " LEFT JOIN payments p ON p.payment = a.payment"
#define IS_OPEN "payment IS NULL AND returned_at IS NULL"
const std::string kArrivalById = kSelectArrival + THEIR_IDS " WHERE a.id = ?";
const std::string kArrivalsByPayment =
    kSelectArrival + " INDEXED BY unassigned_arrivals_of_payment" THEIR_IDS
                     " WHERE a.connector = ? AND a.provider_payment_id = ? ORDER BY a.arrival";
const std::string kNewestArrivals =
    kSelectArrival + THEIR_IDS " WHERE a.arrival < ? ORDER BY a.arrival DESC LIMIT ?";
const std::string kOpenArrivals =
    kSelectArrival + " INDEXED BY unassigned_arrivals_open" THEIR_IDS
                     " WHERE a.payment IS NULL AND a.returned_at IS NULL AND a.arrival < ?"
                     " ORDER BY a.arrival DESC LIMIT ?";
#undef THEIR_IDS
constexpr const char* kCountOpenArrivals =
    "SELECT count(*) FROM (SELECT 1 FROM unassigned_arrivals INDEXED BY unassigned_arrivals_open"
    " WHERE " IS_OPEN " AND arrival > 0 LIMIT ?)";
constexpr const char* kInsertArrival =
    "INSERT INTO unassigned_arrivals (id, connector, provider_payment_id, reference, amount,"
    " currency, payer_name, payer_account, payer_phone, arrived_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kAssignArrival =
    "UPDATE unassigned_arrivals SET payment = ? WHERE arrival = ? AND " IS_OPEN;
constexpr const char* kReturnArrival =
    "UPDATE unassigned_arrivals SET returned_at = ? WHERE arrival = ? AND " IS_OPEN;
#undef IS_OPEN

}  // namespace

void insert_arrival(WriteTx& tx, const ArrivalRow& row) {
  tx.db().run(kInsertArrival, row.id, row.connector, row.provider_payment_id, row.reference,
              row.amount, row.currency, row.payer.name, row.payer.account_number, row.payer.phone,
              tx.now());
}

std::optional<ArrivalRow> find_arrival(Connection& db, ArrivalId id) {
  auto row = first_row<ArrivalRow>(db, kArrivalById, kArrivalColumns, id);
  if (row) require_intact(db, "unassigned_arrivals", row->key, {{"id", id}});
  return row;
}

std::vector<ArrivalRow> find_arrivals(Connection& db, std::int64_t connector,
                                      std::string_view provider_payment_id) {
  auto rows = all_rows<ArrivalRow>(
      Query(db, kArrivalsByPayment.c_str(), connector, provider_payment_id), kArrivalColumns);
  for (const ArrivalRow& row : rows) {
    require_intact(db, "unassigned_arrivals", row.key,
                   {{"connector", connector}, {"provider_payment_id", provider_payment_id}});
  }
  return rows;
}

void assign_arrival(WriteTx& tx, std::int64_t arrival, std::int64_t payment) {
  tx.db().run(kAssignArrival, payment, arrival);
  COFFER_CHECK(tx.db().changes() == 1);
}

void return_arrival(WriteTx& tx, std::int64_t arrival) {
  tx.db().run(kReturnArrival, tx.now(), arrival);
  COFFER_CHECK(tx.db().changes() == 1);
}

RowPage<ArrivalRow> list_arrivals(Connection& db, bool all, const PageAt& page) {
  const std::int64_t before = page.key.value_or(std::numeric_limits<std::int64_t>::max());
  auto rows = all_rows<ArrivalRow>(
      Query(db, (all ? kNewestArrivals : kOpenArrivals).c_str(), before, page.limit + 1),
      kArrivalColumns);
  return page_of(std::move(rows), page, [](const ArrivalRow& row) { return row.key; });
}

std::int64_t count_open_arrivals(Connection& db, std::int64_t limit) {
  return first_integer(db, kCountOpenArrivals, limit).value_or(0);
}

}  // namespace coffer::store
