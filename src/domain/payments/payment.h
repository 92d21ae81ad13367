// Payments: types, requests, the state table, and the rules that need no storage.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "domain/ids.h"
#include "domain/ledger/money.h"
#include "domain/tables/terms.h"

namespace coffer {

enum class PaymentType {
  p2p_own,
  p2p_beneficiary,
  p2p_own_multi,
  swap_own,
  swap_beneficiary,
  offramp,
  onramp,
  onramp_reference,
};
template <>
struct Terms<PaymentType> {
  static constexpr auto rows = std::to_array<Term>({
      {"p2p_own", "Transfer between own wallets"},
      {"p2p_beneficiary", "Payment to a beneficiary"},
      {"p2p_own_multi", "Atomic transfers between own wallets"},
      {"swap_own", "Swap between own wallets"},
      {"swap_beneficiary", "Swap to a beneficiary"},
      {"offramp", "Off-ramp payment"},
      {"onramp", "On-ramp payment"},
      {"onramp_reference", "On-ramp payment on a reference"},
  });
};

/// How payments of a type differ from others.
struct PaymentTraits {
  bool has_legs = false;          // several, each with its own wallets, asset and amount
  bool is_to_address = false;     // goes to a CRYPTO destination of a beneficiary
  bool is_swap = false;           // arrives in another asset
  bool is_quoted = false;         // a quote prices the payment
  bool through_provider = false;  // a provider executes or initiates the payment
};
constexpr PaymentTraits traits_of(PaymentType type) {
  switch (type) {
    case PaymentType::p2p_own:
      return {};
    case PaymentType::p2p_beneficiary:
      return {.is_to_address = true};
    case PaymentType::p2p_own_multi:
      return {.has_legs = true};
    case PaymentType::swap_own:
      return {.is_swap = true};
    case PaymentType::swap_beneficiary:
      return {.is_to_address = true, .is_swap = true};
    case PaymentType::offramp:
    case PaymentType::onramp:
      return {.is_quoted = true, .through_provider = true};
    case PaymentType::onramp_reference:
      return {.through_provider = true};
  }
  return {};
}
constexpr bool has_legs(PaymentType type) { return traits_of(type).has_legs; }
constexpr bool is_to_address(PaymentType type) { return traits_of(type).is_to_address; }
constexpr bool is_swap(PaymentType type) { return traits_of(type).is_swap; }
constexpr bool is_quoted(PaymentType type) { return traits_of(type).is_quoted; }
constexpr bool is_through_provider(PaymentType type) { return traits_of(type).through_provider; }
constexpr bool is_payout(PaymentType type) { return type == PaymentType::offramp; }
constexpr bool is_collection(PaymentType type) {
  return is_through_provider(type) && !is_payout(type);
}

enum class PaymentStatus {
  initiated,
  processing,
  succeeded,
  failed,
  refund_pending,
  refunded,
  refund_failed,
  expired,
};
template <>
struct Terms<PaymentStatus> {
  static constexpr auto rows = std::to_array<Term>({
      {"initiated", "Accepted, funds held"},
      {"processing", "In settlement"},
      {"succeeded", "Settled"},
      {"failed", "Failed"},
      {"refund_pending", "Refund in progress"},
      {"refunded", "Refunded"},
      {"refund_failed", "Refund failed"},
      {"expired", "Expired unpaid"},
  });
};

struct Transition {
  PaymentStatus from;
  PaymentStatus to;
};
/// All permitted changes (docs/contract.md#transaction-records).
std::span<const Transition> payment_transitions();
bool may_change(PaymentStatus from, PaymentStatus to);
/// The part of the `sent` amount that counts towards the limits of a destination: nothing of failed
/// and expired payments, and not what was given back after success.
Amount counted_by_limits(PaymentStatus status, Amount sent, const std::optional<Amount>& refunded);
/// Whether the status is final, or only a refund can follow.
bool is_settled(PaymentStatus status);

/// Why a payment failed, as in `statusReason.code`.
enum class FailureCode {
  insufficient_funds,
  account_closed,
  account_not_found,
  name_mismatch,
  limit_exceeded,
  compliance_rejected,
  destination_not_found,
  trustline_missing,
  slippage_exceeded,
  no_market_path,
  insufficient_liquidity,
  provider_timeout,
  provider_error,
  provider_unavailable,
  expired,
  operator_failed,
  ledger_limit_exceeded,
  underpaid,
  wrong_currency,
  amount_precision,
};

struct FailureInfo {
  FailureCode code;
  std::string_view name;
  std::string_view label;
  std::string_view message;
  bool retryable;  // a new payment with the same content may succeed later
};
std::span<const FailureInfo> failure_table();
const FailureInfo& info(FailureCode code);
std::optional<FailureCode> parse_failure_code(std::string_view text);

/// Texts for the sender and the receiver.
struct References {
  std::optional<std::string> from_ref;  // ^[A-Za-z0-9-]{1,16}$
  std::optional<std::string> to_ref;
};
bool is_reference(std::string_view text);
/// ^[A-Za-z0-9._:-]{1,64}$ (docs/contract.md#payments).
bool is_transaction_id(std::string_view text);

/// One movement: the whole of a single payment, or a leg of a multi-transfer. A side outside the
/// caller's wallets, such as a beneficiary or a provider, has no wallet.
struct TransferLeg {
  std::optional<WalletId> source_wallet;
  std::optional<WalletId> destination_wallet;
  AssetCode sending_asset;
  Amount amount;
  References refs;
  std::optional<std::string> description;
};

/// The declarations of an off-ramp, in the vocabularies of domain/payments/compliance.h.
struct Compliance {
  std::string purpose_of_payment;
  std::string source_of_funds;
  std::string relationship;
};

/// The payer of an on-ramp.
struct Payer {
  std::string name;
  std::optional<std::string> account_number;
  std::optional<std::string> phone;
  bool operator==(const Payer&) const = default;
};

/// Values of `additionalFields` by name, as text: numbers in their source text, booleans as
/// true/false.
using AdditionalFields = std::map<std::string, std::string>;

/// The caller's own texts on a payment, by key (docs/contract.md#metadata).
using PaymentMetadata = std::map<std::string, std::string>;
constexpr std::size_t kMetadataKeysMax = 20;
constexpr const char* kMetadataCountRule = "must have at most 20 keys";
constexpr std::size_t kMetadataValueMax = 500;  // characters
/// Why a submission or a filter cannot have this text under this key; empty if it can.
std::string metadata_fault(std::string_view key, std::string_view text);
/// Of a text `KEY=TEXT`; empty for any other text.
PaymentMetadata metadata_of(std::string_view text);

/// A parsed submission of any type. The store keeps all of it, so that a replay is compared field
/// by field (docs/contract.md#payments).
struct PaymentRequest {
  PaymentType type = PaymentType::p2p_own;
  std::string transaction_id;
  /// Exactly one, unless the type has_legs(). The asset and amount of off-ramps and on-ramps come
  /// from the quote: empty in a submission, set in a record.
  std::vector<TransferLeg> legs;
  std::optional<BeneficiaryId> beneficiary;  // payments to a beneficiary
  std::optional<DestinationId> destination;  // of the beneficiary; empty: the only suitable one
  std::optional<QuoteId> quote;              // off-ramps and on-ramps
  std::optional<Compliance> compliance;      // off-ramps
  std::optional<Payer> payer;                // on-ramps
  AdditionalFields additional_fields;        // off-ramps and on-ramps
  std::optional<AssetCode> receiving_asset;  // swaps
  std::optional<Amount> min_receiving;       // swaps
  std::optional<std::string> memo;           // at most 28 bytes
  PaymentMetadata metadata;                  // at most kMetadataKeysMax keys
  bool notify_email = false;
  bool notify_whatsapp = false;

  const TransferLeg& only() const { return legs.front(); }
};

constexpr std::size_t kLegsMax = 100;
constexpr std::size_t kMemoBytesMax = 28;
constexpr std::size_t kDescriptionMax = 140;  // characters
/// Characters of every ID and reference that a provider chooses. All of them are accepted, kept,
/// shown and found with this one limit.
constexpr std::size_t kProviderReferenceMax = 128;

/// The JSON paths of the fields in which two submissions with the same transactionId differ. Empty
/// for a replay.
std::vector<std::string> differing_fields(const PaymentRequest& first,
                                          const PaymentRequest& second);

/// Rules across fields that need no storage: the same wallet on both sides, the same asset on both
/// sides of a swap, both notification flags. Reports all errors together, as `validation-failed`.
Result<void> check_request(const PaymentRequest& request);

}  // namespace coffer
