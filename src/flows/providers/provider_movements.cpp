#include "flows/providers/provider_movements.h"

#include <algorithm>
#include <utility>

#include "flows/payments/payment_steps.h"

namespace coffer::flows {
namespace {

using store::ProviderView;

std::vector<store::Movement> off_ramp_movements(store::WriteTx& tx, const ProviderView& view) {
  const auto& leg = view.payment.keys.legs.front();
  const Environment environment = view.payment.environment;
  const AccountKey wallet = trustline(tx, *leg.source_wallet, *leg.asset);
  std::vector<store::Movement> out;
  out.push_back({{wallet,
                  store::operator_account(tx, environment, AccountKind::clearing, *leg.asset,
                                          *view.payment.keys.connector),
                  view.payment.amounts.front()},
                 0});
  if (view.fee.is_positive()) {
    out.push_back(
        {{wallet, store::operator_account(tx, environment, AccountKind::fee, *leg.asset), view.fee},
         0});
  }
  return out;
}

}  // namespace

std::vector<store::Movement> provider_movements(store::WriteTx& tx, const ProviderView& view) {
  if (view.payment.type == PaymentType::offramp) return off_ramp_movements(tx, view);
  return {{collection_posting(tx, view.payment), 0}};
}

std::vector<store::Movement> refund_movements(store::WriteTx& tx, const ProviderView& view) {
  std::vector<store::Movement> movements = provider_movements(tx, view);
  for (store::Movement& movement : movements) {
    std::swap(movement.posting.debit, movement.posting.credit);
  }
  return movements;
}

bool is_covered(store::WriteTx& tx, const std::vector<store::Movement>& movements) {
  const AccountState from = tx.balances().get(movements.front().posting.debit);
  if (may_be_negative(from.kind)) return true;
  Amount left = from.available();
  return std::ranges::all_of(movements, [&](const store::Movement& movement) {
    left = left - movement.posting.amount;
    return !left.is_negative();
  });
}

}  // namespace coffer::flows
