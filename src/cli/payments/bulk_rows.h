// The rows of a bulk payment file (docs/operating.md#bulk-payments): CSV whose columns are the
// fields of the payment routes of the API.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "domain/ids.h"
#include "domain/payments/payment.h"

namespace coffer::cli {

struct BulkRow {
  std::size_t line = 1;
  PaymentRequest request;  // of an off-ramp: without its quote
  // For an off-ramp, which coffer quotes:
  std::optional<ConnectorId> connector;
  Amount amount;
};

/// `malformed-request` lists every invalid cell, as `line 3: amount`, every repeated transactionId,
/// and every column that is not a field of any payment.
Result<std::vector<BulkRow>> read_bulk_rows(std::string_view csv);

}  // namespace coffer::cli
