// Payments to a beneficiary's CRYPTO destination. Whether the address is an account of the embedded
// ledger with a trustline is determined at settlement, not at acceptance. The record shows the
// result, as for any provider (docs/contract.md#payments-to-a-beneficiary).
#include "flows/payments/payment_plan.h"

namespace coffer::flows {

Result<PaymentPlan> plan_to_address(PlanChecks& checks, const PaymentRequest& request) {
  PaymentPlan plan;
  plan.request = request;
  const TransferLeg& leg = request.only();
  const auto source = checks.wallet(*leg.source_wallet, "sourceWalletId");
  const Asset* sending = checks.asset(leg.sending_asset, "sendingAssetCode");
  checks.precision(leg.amount, sending, "amount");
  const auto debit = checks.trustline(source, sending, "sourceWalletId");
  const Asset* receiving = sending;
  if (is_swap(request.type)) {
    receiving = checks.asset(*request.receiving_asset, "receivingAssetCode");
    if (receiving != nullptr && request.min_receiving) {
      checks.precision(*request.min_receiving, receiving, "minReceivingAmount");
    }
    if (receiving != nullptr && sending != nullptr)
      checks.market_path(*sending, *receiving, leg.amount);
  }
  const auto beneficiary = checks.beneficiary(*request.beneficiary);
  std::optional<store::DestinationRow> destination;
  if (beneficiary && receiving != nullptr) {
    destination = checks.destination(
        *beneficiary, request.destination, "a CRYPTO destination for " + receiving->code.value(),
        [&](const Destination& candidate) {
          const auto* crypto = std::get_if<CryptoDetails>(&candidate.details);
          return crypto != nullptr && crypto->asset_symbol == receiving->code.value();
        });
    checks.notification(request, email(beneficiary->detail).has_value(),
                        phone(beneficiary->detail).has_value());
  }
  COFFER_TRY_VOID(checks.errors().check());

  plan.request.destination = destination->id;
  plan.keys.legs.push_back({source->key, std::nullopt, sending->key});
  if (is_swap(request.type)) plan.keys.receiving_asset = receiving->key;
  plan.keys.beneficiary = beneficiary->key;
  plan.keys.destination = destination->key;
  plan.movements.push_back({*debit, 0, leg.amount});
  plan.total = leg.amount;
  COFFER_TRY_VOID(checks.funds(plan.movements, {"amount"}));
  return plan;
}

}  // namespace coffer::flows
