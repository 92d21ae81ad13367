// Payments of all tenants: lists, newest first, and a search by any identifier.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "store/lists/payment_walk.h"

namespace coffer::store {

KeyPage newest_payments(Connection& db, const PaymentsWanted& wanted, const PageAt& page);

/// The number of matching payments. With only time filters, it follows from the keys, and no row is
/// read. Otherwise, the count reads as many rows as a page of the list, so it is never smaller than
/// the number of payments on the page. `exact` is false if the count stopped at this limit
/// (kRowsMax).
struct PaymentCount {
  std::int64_t payments = 0;
  bool exact = true;
};
PaymentCount count_payments(Connection& db, const PaymentsWanted& wanted);

std::optional<std::int64_t> payment_key(Connection& db, PaymentId id);

enum class FoundAs {
  id,
  transaction_id,
  quote,
  event,
  wallet,
  beneficiary,
  request_id,
  reference,
  provider_reference,
  ledger_hash,
  metadata,
  reversal,
  refund
};
std::string_view name(FoundAs how);

struct FoundPayment {
  std::int64_t payment = 0;
  FoundAs how = FoundAs::id;
};
struct FoundPayments {
  std::vector<FoundPayment> found;
  std::optional<std::int64_t> next;  // `page.key` of the continued search
};
/// Finds a payment by any text that identifies it. Among all payments, through indexes: IDs (for a
/// wallet or beneficiary, its newest payments), transactionIds, account numbers and public keys,
/// metadata as `KEY=TEXT`, and request IDs made by coffer, which contain their time. If none of
/// these match, it reads a range of payments below `page.key`, newest first, for references,
/// provider references, ledger hashes and request IDs of callers, because indexes for these would
/// make every payment too expensive.
FoundPayments find_payments(Connection& db, std::string_view text, const PageAt& page);

}  // namespace coffer::store
