#include "flows/settlement/settle_payment.h"

#include <span>
#include <vector>

#include "base/check.h"
#include "base/fault.h"
#include "base/telemetry/log.h"
#include "domain/ledger/market.h"
#include "flows/operations/figures.h"
#include "flows/payments/payment_scope.h"
#include "flows/payments/payment_steps.h"
#include "flows/providers/arrivals.h"
#include "store/ledger/catalog.h"
#include "store/ledger/journal.h"
#include "store/ledger/wallets.h"
#include "store/parties/beneficiaries.h"
#include "store/payments/payments.h"

namespace coffer::flows {
namespace {

using store::SettlementJob;
using store::SettlementView;

void settle_transfers(const Context& context, store::WriteTx& tx, SettlementView& payment) {
  std::vector<store::Movement> movements;
  for (std::size_t i = 0; i < payment.keys.legs.size(); ++i) {
    const auto& leg = payment.keys.legs[i];
    movements.push_back({{trustline(tx, *leg.source_wallet, *leg.asset),
                          trustline(tx, *leg.destination_wallet, *leg.asset), payment.amounts[i]},
                         static_cast<int>(i)});
  }
  succeed(context, tx, payment, movements, {});
}

/// The account that receives a payment to an address, or the reason why it cannot arrive.
struct Arrival {
  std::optional<AccountKey> account;
  FailureCode failure = FailureCode::destination_not_found;
};

Arrival arrival(const Context& context, store::WriteTx& tx, const SettlementView& payment,
                std::int64_t asset) {
  const auto row = store::find_destination_by_key(tx.db(), *payment.keys.destination);
  COFFER_CHECK(row.has_value());
  const auto& crypto = std::get<CryptoDetails>(row->detail.details);
  if (!is_ledger_network(crypto.network_name, context.network_name)) return {};
  const auto owner = store::find_address(tx.db(), payment.environment, crypto.wallet_address);
  if (!owner) return {};
  if (owner->status != WalletStatus::verified) {
    return {std::nullopt, FailureCode::compliance_rejected};
  }
  return {store::find_trustline(tx.db(), owner->wallet, asset), FailureCode::trustline_missing};
}

void settle_to_address(const Context& context, store::WriteTx& tx, SettlementView& payment) {
  const auto& leg = payment.keys.legs.front();
  const Arrival to = arrival(context, tx, payment, *leg.asset);
  if (!to.account) return fail(context, tx, payment, to.failure);
  const store::Movement movement{
      {trustline(tx, *leg.source_wallet, *leg.asset), *to.account, payment.amounts.front()}, 0};
  succeed(context, tx, payment, {&movement, 1}, {});
}

std::string path_text(std::span<const std::int64_t> path, std::span<const Asset> assets) {
  std::string out;
  for (const std::int64_t key : path) {
    for (const Asset& asset : assets) {
      if (asset.key == key) out += (out.empty() ? "" : " ") + asset.code.value();
    }
  }
  return out;
}

/// A strict-send conversion at the current rates, through the liquidity account of each asset.
void settle_swap(const Context& context, store::WriteTx& tx, SettlementView& payment) {
  const auto& leg = payment.keys.legs.front();
  const std::int64_t receiving = *payment.receiving_asset;
  const Arrival to = is_to_address(payment.type)
                         ? arrival(context, tx, payment, receiving)
                         : Arrival{trustline(tx, *leg.destination_wallet, receiving), {}};
  if (!to.account) return fail(context, tx, payment, to.failure);
  const auto rates = store::list_rates(tx.db(), payment.environment);
  const auto assets = store::list_assets(tx.db());
  const Amount sending = payment.amounts.front();
  const auto path = best_path(rates, assets, *leg.asset, receiving, sending);
  if (!path) return fail(context, tx, payment, FailureCode::no_market_path);
  if (payment.min_receiving && path->receiving < *payment.min_receiving) {
    return fail(context, tx, payment, FailureCode::slippage_exceeded);
  }
  for (std::size_t i = 1; i < path->assets.size(); ++i) {
    store::require_intact_rate(tx.db(), payment.environment, path->assets[i - 1], path->assets[i]);
  }
  const AccountKey pool_in =
      store::operator_account(tx, payment.environment, AccountKind::liquidity, *leg.asset);
  const AccountKey pool_out =
      store::operator_account(tx, payment.environment, AccountKind::liquidity, receiving);
  if (tx.balances().get(pool_out).available() < path->receiving) {
    return fail(context, tx, payment, FailureCode::insufficient_liquidity);
  }
  const std::vector<store::Movement> movements{
      {{trustline(tx, *leg.source_wallet, *leg.asset), pool_in, sending}, 0},
      {{pool_out, *to.account, path->receiving}, 0}};
  succeed(
      context, tx, payment, movements,
      {PaymentStatus::succeeded, std::nullopt, path->receiving, path_text(path->assets, assets)});
}

void settle_one(const Context& context, store::WriteTx& tx, const SettlementJob& job) {
  SettlementView payment = store::settlement_view(tx, job);
  if (payment.settle_at != job.due_at) return;  // settled or scheduled again in the meantime
  store::require_open(tx, payment.sealed);
  if (payment.type == PaymentType::onramp_reference) {  // may have to wait in `processing`
    if (payment.status == PaymentStatus::initiated) advance(context, tx, payment, {});
    return settle_reference_payment(context, tx, payment);
  }
  if (payment.status == PaymentStatus::initiated) pass_processing(context, tx, payment);
  switch (payment.type) {
    case PaymentType::p2p_own:
    case PaymentType::p2p_own_multi:
      return settle_transfers(context, tx, payment);
    case PaymentType::p2p_beneficiary:
      return settle_to_address(context, tx, payment);
    case PaymentType::swap_own:
    case PaymentType::swap_beneficiary:
      return settle_swap(context, tx, payment);
    case PaymentType::onramp_reference:
    case PaymentType::offramp:
    case PaymentType::onramp:
      break;  // settled by flows/providers
  }
  throw InternalError("no settlement for payments of type " + std::string(name(payment.type)));
}

/// Settles the payments of a failed group one at a time, so that only the faulty one is delayed.
int settle_singly(const Context& context, std::span<const SettlementJob> jobs) {
  int settled = 0;
  for (const SettlementJob& job : jobs) {
    const PaymentScope scope(context, job.payment);
    const auto result = context.write([&](store::WriteTx& tx) { settle_one(context, tx, job); });
    if (result) {
      note_settled(context, job.due_at);
      ++settled;
      continue;
    }
    if (result.error().slug != Slug::unexpected_error) break;  // overloaded or full: all jobs wait
    log_error("settlement", "settlement of a payment failed; it will be retried",
              {{"payment_key", job.payment}});
    const auto postponed =
        context.write([&](store::WriteTx& tx) { store::postpone_settlement(tx, job); });
    if (!postponed) break;
  }
  return settled;
}

}  // namespace

Result<SettlementRound> settle_due_payments(const Context& context, int limit) {
  COFFER_FAULT("settle.before");
  SettlementRound round;
  std::vector<SettlementJob> jobs;
  const auto together = context.write(
      [&](store::WriteTx& tx) {
        jobs = store::due_settlements(tx.db(), tx.now(), limit);
        for (const SettlementJob& job : jobs) settle_one(context, tx, job);
        round.next_due = store::next_settlement_due(tx.db());
      },
      store::CommitQueue::Mode::background);
  COFFER_FAULT("settle.after");
  if (together) {
    for (const SettlementJob& job : jobs) note_settled(context, job.due_at);
    round.settled = static_cast<int>(jobs.size());
    return round;
  }
  if (jobs.empty() || together.error().slug != Slug::unexpected_error) {
    return unexpected(together.error());
  }
  round.settled = settle_singly(context, jobs);
  round.next_due = context.queue.now();  // the next round finds what is left
  return round;
}

}  // namespace coffer::flows
