#include "domain/providers/connector.h"

#include "base/text/ascii.h"
#include "base/text/join.h"

namespace coffer {
namespace {

void append_required(std::span<const Requirement> requirements, std::vector<std::string>& fields) {
  for (const Requirement& requirement : requirements) {
    if (requirement.required) fields.push_back("additionalFields." + requirement.name);
  }
}

std::vector<ExecutionStep> off_ramp_steps(std::span<const Requirement> requirements) {
  std::vector<ExecutionStep> steps{
      {"QUOTE",
       "Request a quote",
       "POST /v1/quotes prices the off-ramp payment and fixes the rate until the quote expires.",
       {"amount", "connectorId", "beneficiaryId"}},
      {"SUBMIT",
       "Submit the off-ramp payment",
       "POST /v1/payments/offramp holds the total of the quote in the source wallet.",
       {"transactionId", "quoteId", "sourceWalletId", "beneficiaryId", "purposeOfPayment",
        "sourceOfFunds", "relationship"}},
      {"PAYOUT",
       "The provider pays out",
       "Events and GET /v1/transactions/{transactionId} report the result.",
       {}}};
  append_required(requirements, steps[1].required_fields);
  return steps;
}

std::vector<ExecutionStep> on_ramp_steps(std::span<const Requirement> requirements) {
  std::vector<ExecutionStep> steps{
      {"QUOTE",
       "Request a quote",
       "POST /v1/quotes?type=onramp prices the on-ramp payment and fixes the rate until the quote "
       "expires.",
       {"amount", "connectorId"}},
      {"SUBMIT",
       "Submit the on-ramp payment",
       "POST /v1/payments/onramp puts the payment instructions in the transaction record.",
       {"transactionId", "quoteId", "destinationWalletId", "payer.name"}},
      {"PAY", "The payer pays", "The payer follows the instructions before they expire.", {}},
      {"CREDIT",
       "The wallet is credited",
       "The destination wallet is credited the receive amount.",
       {}}};
  append_required(requirements, steps[1].required_fields);
  return steps;
}

std::vector<ExecutionStep> bespoke_steps(bool issues_references) {
  std::vector<ExecutionStep> steps;
  if (issues_references) {
    steps.push_back({"REFERENCE",
                     "Register a reference",
                     "POST /v1/onramp/references registers a reference for a customer and the "
                     "wallet to credit.",
                     {"connectorId", "settlementAccount", "customerId"}});
  }
  steps.push_back({"PAY", "The customer pays", "The customer pays the provider at any time.", {}});
  steps.push_back({"CREDIT",
                   "The wallet is credited",
                   "Each payment on the reference is credited and becomes a transaction.",
                   {}});
  return steps;
}

}  // namespace

std::optional<PayMethod> parse_pay_method(std::string_view text) {
  if (ascii::same_word(text, "MOBILE_MONEY")) return PayMethod::momo;
  return parse_term_in_any_case<PayMethod>(text);
}

std::string drivers_that_call_out() { return joined_terms<DriverKind>(" or ", calls_out); }

std::string joined_types(TransactionTypes types) {
  return joined_terms<TransactionType>(",",
                                       [&](TransactionType type) { return contains(types, type); });
}

std::string joined_choices(const std::vector<Requirement::Choice>& choices) {
  return join(choices, ",", [](const auto& one) { return one.code + "=" + one.label; });
}

TransactionType transaction_type(bool sender_is_business, bool receiver_is_business) {
  if (sender_is_business) return receiver_is_business ? TransactionType::b2b : TransactionType::b2c;
  return receiver_is_business ? TransactionType::c2b : TransactionType::c2c;
}

int ConnectorTerms::send_decimals() const {
  return direction == Direction::off_ramp ? asset.decimals : currency_decimals;
}
int ConnectorTerms::receive_decimals() const {
  return direction == Direction::off_ramp ? currency_decimals : asset.decimals;
}
std::string_view ConnectorTerms::send_code() const {
  return direction == Direction::off_ramp ? std::string_view(asset.code.value()) : currency;
}
std::string_view ConnectorTerms::receive_code() const {
  return direction == Direction::off_ramp ? std::string_view(currency) : asset.code.value();
}

std::vector<ExecutionStep> execution_steps(const ConnectorTerms& connector,
                                           std::span<const Requirement> requirements,
                                           std::optional<TransactionType> type) {
  if (type && !contains(connector.types, *type)) return {};
  if (connector.flow == ConnectorFlow::bespoke) return bespoke_steps(connector.issues_references);
  const std::vector<Requirement> asked = applicable(requirements, type);
  return connector.direction == Direction::off_ramp ? off_ramp_steps(asked) : on_ramp_steps(asked);
}

}  // namespace coffer
