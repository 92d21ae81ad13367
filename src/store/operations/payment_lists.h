// Payments of all tenants: listed, and found by whatever somebody has of one.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "store/operations/newest.h"
#include "store/payments/payment_walk.h"

namespace coffer::store {

KeyPage newest_payments(Connection& db, const PaymentsWanted& wanted, const NewestAt& at);

/// How many there are; `exact` is false if the count stopped after reading kRowsMax rows.
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
  ledger_hash
};
std::string_view name(FoundAs how);

struct FoundPayment {
  std::int64_t payment = 0;
  FoundAs how = FoundAs::id;
};
struct FoundPayments {
  std::vector<FoundPayment> found;
  std::optional<std::int64_t> next;  // `at.before` of the search that goes on
};
/// What has an index is found among all payments: ids (of a wallet or beneficiary: its newest
/// payments), transactionIds, account numbers and public keys, and request ids that coffer made,
/// for they hold their time. When none of it fits, one piece of the payments below `at.before`,
/// newest first, is read for references, provider references, ledger hashes, and request ids of the
/// callers' own making: an index of any of these would cost every payment more than it has room
/// for.
FoundPayments find_payments(Connection& db, std::string_view text, const NewestAt& at);

}  // namespace coffer::store
