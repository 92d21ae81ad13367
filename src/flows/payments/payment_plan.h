// The acceptance rules that need storage. They resolve public IDs to rows and report all errors
// together. They run inside the command that accepts the payment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/validation_errors.h"
#include "domain/identity/tenant.h"
#include "domain/payments/payment.h"
#include "flows/context.h"
#include "store/ledger/journal.h"
#include "store/ledger/wallets.h"
#include "store/parties/beneficiaries.h"
#include "store/payments/payments.h"
#include "store/providers/connectors.h"

namespace coffer::flows {

/// The result of the check before the queue, which matches `additionalFields` against the patterns
/// of the quote's connector.
struct CheckedFields {
  std::int64_t connector = 0;  // row key; 0: nothing was checked
  std::int64_t version = 0;    // of the connector's requirements
  ValidationErrors errors;
  bool outdated = false;  // set by the plan: the requirements have changed since the check
};
/// For payments against a quote. Empty for other payments and for an unknown quote.
CheckedFields check_fields(store::Connection& db, const Tenant& tenant,
                           const PaymentRequest& request);

/// A request in which every public ID is resolved to a row.
struct PaymentPlan {
  PaymentRequest request;  // as it will be stored, with the values that follow from the quote
  store::PaymentKeys keys;
  std::vector<Posting> movements;  // amounts to hold, in the order in which they will be debited
  std::optional<Amount> total;
  std::optional<store::ProviderTerms> provider;
  // of the provider's job; empty: the ledger alone settles the payment
  std::optional<std::int64_t> lane;
};

/// `not-found`, `wallet-not-verified`, `validation-failed`, `trustline-missing`,
/// `amount-precision`, `amount-out-of-range`, `requirement-missing`, `quote-expired`,
/// `quote-already-used`, `conflict`, `insufficient-funds`; ValidationErrors joins several into one
/// Problem. If `checked` is outdated: `conflict`, and the caller checks again.
Result<PaymentPlan> plan_payment(const Context& context, store::WriteTx& tx, const Caller& caller,
                                 const PaymentRequest& request, CheckedFields& checked);

/// Checks that all payment types share. Collects errors under the caller's field names.
class PlanChecks {
 public:
  PlanChecks(const Context& context, store::WriteTx& tx, const Caller& caller,
             CheckedFields& checked)
      : context_(context), tx_(tx), caller_(caller), checked_(checked) {}

  std::optional<store::WalletBrief> wallet(WalletId id, const std::string& field);
  /// nullptr if it is not registered. Valid until the end of the command.
  const Asset* asset(const AssetCode& code, const std::string& field);
  std::optional<AccountKey> trustline(const std::optional<store::WalletBrief>& wallet,
                                      const Asset* asset, const std::string& field);
  void precision(Amount amount, const Asset* asset, const std::string& field);
  std::optional<store::BeneficiaryRow> beneficiary(BeneficiaryId id);
  /// The requested destination, or the only one of `fits`; otherwise an error on `destinationId`.
  template <class Fits>
  std::optional<store::DestinationRow> destination(const store::BeneficiaryRow& beneficiary,
                                                   const std::optional<DestinationId>& id,
                                                   const std::string& wanted, const Fits& fits);
  /// Checks that the market converts this amount into the receiving asset.
  void market_path(const Asset& sending, const Asset& receiving, Amount amount);
  /// Adds the errors of the check before the queue, unless the connector has changed since.
  void additional_fields(const store::ConnectorRow& connector);
  void notification(const PaymentRequest& request, bool has_email, bool has_phone);
  /// `insufficient-funds` with the field of the first movement that is not covered.
  Result<void> funds(const std::vector<Posting>& movements, const std::vector<std::string>& fields);

  ValidationErrors& errors() { return errors_; }
  store::Connection& db() { return tx_.db(); }
  store::WriteTx& tx() { return tx_; }
  const Caller& caller() const { return caller_; }
  const Context& context() const { return context_; }

 private:
  std::optional<store::DestinationRow> named_destination(const store::BeneficiaryRow& beneficiary,
                                                         DestinationId id);
  const Context& context_;
  store::WriteTx& tx_;
  const Caller& caller_;
  CheckedFields& checked_;
  ValidationErrors errors_;
};

template <class Fits>
std::optional<store::DestinationRow> PlanChecks::destination(
    const store::BeneficiaryRow& beneficiary, const std::optional<DestinationId>& id,
    const std::string& wanted, const Fits& fits) {
  if (id) {
    auto row = named_destination(beneficiary, *id);
    if (row && !fits(row->detail)) {
      errors_.add(Slug::validation_failed, "destinationId", "is not " + wanted);
      return std::nullopt;
    }
    return row;
  }
  std::optional<store::DestinationRow> only;
  for (store::DestinationRow& row : store::destinations_of(db(), beneficiary.key)) {
    if (!fits(row.detail)) continue;
    if (only) {
      errors_.add(Slug::validation_failed, "destinationId",
                  "is required: more than one of the beneficiary's destinations is " + wanted);
      return std::nullopt;
    }
    only = std::move(row);
  }
  if (!only) {
    errors_.add(Slug::validation_failed, "destinationId",
                "cannot be chosen: the beneficiary has no destination that is " + wanted);
  }
  return only;
}

// One function per payment type, each in a separate source file.
Result<PaymentPlan> plan_own(PlanChecks& checks, const PaymentRequest& request);
Result<PaymentPlan> plan_to_address(PlanChecks& checks, const PaymentRequest& request);
Result<PaymentPlan> plan_offramp(PlanChecks& checks, const PaymentRequest& request);
Result<PaymentPlan> plan_collection(PlanChecks& checks, const PaymentRequest& request);

}  // namespace coffer::flows
