// The rules of acceptance that need storage: names become rows, and everything that is wrong is
// said at once. Runs inside the acceptance's command.
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

/// What is judged before the queue: `additionalFields` by the patterns of the quote's connector.
struct JudgedFields {
  std::int64_t connector = 0;  // row key; 0: nothing was judged
  std::int64_t version = 0;    // of the connector's requirements
  ValidationErrors errors;
  bool outdated = false;  // set by the plan: its requirements have changed since
};
/// For payments against a quote; empty for others and for an unknown quote.
JudgedFields judge_fields(store::Connection& db, const Tenant& tenant,
                          const PaymentRequest& request);

/// A request with every name in it resolved to rows.
struct PaymentPlan {
  PaymentRequest request;  // as it is stored: what a quote says is filled in
  store::PaymentKeys keys;
  std::vector<Posting> movements;  // what has to be held, in the order it will be debited
  std::optional<Amount> total;
  std::optional<store::ProviderTerms> provider;
  std::optional<std::int64_t> lane;  // of the provider's job; empty: settled by the ledger alone
};

/// `not-found`, `wallet-not-verified`, `validation-failed`, `trustline-missing`,
/// `amount-precision`, `amount-out-of-range`, `requirement-missing`, `quote-expired`,
/// `quote-already-used`, `conflict`, `insufficient-funds`; several at once as ValidationErrors
/// joins them. When `judged` is outdated: `conflict`, and the caller judges again.
Result<PaymentPlan> plan_payment(const Context& context, store::WriteTx& tx, const Caller& caller,
                                 const PaymentRequest& request, JudgedFields& judged);

/// The checks that the kinds share; collects faults under the names the caller gives.
class PlanChecks {
 public:
  PlanChecks(const Context& context, store::WriteTx& tx, const Caller& caller, JudgedFields& judged)
      : context_(context), tx_(tx), caller_(caller), judged_(judged) {}

  std::optional<store::WalletBrief> wallet(WalletId id, const std::string& field);
  std::optional<Asset> asset(const AssetCode& code, const std::string& field);
  std::optional<AccountKey> trustline(const std::optional<store::WalletBrief>& wallet,
                                      const std::optional<Asset>& asset, const std::string& field);
  void precision(Amount amount, const std::optional<Asset>& asset, const std::string& field);
  std::optional<store::BeneficiaryRow> beneficiary(BeneficiaryId id);
  /// The named destination, or the only one of `fits`; faults on destinationId otherwise.
  template <class Fits>
  std::optional<store::DestinationRow> destination(const store::BeneficiaryRow& beneficiary,
                                                   const std::optional<DestinationId>& id,
                                                   const std::string& wanted, const Fits& fits);
  /// The market has a way to the receiving asset for this amount.
  void market_path(const Asset& sending, const Asset& receiving, Amount amount);
  /// Takes over what was judged before the queue, unless the connector has changed since.
  void additional_fields(const store::ConnectorRow& connector);
  void notification(const PaymentRequest& request, bool has_email, bool has_phone);
  /// `insufficient-funds` naming the field of the first movement that is not covered.
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
  JudgedFields& judged_;
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

// One per kind of payment; each in a part of its own.
Result<PaymentPlan> plan_own(PlanChecks& checks, const PaymentRequest& request);
Result<PaymentPlan> plan_to_address(PlanChecks& checks, const PaymentRequest& request);
Result<PaymentPlan> plan_cash_out(PlanChecks& checks, const PaymentRequest& request);
Result<PaymentPlan> plan_collection(PlanChecks& checks, const PaymentRequest& request);

}  // namespace coffer::flows
