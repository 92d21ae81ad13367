// What settlement needs of a payment, in row keys.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/operations/message.h"
#include "domain/payments/payment.h"
#include "store/payments/payment_seal.h"

namespace coffer::store {

/// The row keys of a new payment, resolved by the flow.
struct PaymentKeys {
  struct Leg {
    std::optional<std::int64_t> source_wallet;
    std::optional<std::int64_t> destination_wallet;
    std::optional<std::int64_t> asset;  // empty: a currency outside the ledger
    bool operator==(const Leg&) const = default;
  };
  std::vector<Leg> legs;
  std::optional<std::int64_t> receiving_asset;
  std::optional<std::int64_t> beneficiary;
  std::optional<std::int64_t> destination;
  std::optional<std::int64_t> connector;
  std::optional<std::int64_t> quote;
  bool operator==(const PaymentKeys&) const = default;
};

/// What settlement reads, in row keys.
struct SettlementView {
  std::int64_t key = 0;
  std::int64_t tenant = 0;
  Environment environment = Environment::sandbox;
  PaymentType type = PaymentType::p2p_own;
  PaymentStatus status = PaymentStatus::initiated;
  int version = 1;
  /// As in the file; `status` and `version` may be newer (pass_processing).
  SealedPayment sealed;
  std::optional<Timestamp> settle_at;  // empty: not a payment that the ledger settles next
  std::optional<std::int64_t> receiving_asset;
  std::optional<Amount> min_receiving;
  std::optional<Amount> receiving_amount;
  PaymentKeys keys;
  std::vector<Amount> amounts;           // per leg
  std::optional<MessageChannel> notify;  // empty: no notification
  bool operator==(const SettlementView&) const = default;
};

/// A payment that the ledger settles at `due_at`. Written with the payment and removed by the next
/// change of its status, so that settlement resumes after a crash.
struct SettlementJob {
  Timestamp due_at;
  std::int64_t payment = 0;
};

}  // namespace coffer::store
