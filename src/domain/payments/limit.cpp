#include "domain/payments/limit.h"

#include <algorithm>
#include <chrono>

namespace coffer {
namespace {

namespace time = std::chrono;

time::year_month_day date_of(Timestamp at) {
  return time::floor<time::days>(time::sys_time<time::milliseconds>(time::milliseconds(at.ms)));
}

Timestamp first_of_month(time::year_month month) {
  const time::sys_days day = month / time::day(1);
  return {time::duration_cast<time::milliseconds>(day.time_since_epoch()).count()};
}

time::year_month month_of(Timestamp at) {
  const auto date = date_of(at);
  return date.year() / date.month();
}

/// A limit that a payment exceeds.
struct Exceeded {
  const LimitName& name;
  std::string_view period;
  std::string limit;
  std::string left;
  std::optional<Timestamp> frees;
};

Unexpected exceeded(const Exceeded& at, const std::string& field) {
  const std::string what = "the limit of the " + std::string(at.name.holder) + " per " +
                           std::string(at.period) + ", " + at.limit;
  std::string detail = "The payment exceeds " + what + ".";
  if (at.frees)
    detail += " Left are " + at.left + "; the limit frees at " + at.frees->to_string() + ".";
  return unexpected(Problem(Slug::limit_exceeded, detail, {{field, "exceeds " + what}}));
}

Result<void> take(PeriodUse& use, const PeriodUse& before, std::string_view period, Timestamp end,
                  Amount amount, const std::optional<Amount>& most,
                  const std::optional<std::int64_t>& payments_most, const LimitName& name,
                  const std::string& field) {
  const std::string asset = " " + std::string(name.asset);
  const auto sum = use.amount.add(amount);
  if (!sum || (most && *sum > *most)) {
    const Amount limit = most.value_or(use.amount);
    const Amount left = std::max(Amount(), limit - std::min(limit, before.amount));
    return exceeded({name, period, limit.to_string(name.decimals) + asset,
                     left.to_string(name.decimals) + asset, end},
                    field);
  }
  if (payments_most && use.payments >= *payments_most) {
    const auto left = std::max<std::int64_t>(0, *payments_most - before.payments);
    return exceeded({name, period, std::to_string(*payments_most) + " payments in" + asset,
                     std::to_string(left) + " payments", end},
                    field);
  }
  use.amount = *sum;
  ++use.payments;
  return {};
}

void recount(PeriodUse& use, Amount amount, std::int64_t payments, Timestamp accepted_at) {
  if (accepted_at < use.start) return;
  // A wrong counter is a violation in `coffer verify`, but does not prevent giving back.
  use.amount = std::max(Amount(), use.amount + amount);
  use.payments = std::max<std::int64_t>(0, use.payments + payments);
}

}  // namespace

Timestamp day_start(Timestamp at) { return {at.ms - at.ms % kDayMs}; }
Timestamp month_start(Timestamp at) { return first_of_month(month_of(at)); }
Timestamp next_month_start(Timestamp at) { return first_of_month(month_of(at) + time::months(1)); }

LimitUse current_use(LimitUse use, Timestamp now) {
  if (const Timestamp day = day_start(now); day > use.day.start) use.day = {.start = day};
  if (const Timestamp month = month_start(now); month > use.month.start)
    use.month = {.start = month};
  return use;
}

Result<void> take_of_limit(const PaymentLimits& limits, LimitUse& use, Amount amount,
                           const LimitName& name, const std::string& field,
                           const std::optional<LimitUse>& before) {
  const LimitUse first = before.value_or(use);
  if (limits.per_payment && amount > *limits.per_payment) {
    const std::string most =
        limits.per_payment->to_string(name.decimals) + " " + std::string(name.asset);
    return exceeded({name, "payment", most, {}, {}}, field);
  }
  COFFER_TRY_VOID(take(use.day, first.day, "day", use.day.start.plus_ms(kDayMs), amount,
                       limits.per_day, limits.payments_per_day, name, field));
  return take(use.month, first.month, "month", next_month_start(use.month.start), amount,
              limits.per_month, limits.payments_per_month, name, field);
}

void recount_use(LimitUse& use, Amount amount, std::int64_t payments, Timestamp accepted_at) {
  recount(use.day, amount, payments, accepted_at);
  recount(use.month, amount, payments, accepted_at);
}

}  // namespace coffer
