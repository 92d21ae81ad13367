#include "store/ledger/holds.h"

#include "base/check.h"
#include "store/ledger/journal.h"
#include "store/ledger/known_rows.h"

namespace coffer::store {
namespace {

constexpr const char* kFeeOfOpen =
    "SELECT fee FROM provider_payments WHERE payment = ? AND state <> ?";

void add_held(WriteTx& tx, const Hold& hold) {
  const AccountState before = tx.balances().get(hold.account);
  tx.balances().set(hold.account, before.balance, before.held + hold.amount);
}

/// The hold of a payment with one leg.
Hold implied_hold(WriteTx& tx, const SettlementView& payment) {
  COFFER_CHECK(!is_settled(payment.status));
  const PaymentKeys::Leg& leg = payment.keys.legs.front();
  COFFER_CHECK(leg.source_wallet && leg.asset);
  const auto account = tx.known().trustline(*leg.source_wallet, *leg.asset);
  COFFER_CHECK(account.has_value());
  Hold hold{*account, payment.amounts.front()};
  if (payment.type == PaymentType::offramp) {
    Query query(tx.db(), kFeeOfOpen, payment.key, ProviderState::accepted);
    COFFER_CHECK(query.step());  // otherwise it was debited
    hold.amount = hold.amount + query.amount(0);
  }
  return hold;
}

}  // namespace

void place_holds(WriteTx& tx, std::int64_t payment, PaymentType type, std::span<const Hold> holds) {
  COFFER_CHECK(has_legs(type) || holds.size() <= 1);
  for (const Hold& hold : holds) {
    has_legs(type) ? place_hold(tx, payment, hold) : add_held(tx, hold);
  }
}

void close_holds(WriteTx& tx, const SettlementView& payment, HoldState state) {
  COFFER_CHECK(state != HoldState::open);
  if (has_legs(payment.type)) return close_holds(tx, payment.key, state);
  const Hold hold = implied_hold(tx, payment);
  add_held(tx, {hold.account, -hold.amount});
}

}  // namespace coffer::store
