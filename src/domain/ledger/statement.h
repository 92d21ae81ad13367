// A statement line: one balance movement as the owner of the wallet reads it
// (docs/contract.md#statements).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "domain/ids.h"
#include "domain/ledger/money.h"

namespace coffer {

struct StatementLine {
  std::int64_t entry = 0;  // position in the ledger; internal, rises along the statement
  std::string row_id;      // opaque and stable: the same on every export of the same row
  Timestamp at;
  std::optional<std::string> description;   // the payment's title
  std::optional<std::string> reference;     // the viewing wallet's own
  std::optional<std::string> counterparty;  // name of the other side
  Amount amount;                            // negative: debited
  Amount running_balance;
  std::optional<PaymentId> payment;
};

}  // namespace coffer
