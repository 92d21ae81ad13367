// Payments: kinds, requests, the state table, and the rules that need no storage.
#pragma once

#include <array>
#include <cstdint>
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

std::string_view name(PaymentType type);
std::string_view name(PaymentStatus status);
std::optional<PaymentType> parse_payment_type(std::string_view text);
std::optional<PaymentStatus> parse_payment_status(std::string_view text);
std::span<const Term> payment_type_terms();
std::span<const Term> payment_status_terms();

struct Transition {
  PaymentStatus from;
  PaymentStatus to;
};
/// The one table of allowed changes (docs/contract.md#transaction-records).
std::span<const Transition> payment_transitions();
bool may_change(PaymentStatus from, PaymentStatus to);
/// What counts towards the limits of a destination: everything but what failed or expired.
bool counts_towards_limits(PaymentStatus status);
/// No way leads out of it any more, or only a refund does.
bool is_settled(PaymentStatus status);

/// Why a payment failed, as integrators see it in `statusReason.code`.
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

/// What the sender and the receiver see beside the amount.
struct References {
  std::optional<std::string> from_ref;  // ^[A-Za-z0-9-]{1,16}$
  std::optional<std::string> to_ref;
};
bool is_reference(std::string_view text);
/// ^[A-Za-z0-9._:-]{1,64}$ (docs/contract.md#payments).
bool is_transaction_id(std::string_view text);

/// One movement: the whole of a single payment, or a leg of a multi-transfer. Empty wallets are
/// sides outside the caller's own: a beneficiary's, a provider's.
struct TransferLeg {
  std::optional<WalletId> source_wallet;
  std::optional<WalletId> destination_wallet;
  AssetCode sending_asset;
  Amount amount;
  References refs;
  std::optional<std::string> description;
};

/// What a cash-out declares, in the vocabularies of domain/payments/compliance.h.
struct Compliance {
  std::string purpose_of_payment;
  std::string source_of_funds;
  std::string relationship;
};

/// Who pays a collection.
struct Payer {
  std::string name;
  std::optional<std::string> account_number;
  std::optional<std::string> phone;
  bool operator==(const Payer&) const = default;
};

/// Values of `additionalFields` by name, as text: numbers in their source text, booleans
/// true/false.
using AdditionalFields = std::map<std::string, std::string>;

/// A parsed submission of any kind. The store keeps all of it, so that a replay is compared field
/// by field (docs/contract.md#payments).
struct PaymentRequest {
  PaymentType type = PaymentType::p2p_own;
  std::string transaction_id;
  /// Exactly one unless p2p_own_multi. Asset and amount of cash-outs and collections follow from
  /// the quote: empty in a submission, set in a record.
  std::vector<TransferLeg> legs;
  std::optional<BeneficiaryId> beneficiary;  // payments to one
  std::optional<DestinationId> destination;  // of the beneficiary; empty: the only one that fits
  std::optional<QuoteId> quote;              // cash-outs and collections
  std::optional<Compliance> compliance;      // cash-outs
  std::optional<Payer> payer;                // collections
  AdditionalFields additional_fields;        // cash-outs and collections
  std::optional<AssetCode> receiving_asset;  // swaps
  std::optional<Amount> min_receiving;       // swaps
  std::optional<std::string> memo;           // at most 28 bytes
  bool notify_email = false;
  bool notify_whatsapp = false;

  const TransferLeg& only() const { return legs.front(); }
};

/// The payment is priced by a quote and executed by a provider.
bool is_quoted(PaymentType type);
/// The payment goes to a CRYPTO destination of a beneficiary.
bool is_to_address(PaymentType type);
bool is_swap(PaymentType type);

constexpr std::size_t kLegsMax = 100;
constexpr std::size_t kMemoBytesMax = 28;
constexpr std::size_t kDescriptionMax = 140;  // characters

/// Names of the fields in which two submissions under one transactionId differ, as JSON paths.
/// Empty: a true replay.
std::vector<std::string> differing_fields(const PaymentRequest& first,
                                          const PaymentRequest& second);

/// Shape rules across fields that need no storage: same wallet on both sides, same asset on a swap,
/// both notify flags. All at once, `validation-failed`.
Result<void> check_request(const PaymentRequest& request);

}  // namespace coffer
