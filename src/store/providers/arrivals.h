// Customer payments that were reported with a reference that no tenant has, or with an amount that
// the ledger cannot hold (docs/operating.md#open-items).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/ids.h"
#include "domain/payments/payment.h"
#include "store/commits/write_tx.h"
#include "store/rows/page.h"

namespace coffer::store {

/// Texts as the provider reported them.
struct ArrivalRow {
  std::int64_t key = 0;
  ArrivalId id;
  std::int64_t connector = 0;
  ConnectorId connector_id;
  std::string provider_payment_id;
  std::string reference;
  std::string amount;
  std::string currency;
  Payer payer;
  Timestamp arrived_at;
  std::optional<Timestamp> returned_at;
  std::optional<PaymentId> payment_id;  // that it became once it was assigned

  bool is_open() const { return !returned_at && !payment_id; }
};

/// Sets `key` and `arrived_at` of the new row, not of `row`.
void insert_arrival(WriteTx& tx, const ArrivalRow& row);
std::optional<ArrivalRow> find_arrival(Connection& db, ArrivalId id);
/// The different contents with which the provider reported this payment, oldest first.
std::vector<ArrivalRow> find_arrivals(Connection& db, std::int64_t connector,
                                      std::string_view provider_payment_id);
void assign_arrival(WriteTx& tx, std::int64_t arrival, std::int64_t payment);
void return_arrival(WriteTx& tx, std::int64_t arrival);
/// Newest first; without `all`, only those that are neither assigned nor returned.
RowPage<ArrivalRow> list_arrivals(Connection& db, bool all, const PageAt& page);
/// Those that are neither assigned nor returned, counted up to `limit`.
std::int64_t count_open_arrivals(Connection& db, std::int64_t limit);

}  // namespace coffer::store
