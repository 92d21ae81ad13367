#include "flows/settle_payment.h"

#include <span>
#include <vector>

#include "base/check.h"
#include "base/fault.h"
#include "base/log.h"
#include "domain/market.h"
#include "flows/events.h"
#include "store/catalog.h"
#include "store/journal.h"
#include "store/payments.h"

namespace coffer::flows {
namespace {

using store::SettlementJob;
using store::SettlementView;

void advance(const Context& context, store::WriteTx& tx, SettlementView& payment,
             const store::StatusChange& change) {
  store::change_status(tx, payment, change);
  emit_payment_event(tx, context.random, payment.tenant, payment.key, payment.status,
                     payment.version);
}

/// A business failure is a successful command: the hold is released and everyone is told.
void fail(const Context& context, store::WriteTx& tx, SettlementView& payment, FailureCode code) {
  store::close_holds(tx, payment.key, HoldState::voided);
  advance(context, tx, payment, {PaymentStatus::failed, code, std::nullopt, std::nullopt});
}

AccountKey trustline(store::WriteTx& tx, std::int64_t wallet, std::int64_t asset) {
  const auto account = store::find_trustline(tx.db(), wallet, asset);
  // Acceptance saw it, and trustlines are never removed.
  COFFER_CHECK(account.has_value());
  return *account;
}

void succeed(const Context& context, store::WriteTx& tx, SettlementView& payment,
             std::span<const store::Movement> movements, store::StatusChange change) {
  store::close_holds(tx, payment.key, HoldState::posted);
  store::post(tx, payment.tenant, store::JournalKind::payment, payment.key, movements);
  change.to = PaymentStatus::succeeded;
  advance(context, tx, payment, change);
}

void settle_transfers(const Context& context, store::WriteTx& tx, SettlementView& payment) {
  std::vector<store::Movement> movements;
  for (std::size_t i = 0; i < payment.keys.legs.size(); ++i) {
    const auto& leg = payment.keys.legs[i];
    movements.push_back({{trustline(tx, leg.source_wallet, leg.asset),
                          trustline(tx, leg.destination_wallet, leg.asset), payment.amounts[i]},
                         static_cast<int>(i)});
  }
  succeed(context, tx, payment, movements, {});
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

/// Strict send at the rates of this moment, through the liquidity account of each asset.
void settle_swap(const Context& context, store::WriteTx& tx, SettlementView& payment) {
  const auto& leg = payment.keys.legs.front();
  const std::int64_t receiving = *payment.receiving_asset;
  const auto rates = store::list_rates(tx.db(), payment.environment);
  const auto assets = store::list_assets(tx.db());
  const Amount sending = payment.amounts.front();
  const auto path = best_path(rates, assets, leg.asset, receiving, sending);
  if (!path) return fail(context, tx, payment, FailureCode::no_market_path);
  if (payment.min_receiving && path->receiving < *payment.min_receiving) {
    return fail(context, tx, payment, FailureCode::slippage_exceeded);
  }
  const AccountKey pool_in =
      store::operator_account(tx, payment.environment, AccountKind::liquidity, leg.asset);
  const AccountKey pool_out =
      store::operator_account(tx, payment.environment, AccountKind::liquidity, receiving);
  if (tx.balances().get(pool_out).available() < path->receiving) {
    return fail(context, tx, payment, FailureCode::insufficient_liquidity);
  }
  const std::vector<store::Movement> movements{
      {{trustline(tx, leg.source_wallet, leg.asset), pool_in, sending}, 0},
      {{pool_out, trustline(tx, leg.destination_wallet, receiving), path->receiving}, 0}};
  succeed(context, tx, payment, movements,
          {PaymentStatus::succeeded, std::nullopt, path->receiving,
           path_text(path->assets, assets)});
}

void settle_one(const Context& context, store::WriteTx& tx, const SettlementJob& job) {
  SettlementView payment = store::settlement_view(tx.db(), job.payment);
  store::remove_settlement_job(tx, job);
  if (payment.status == PaymentStatus::initiated) advance(context, tx, payment, {});
  switch (payment.type) {
    case PaymentType::p2p_own:
    case PaymentType::p2p_own_multi:
      return settle_transfers(context, tx, payment);
    case PaymentType::swap_own:
      return settle_swap(context, tx, payment);
    case PaymentType::p2p_beneficiary:
    case PaymentType::swap_beneficiary:
    case PaymentType::offramp:
    case PaymentType::onramp:
    case PaymentType::onramp_reference:
      break;
  }
  throw InternalError("no settlement for payments of type " + std::string(name(payment.type)));
}

Result<void> settle_together(const Context& context, std::span<const SettlementJob> jobs) {
  return context.queue.run([&](store::WriteTx& tx) -> Result<void> {
    for (const SettlementJob& job : jobs) {
      if (store::has_settlement_job(tx.db(), job)) settle_one(context, tx, job);
    }
    return {};
  });
}

/// After a group failed as a whole: one by one, so that only what is broken waits.
int settle_singly(const Context& context, std::span<const SettlementJob> jobs) {
  int settled = 0;
  for (const SettlementJob& job : jobs) {
    const auto result = settle_together(context, {&job, 1});
    if (result) {
      ++settled;
      continue;
    }
    if (result.error().slug != Slug::unexpected_error) break;  // overloaded, full: all wait
    log_error("settlement", "payment cannot be settled, putting it off",
              {{"payment", job.payment}});
    const auto postponed = context.queue.run([&](store::WriteTx& tx) -> Result<void> {
      store::postpone_settlement_job(tx, job);
      return {};
    });
    if (!postponed) break;
  }
  return settled;
}

}  // namespace

Result<SettlementRound> settle_due_payments(const Context& context, int limit) {
  COFFER_FAULT("settle.before");
  COFFER_TRY(const auto jobs,
             store::with_reader(context.database,
                                [&](store::Connection& db) -> Result<std::vector<SettlementJob>> {
                                  return store::due_settlement_jobs(db, context.queue.now(), limit);
                                }));
  SettlementRound round;
  if (!jobs.empty()) {
    const auto together = settle_together(context, jobs);
    if (together) {
      round.settled = static_cast<int>(jobs.size());
    } else if (together.error().slug == Slug::unexpected_error) {
      round.settled = settle_singly(context, jobs);
    } else {
      return unexpected(together.error());
    }
  }
  COFFER_FAULT("settle.after");
  COFFER_TRY(round.next_due,
             store::with_reader(
                 context.database,
                 [&](store::Connection& db) -> Result<std::optional<Timestamp>> {
                   return store::next_settlement_due(db);
                 }));
  return round;
}

}  // namespace coffer::flows
