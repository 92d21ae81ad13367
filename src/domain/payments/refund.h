// Money that is given back after its payment has succeeded (docs/contract.md#refunds).
#pragma once

#include "domain/ledger/money.h"
#include "domain/tables/terms.h"

namespace coffer {

/// The parts in which a payment can be given back: each event contains the whole status history.
inline constexpr std::size_t kRefundsMax = 100;

/// The store keeps these as integers: append, never reorder.
enum class RefundState {
  waiting,   // a return whose payout is in progress, or a reversal that the provider carries out
  booked,    // the money moved back
  disputed,  // a return that contradicts its payout; an operator decides
  closed,    // an operator has decided
  failed,    // a reversal whose money the provider could not give back
};
template <>
struct Terms<RefundState> {
  static constexpr auto rows =
      std::to_array<Term>({{"waiting"}, {"booked"}, {"disputed"}, {"closed"}, {"failed"}});
};

/// The part of a debited amount that goes back once `returned` of the `received` amount has come
/// back, in total: rounded down to `decimals` places, and everything for everything.
/// `returned` is greater than zero and at most `received`.
inline Amount credit_for(Amount debited, Amount returned, Amount received, int decimals) {
  const auto share = multiply(debited, Rate{returned.units(), received.units()}, Rounding::down);
  return truncate_to(share.value(), decimals);
}

/// What the wallet of an on-ramp gives back of its credit once its payer has got `refunded` of the
/// `collected` amount back, in total: rounded up to `decimals` places, and everything for
/// everything. `refunded` is greater than zero and at most `collected`.
inline Amount debit_for(Amount credited, Amount refunded, Amount collected, int decimals) {
  if (refunded == collected) return credited;
  return credited - credit_for(credited, collected - refunded, collected, decimals);
}

}  // namespace coffer
