// Money that is given back after its payment has succeeded: returns of payouts, and reversals.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/payments/payment.h"
#include "domain/payments/refund.h"
#include "store/commits/write_tx.h"

namespace coffer::store {

/// A return has the members of the provider's report, a reversal those of its submission. The
/// reversal of an on-ramp waits while its payment is `refund_pending`.
struct RefundRow {
  std::int64_t key = 0;
  std::int64_t payment = 0;
  std::int64_t tenant = 0;
  RefundState state = RefundState::waiting;
  Amount amount;  // booked, in the sending asset, as is `fee`
  Amount fee;
  std::string reason;
  Timestamp at;
  std::optional<Timestamp> booked_at;
  std::optional<std::int64_t> journal;  // the entry set
  std::optional<std::int64_t> connector;
  std::optional<std::string> return_id;       // unique per connector
  std::optional<std::string> report;          // amount and currency, in one form
  std::optional<Amount> returned;             // empty: not in the currency of the payout
  bool with_fee = false;                      // the provider returned its fee too
  std::optional<std::string> transaction_id;  // unique per tenant, also among its payments
  std::optional<Amount> wanted;               // empty: all that was left
  // Of the reversal of an on-ramp:
  std::optional<RefundId> id;   // at the provider
  std::optional<Amount> asked;  // what the payer gets, in the sending asset
  std::optional<Amount> held;   // what the wallet gives, in the receiving asset
  std::optional<Timestamp> failed_at;
  std::optional<FailureCode> failure;

  Amount total() const { return amount + fee; }
};

// Functions that find a row throw ForeignChange (store/rows/guarded_rows.h) if another program
// changed it.

/// The rows of a payment, oldest first.
std::vector<RefundRow> refunds_of(Connection& db, std::int64_t payment);
std::optional<RefundRow> find_return(Connection& db, std::int64_t connector,
                                     std::string_view return_id);
std::optional<RefundRow> find_reversal(Connection& db, const Tenant& tenant,
                                       std::string_view transaction_id);
/// The reversal that waits for its provider.
std::optional<RefundRow> waiting_refund(Connection& db, std::int64_t payment);
/// The payment of the reversal with this ID.
std::optional<std::int64_t> payment_of_refund(Connection& db, RefundId id);
/// Writes the row with the present time, and sets its `key`. Stores booked_at of a booked row.
void insert_refund(WriteTx& tx, RefundRow& row);
/// Changes the state of a waiting or disputed row. For a booked one, also stores amount, fee and
/// entry set; for a failed one, time and reason.
void change_refund(WriteTx& tx, const RefundRow& row);
/// Closes the disputed rows of a payment.
void close_disputed_refunds(WriteTx& tx, std::int64_t payment);

}  // namespace coffer::store
