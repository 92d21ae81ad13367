#include "domain/payments/payment.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/unicode.h"

namespace coffer {
namespace {

using enum PaymentStatus;
constexpr std::array<Transition, 19> kTransitions{{
    {initiated, processing},
    {initiated, failed},
    {initiated, expired},
    {processing, succeeded},
    {processing, failed},
    {processing, expired},
    {failed, refund_pending},
    {refund_pending, refunded},
    {refund_pending, refund_failed},
    {refund_failed, refunded},
    // What is given back after success, at once or in parts.
    {succeeded, refund_pending},
    {refunded, refunded},
    // An on-ramp that is reversed again.
    {refunded, refund_pending},
    {refund_failed, refund_pending},
    // Corrections by an operator, after the provider has contradicted a final status.
    {failed, succeeded},
    {expired, succeeded},
    {refunded, succeeded},
    {refund_failed, succeeded},
    {succeeded, failed},
}};

constexpr std::array<FailureInfo, 20> kFailures{{
    {FailureCode::insufficient_funds, "insufficient_funds", "Insufficient funds",
     "The paying account did not cover the amount.", true},
    {FailureCode::account_closed, "account_closed", "Account closed",
     "The receiving account is closed.", false},
    {FailureCode::account_not_found, "account_not_found", "Account not found",
     "The receiving account does not exist.", false},
    {FailureCode::name_mismatch, "name_mismatch", "Name mismatch",
     "The account name does not match the account number.", false},
    {FailureCode::limit_exceeded, "limit_exceeded", "Limit exceeded",
     "The amount is over a limit of the receiving side.", true},
    {FailureCode::compliance_rejected, "compliance_rejected", "Rejected by compliance",
     "The payment was rejected by a compliance check.", false},
    {FailureCode::destination_not_found, "destination_not_found", "Destination not found",
     "The address is not an account on this ledger.", false},
    {FailureCode::trustline_missing, "trustline_missing", "Trustline missing",
     "The receiving account has no trustline for the asset.", true},
    {FailureCode::slippage_exceeded, "slippage_exceeded", "Slippage exceeded",
     "The market rate gives less than minReceivingAmount.", true},
    {FailureCode::no_market_path, "no_market_path", "No market path",
     "The market no longer has rates from the sending to the receiving asset.", true},
    {FailureCode::insufficient_liquidity, "insufficient_liquidity", "Insufficient liquidity",
     "The market does not hold enough of the receiving asset.", true},
    {FailureCode::provider_timeout, "provider_timeout", "Provider timeout",
     "The provider did not respond in time.", true},
    {FailureCode::provider_error, "provider_error", "Provider error",
     "The provider rejected the payment or failed.", true},
    {FailureCode::provider_unavailable, "provider_unavailable", "Provider unavailable",
     "The provider could not be reached.", true},
    {FailureCode::expired, "expired", "Expired", "The payer did not pay in time.", true},
    {FailureCode::operator_failed, "operator_failed", "Failed by the operator",
     "The operator ended the payment.", true},
    {FailureCode::ledger_limit_exceeded, "ledger_limit_exceeded", "Ledger limit exceeded",
     "The ledger cannot hold this additional amount of the asset.", true},
    {FailureCode::underpaid, "underpaid", "Underpaid", "The paid amount does not cover the fee.",
     true},
    {FailureCode::wrong_currency, "wrong_currency", "Wrong currency",
     "The payer paid in another currency than that of the connector.", true},
    {FailureCode::amount_precision, "amount_precision", "Amount precision",
     "The paid amount has more decimal places than the currency.", true},
}};

bool matches(std::string_view text, std::size_t length_max, std::string_view punctuation) {
  if (text.empty() || text.size() > length_max) return false;
  return std::ranges::all_of(text, [&](char c) {
    return ascii::is_letter_or_digit(c) || punctuation.find(c) != std::string_view::npos;
  });
}

/// Adds `prefix + field` for each member in which two legs differ. In a quoted payment, `a` has the
/// values of the quote, and `b` only those that the caller repeats.
void compare_legs(const TransferLeg& a, const TransferLeg& b, bool quoted,
                  const std::string& prefix, std::vector<std::string>& out) {
  const auto note = [&](bool same, const char* field) {
    if (!same) out.push_back(prefix + field);
  };
  note(a.source_wallet == b.source_wallet, "sourceWalletId");
  note(a.destination_wallet == b.destination_wallet, "destinationWalletId");
  const bool left_out = quoted && b.sending_asset == AssetCode();
  note(left_out || a.sending_asset == b.sending_asset, "sendingAssetCode");
  note(quoted || a.amount == b.amount, "amount");
  note(a.refs.from_ref == b.refs.from_ref, "fromRef");
  note(a.refs.to_ref == b.refs.to_ref, "toRef");
  note(a.description == b.description, "description");
}

std::string leg_prefix(const PaymentRequest& request, std::size_t index) {
  return has_legs(request.type) ? "transfers[" + std::to_string(index) + "]." : std::string();
}

/// Adds `name.KEY` for each key whose texts differ, or that only one of the maps has.
void compare_texts(const std::map<std::string, std::string>& a,
                   const std::map<std::string, std::string>& b, const std::string& name,
                   std::vector<std::string>& out) {
  for (const auto& [key, value] : a) {
    const auto other = b.find(key);
    if (other == b.end() || other->second != value) out.push_back(name + "." + key);
  }
  for (const auto& [key, value] : b) {
    if (!a.contains(key)) out.push_back(name + "." + key);
  }
}

/// Adds the names of the members in which two submissions differ.
void compare_details(const PaymentRequest& a, const PaymentRequest& b,
                     std::vector<std::string>& out) {
  const auto note = [&](bool same, const char* field) {
    if (!same) out.emplace_back(field);
  };
  const Compliance none;
  const Compliance& first = a.compliance ? *a.compliance : none;
  const Compliance& second = b.compliance ? *b.compliance : none;
  note(first.purpose_of_payment == second.purpose_of_payment, "purposeOfPayment");
  note(first.source_of_funds == second.source_of_funds, "sourceOfFunds");
  note(first.relationship == second.relationship, "relationship");
  note(a.payer == b.payer, "payer");
  compare_texts(a.additional_fields, b.additional_fields, "additionalFields", out);
  compare_texts(a.metadata, b.metadata, "metadata", out);
}

}  // namespace

std::span<const Transition> payment_transitions() { return kTransitions; }

bool may_change(PaymentStatus from, PaymentStatus to) {
  return std::ranges::any_of(kTransitions, [&](const Transition& transition) {
    return transition.from == from && transition.to == to;
  });
}

Amount counted_by_limits(PaymentStatus status, Amount sent, const std::optional<Amount>& refunded) {
  if (refunded) return *refunded < sent ? sent - *refunded : Amount();
  const bool counts = status == initiated || status == processing || status == succeeded;
  return counts ? sent : Amount();
}

bool is_settled(PaymentStatus status) {
  return status != PaymentStatus::initiated && status != PaymentStatus::processing;
}

std::span<const FailureInfo> failure_table() { return kFailures; }

const FailureInfo& info(FailureCode code) {
  const FailureInfo& entry = kFailures[static_cast<std::size_t>(code)];
  COFFER_CHECK(entry.code == code);
  return entry;
}

std::optional<FailureCode> parse_failure_code(std::string_view text) {
  for (const FailureInfo& entry : kFailures) {
    if (entry.name == text) return entry.code;
  }
  return std::nullopt;
}

bool is_reference(std::string_view text) { return matches(text, 16, "-"); }
bool is_transaction_id(std::string_view text) { return matches(text, 64, "._:-"); }
std::string metadata_fault(std::string_view key, std::string_view text) {
  if (matches(key, 40, "_.-")) return line_fault(text, kMetadataValueMax);
  return "is not a permitted key: keys have 1 to 40 characters, each a letter, a digit or one of"
         " . _ -";
}

PaymentMetadata metadata_of(std::string_view text) {
  const auto end = std::min(text.find('='), text.size());
  const std::string_view key = text.substr(0, end);
  const std::string_view value = text.substr(std::min(end + 1, text.size()));
  if (!metadata_fault(key, value).empty()) return {};
  return {{std::string(key), std::string(value)}};
}

std::vector<std::string> differing_fields(const PaymentRequest& first,
                                          const PaymentRequest& second) {
  if (first.type != second.type) return {"transactionId"};
  std::vector<std::string> out;
  if (first.legs.size() != second.legs.size()) {
    out.emplace_back("transfers");
  } else {
    for (std::size_t i = 0; i < first.legs.size(); ++i) {
      compare_legs(first.legs[i], second.legs[i], is_quoted(first.type), leg_prefix(first, i), out);
    }
  }
  const auto note = [&](bool same, const char* field) {
    if (!same) out.emplace_back(field);
  };
  note(first.beneficiary == second.beneficiary, "beneficiaryId");
  // An absent destination means the only suitable one, which the first submission determined.
  note(!second.destination || first.destination == second.destination, "destinationId");
  note(first.quote == second.quote, "quoteId");
  note(is_quoted(first.type) || first.receiving_asset == second.receiving_asset,
       "receivingAssetCode");
  compare_details(first, second, out);
  note(first.min_receiving == second.min_receiving, "minReceivingAmount");
  note(first.memo == second.memo, "memo");
  note(first.notify_email == second.notify_email, "notifyEmail");
  note(first.notify_whatsapp == second.notify_whatsapp, "notifyWhatsApp");
  return out;
}

Result<void> check_request(const PaymentRequest& request) {
  Problem problem(Slug::validation_failed, "The combination of fields is not valid.");
  const bool swap = is_swap(request.type);
  for (std::size_t i = 0; i < request.legs.size(); ++i) {
    const TransferLeg& leg = request.legs[i];
    if (!swap && leg.source_wallet && leg.source_wallet == leg.destination_wallet) {
      problem.fields.push_back(
          {leg_prefix(request, i) + "destinationWalletId", "must differ from sourceWalletId"});
    }
  }
  if (swap && request.receiving_asset == request.only().sending_asset) {
    problem.fields.push_back({"receivingAssetCode", "must differ from sendingAssetCode"});
  }
  if (request.notify_email && request.notify_whatsapp) {
    problem.fields.push_back({"notifyEmail", "must not be sent together with notifyWhatsApp"});
    problem.fields.push_back({"notifyWhatsApp", "must not be sent together with notifyEmail"});
  }
  if (!problem.fields.empty()) return unexpected(std::move(problem));
  return {};
}

}  // namespace coffer
