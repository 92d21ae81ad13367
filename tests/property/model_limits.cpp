// Limits of payments: what counts is counted anew from all payments, as the contract defines it
// (docs/contract.md#payment-limits).
#include <algorithm>
#include <chrono>
#include <limits>

#include "property/model.h"

namespace coffer::property {
namespace {

constexpr Wide kLargestSum = std::numeric_limits<std::int64_t>::max();

std::chrono::sys_days day_of(std::int64_t ms) {
  return std::chrono::floor<std::chrono::days>(
      std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(ms)));
}
std::chrono::year_month month_of(std::int64_t ms) {
  const std::chrono::year_month_day date(day_of(ms));
  return date.year() / date.month();
}

bool has_failed(PaymentStatus status) {
  return status == PaymentStatus::failed || status == PaymentStatus::expired ||
         status == PaymentStatus::refund_pending || status == PaymentStatus::refund_failed;
}

}  // namespace

void Model::set_limit(const LimitKey& key, const PaymentLimits& limits) {
  limits_.try_emplace(key, ModelLimit{{}, last_order_}).first->second.limits = limits;
}

Model::Legs Model::legs_out(const PaymentRequest& request) const {
  Legs out;
  for (const TransferLeg& leg : request.legs) {
    if (!leg.source_wallet) continue;
    if (request.type != PaymentType::offramp) {
      out.emplace_back(source(leg), leg.amount.units());
    } else if (const ModelQuote* quote = find_quote(request.quote)) {
      const bool fee = wrong_ == WrongRule::limit_counts_the_fee;
      out.emplace_back(
          Place{*wallet_index(*leg.source_wallet), connectors_[quote->connector].asset},
          fee ? quote->total : quote->send);
    }
  }
  return out;
}

/// What failed, or was given back, does not count.
Wide Model::counted(const ModelPayment& payment, Wide sent) const {
  const Wide back = payment.given + payment.fee_given;
  if (back > 0) return std::max<Wide>(0, sent - back);
  if (wrong_ == WrongRule::failure_keeps_its_count) return sent;
  return has_failed(payment.status) || payment.status == PaymentStatus::refunded ? 0 : sent;
}

ModelUse Model::use_of(const LimitKey& key, std::int64_t now) const {
  ModelUse out;
  for (const auto& [id, payment] : payments_) {
    if (payment.order <= limits_.at(key).since) continue;
    for (const auto& [from, sent] : legs_out(payment.request)) {
      const bool is_other = key.holder == LimitKey::Holder::wallet && from.first != key.wallet;
      const Wide counts = counted(payment, sent);
      if (is_other || from.second != key.asset || counts == 0) continue;
      const bool same_month = month_of(payment.accepted_at) == month_of(now);
      if (same_month) {
        out.month += counts;
        ++out.month_payments;
      }
      if (day_of(payment.accepted_at) == day_of(now) ||
          (wrong_ == WrongRule::limit_day_lasts && same_month)) {
        out.day += counts;
        ++out.day_payments;
      }
    }
  }
  return out;
}

bool Model::exceeds(const Legs& legs, const LimitKey& key, const PaymentLimits& most,
                    std::int64_t now) const {
  const auto over = [](const std::optional<Amount>& limit, Wide sum) {
    return sum > (limit ? limit->units() : kLargestSum);
  };
  ModelUse use = use_of(key, now);
  for (const auto& [from, sent] : legs) {
    const bool is_other = key.holder == LimitKey::Holder::wallet && from.first != key.wallet;
    if (is_other || from.second != key.asset) continue;
    use.day += sent;
    use.month += sent;
    ++use.day_payments;
    ++use.month_payments;
    if (over(most.per_payment, sent) || over(most.per_day, use.day) ||
        over(most.per_month, use.month)) {
      return true;
    }
    if (most.payments_per_day && use.day_payments > *most.payments_per_day) return true;
    if (most.payments_per_month && use.month_payments > *most.payments_per_month) return true;
  }
  return false;
}

bool Model::exceeds(const Legs& legs, std::int64_t now) const {
  return std::any_of(limits_.begin(), limits_.end(), [&](const auto& item) {
    return exceeds(legs, item.first, item.second.limits, now);
  });
}

bool Model::exceeds(const ModelQuote& quote, std::int64_t now) const {
  const WorldConnector& connector = connectors_[quote.connector];
  const auto limit = limits_.find({LimitKey::Holder::association, 0, connector.asset});
  if (connector.terms.direction != Direction::off_ramp || limit == limits_.end()) return false;
  return exceeds({{{0, connector.asset}, quote.send}}, limit->first, limit->second.limits, now);
}

}  // namespace coffer::property
