// The records that GET /v1/transactions returns, and their order
// (docs/contract.md#transaction-records).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/payments/payments.h"
#include "store/rows/page.h"

namespace coffer::store {

enum class PaymentSort { created_at, updated_at };

struct PaymentFilter {
  std::optional<PaymentStatus> status;
  std::optional<PaymentType> type;
  std::optional<WalletId> wallet;
  std::optional<AssetCode> asset;
  std::optional<BeneficiaryId> beneficiary;
  std::optional<ConnectorId> connector;
  std::optional<std::string> transaction_id;
  PaymentMetadata metadata;
  std::optional<std::string> reference;   // equals fromRef or toRef, including those of legs
  std::optional<Timestamp> created_from;  // inclusive
  std::optional<Timestamp> created_to;    // exclusive
  std::optional<Timestamp> updated_from;  // inclusive
  PaymentSort sort = PaymentSort::created_at;
};

struct PaymentPage {
  std::vector<PaymentRecord> records;
  std::vector<std::int64_t> positions;  // cursor position of each record under the sort
  std::optional<std::int64_t> next;     // as in RowPage
};

/// Newest first; at most `page.limit` records beyond `page.key`. Apart from the records, it reads
/// at most kRowsMax rows for any filter, so a page may be short or empty before the end of the
/// list.
PaymentPage list_payments(Connection& db, const Tenant& tenant, const PaymentFilter& filter,
                          const PageAt& page);

}  // namespace coffer::store
