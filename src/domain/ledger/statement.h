// A statement line: one balance movement, for the owner of the wallet
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
  std::int64_t entry = 0;  // position in the ledger; internal, ascending along the statement
  std::string row_id;      // opaque and stable: identical in every export of the same row
  Timestamp at;
  std::optional<std::string> description;   // the payment's description
  std::optional<std::string> reference;     // of this wallet's side
  std::optional<std::string> counterparty;  // name of the other party
  Amount amount;                            // negative: debited
  Amount running_balance;
  std::optional<PaymentId> payment;
  std::optional<std::string> metadata;  // of the payment, as a JSON object
};

}  // namespace coffer
