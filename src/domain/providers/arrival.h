// The price of a customer payment that arrives on a reference (docs/contract.md#references).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "domain/payments/payment.h"
#include "domain/providers/quote.h"

namespace coffer {

struct StoredAmount {
  Amount amount;
  bool cut = false;  // places beyond those that the ledger stores were cut off
};
/// A reported number as the ledger stores it; nullopt if it cannot, because the number is too
/// large, or has no digit in the places that are stored.
std::optional<StoredAmount> stored_amount(const std::string& text);

/// The price, or why the payment cannot be credited: then `price` has the amount and, if known, the
/// fee.
struct ArrivalPrice {
  Price price;
  std::optional<FailureCode> failure;
};
ArrivalPrice price_arrival(const ConnectorTerms& connector, const StoredAmount& stored,
                           std::string_view currency);

}  // namespace coffer
