// Transaction records and wallets as JSON, for both responses and events.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/identity/tenant.h"
#include "flows/json_object.h"
#include "store/ledger/wallets.h"
#include "store/payments/payments.h"

namespace coffer::flows {

struct Reached {
  PaymentStatus status = PaymentStatus::initiated;
  Timestamp at;
  std::optional<FailureCode> why =
      std::nullopt;  // for `failed`, and for a refund that coffer refused
};
/// The statuses that a record has reached, derived from its stored times. Element n is version n.
std::vector<Reached> reached_statuses(const store::PaymentRecord& record);
/// Detail of `processing`, or whether the collected amount is too low or too high; otherwise
/// nullptr.
const char* substatus(const store::PaymentRecord& record);
/// The amount that the payer of a collection paid beyond `sending_amount`; nullopt if none.
std::optional<Amount> excess_amount(const store::PaymentRecord& record);

/// The transaction record (docs/contract.md#transaction-records).
Json record_json(const store::PaymentRecord& record, Environment environment);

/// The record at an earlier version, without the statuses, times and results of later versions.
/// Returns the record unchanged if it has not reached `version` yet.
store::PaymentRecord as_of(store::PaymentRecord record, int version);

/// The wallet without balances, compliance details and times.
Json wallet_identity_json(const store::WalletRow& wallet, const std::string& network_name);

}  // namespace coffer::flows
