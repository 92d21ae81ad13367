// Transaction records and wallets as JSON: the one place, for answers and for events alike.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "domain/identity/tenant.h"
#include "store/ledger/wallets.h"
#include "store/payments/payments.h"

namespace coffer::flows {

using Json = nlohmann::ordered_json;

struct Reached {
  PaymentStatus status = PaymentStatus::initiated;
  Timestamp at;
  std::optional<FailureCode> why =
      std::nullopt;  // of `failed`, and of a refund that coffer refused
};
/// The statuses a record went through, from the times it keeps of each. The n-th is version n.
std::vector<Reached> reached_statuses(const store::PaymentRecord& record);
/// What happens within `processing`, or how the collected amount differs from the one asked for;
/// nullptr where there is nothing to say.
const char* substatus(const store::PaymentRecord& record);
/// What the payer of a collection paid beyond `sending_amount`; nullopt where that is nothing.
std::optional<Amount> excess_amount(const store::PaymentRecord& record);

/// The transaction record (docs/contract.md#transaction-records).
Json record_json(const store::PaymentRecord& record, Environment environment);

/// The record as it was when it had this version: statuses, times and results of later ones are
/// left out. A version the record does not have yet is the record as it is.
store::PaymentRecord as_of(store::PaymentRecord record, int version);

/// What a wallet is, without balances, compliance details and times.
Json wallet_identity_json(const store::WalletRow& wallet, const std::string& network_name);

}  // namespace coffer::flows
