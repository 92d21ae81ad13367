// Limits of the payments of an association, an application or a wallet in one asset
// (docs/contract.md#payment-limits).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "base/clock.h"
#include "base/result.h"
#include "domain/ledger/money.h"
#include "domain/tables/member.h"

namespace coffer {

struct PaymentLimits {
  std::optional<Amount> per_payment;
  std::optional<Amount> per_day;
  std::optional<Amount> per_month;
  std::optional<std::int64_t> payments_per_day;
  std::optional<std::int64_t> payments_per_month;
  bool operator==(const PaymentLimits&) const = default;
};

template <>
struct Members<PaymentLimits> {
  using T = PaymentLimits;
  using enum MemberFlag;
  static constexpr std::int64_t kPaymentsMax = 1'000'000'000;
  static constexpr std::tuple rows{
      member<&T::per_payment>("perPayment", "per_payment", changes,
                              {"per-payment", "Largest amount of one payment", "Per payment", "500",
                               "", "Remove the limit per payment"}),
      member<&T::per_day>("perDay", "per_day", changes,
                          {"per-day", "Largest amount in a day (UTC)", "Per day", "10000", "",
                           "Remove the limit per day"}),
      member<&T::per_month>("perMonth", "per_month", changes,
                            {"per-month", "Largest amount in a calendar month (UTC)", "Per month",
                             "100000", "", "Remove the limit per month"}),
      member<&T::payments_per_day>("countPerDay", "count_per_day", changes,
                                   {"count-per-day", "Most payments in a day (UTC)",
                                    "Payments per day", "100", "", "Remove this limit"},
                                   kPaymentsMax),
      member<&T::payments_per_month>("countPerMonth", "count_per_month", changes,
                                     {"count-per-month", "Most payments in a calendar month (UTC)",
                                      "Payments per month", "1000", "", "Remove this limit"},
                                     kPaymentsMax)};
};
using PaymentLimitsChange = Change<PaymentLimits>;

/// What was paid since the start of a calendar day or month (UTC).
struct PeriodUse {
  Timestamp start;
  Amount amount;
  std::int64_t payments = 0;
  bool operator==(const PeriodUse&) const = default;
};
struct LimitUse {
  PeriodUse day;
  PeriodUse month;
  bool operator==(const LimitUse&) const = default;
};

/// The first instants of the day and of the month of `at`, and of the month after it (UTC).
Timestamp day_start(Timestamp at);
Timestamp month_start(Timestamp at);
Timestamp next_month_start(Timestamp at);

/// The use at `now`: the counters of periods that have ended are zero.
LimitUse current_use(LimitUse use, Timestamp now);

/// Whose limit it is, for people, and the asset.
struct LimitName {
  std::string_view holder;  // "wallet"
  std::string_view asset;
  int decimals = Amount::kScale;
};

/// Adds one payment to the current use. `limit-exceeded` if the payment exceeds one: `detail` names
/// the limit, what is left of it and when it frees. Of a payment with several transfers, `before`
/// is the use before the first of them, of which the rest is left.
Result<void> take_of_limit(const PaymentLimits& limits, LimitUse& use, Amount amount,
                           const LimitName& name, const std::string& field,
                           const std::optional<LimitUse>& before = {});

/// Adds to the counters of the periods that contain `accepted_at`: a negative amount and count for
/// what is given back.
void recount_use(LimitUse& use, Amount amount, std::int64_t payments, Timestamp accepted_at);

}  // namespace coffer
