// The statuses of a record over time, derived from its stored times.
#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "flows/payments/record_json.h"

namespace coffer::flows {
namespace {

/// The first final status.
PaymentStatus first_end(const store::PaymentRecord& record) {
  if (record.corrected_from == PaymentStatus::succeeded) return PaymentStatus::succeeded;
  if (record.failure) return PaymentStatus::failed;
  const bool expired = record.corrected_from.value_or(record.status) == PaymentStatus::expired;
  return expired ? PaymentStatus::expired : PaymentStatus::succeeded;
}

/// The statuses that refunds after success have reached. Each one through a provider begins with
/// `refund_pending`, of the others only the first one.
std::vector<Reached> reached_by_refunds(const store::PaymentRecord& record) {
  std::vector<Reached> out;
  for (const auto& refund : record.refunds) {
    if (refund.asked_at || out.empty()) {
      out.push_back({PaymentStatus::refund_pending, refund.asked_at.value_or(refund.at)});
    }
    if (refund.state == RefundState::waiting) continue;
    const bool booked = refund.state == RefundState::booked;
    out.push_back({booked ? PaymentStatus::refunded : PaymentStatus::refund_failed, refund.at,
                   refund.failure});
  }
  return out;
}

/// The record before anything was given back after success.
store::PaymentRecord before_refunds(store::PaymentRecord record) {
  record.version -= static_cast<int>(reached_by_refunds(record).size());
  record.status = PaymentStatus::succeeded;
  if (record.refunds.front().asked_at) {  // these are times of refunds
    record.refund_pending_at.reset();
    record.refund_closed_at.reset();
  }
  record.refunds.clear();
  return record;
}

/// The record when only some of its refunds were given back; `now` is its status then.
store::PaymentRecord with_fewer_refunds(store::PaymentRecord record, const Reached& now,
                                        int version) {
  int left = version - before_refunds(record).version;
  std::size_t count = 0;
  for (auto& refund : record.refunds) {
    if (left == 0) break;
    ++count;
    if (refund.asked_at || count == 1) --left;
    if (left == 0) {
      refund.state = RefundState::waiting;
      refund.failure.reset();
      refund.at = refund.asked_at.value_or(refund.at);
    } else {
      --left;
    }
  }
  record.refunds.resize(count);
  record.status = now.status;
  record.updated_at = now.at;
  record.version = version;
  return record;
}

}  // namespace

std::vector<Reached> reached_statuses(const store::PaymentRecord& record) {
  if (!record.refunds.empty()) {
    std::vector<Reached> out = reached_statuses(before_refunds(record));
    std::ranges::copy(reached_by_refunds(record), std::back_inserter(out));
    return out;
  }
  std::vector<Reached> out{{PaymentStatus::initiated, record.created_at}};
  const auto add = [&](PaymentStatus status, const std::optional<Timestamp>& at) {
    if (!at) return;
    out.push_back({status, *at});
    if (status == PaymentStatus::failed) out.back().why = record.failure;
    if (status == PaymentStatus::refund_failed) out.back().why = record.refund_failure;
  };
  add(PaymentStatus::processing, record.processing_at);
  const auto from = record.corrected_from;
  add(first_end(record), record.completed_at);
  if (from == PaymentStatus::succeeded) add(PaymentStatus::failed, record.corrected_at);
  add(PaymentStatus::refund_pending, record.refund_pending_at);
  const bool corrected = from && from != PaymentStatus::succeeded;
  const PaymentStatus closed = corrected ? *from : record.status;
  // A refund that failed first and was credited later has one more status.
  const bool late = closed == PaymentStatus::refunded && record.refund_closed_at &&
                    static_cast<std::size_t>(record.version) == out.size() + 2 + corrected;
  add(late ? PaymentStatus::refund_failed : closed, record.refund_closed_at);
  if (late) add(PaymentStatus::refunded, corrected ? *record.corrected_at : record.updated_at);
  if (corrected) add(PaymentStatus::succeeded, record.corrected_at);
  return out;
}

store::PaymentRecord as_of(store::PaymentRecord record, int version) {
  std::vector<Reached> reached = reached_statuses(record);
  const auto count = static_cast<std::size_t>(version);
  if (count == 0 || count >= reached.size()) return record;
  reached.resize(count);
  if (!record.refunds.empty()) {
    if (version > before_refunds(record).version) {
      return with_fewer_refunds(std::move(record), reached.back(), version);
    }
    record.refunds.clear();
  }
  const auto was = [&](std::initializer_list<PaymentStatus> any_of) {
    return std::ranges::any_of(reached, [&](const Reached& item) {
      return std::ranges::find(any_of, item.status) != any_of.end();
    });
  };
  if (!was({PaymentStatus::processing})) record.processing_at.reset();
  const bool ended = was({PaymentStatus::succeeded, PaymentStatus::failed, PaymentStatus::expired});
  if (!ended) record.completed_at.reset();
  if (!was({PaymentStatus::failed})) record.failure.reset();
  const auto from = record.corrected_from;
  const bool corrected =
      from &&
      was({from == PaymentStatus::succeeded ? PaymentStatus::failed : PaymentStatus::succeeded});
  const bool late = from == PaymentStatus::failed || from == PaymentStatus::expired;
  if (from && !corrected) {
    record.corrected_at.reset();
    record.corrected_from.reset();
  }
  if (!ended || (late && !corrected)) {
    record.ledger_hash.reset();
    record.path.reset();
    if (is_swap(record.request.type)) record.receiving_amount.reset();
    if (late && record.request.type == PaymentType::onramp_reference) {
      record.receiving_amount.reset();
    }
    if (record.provider && record.provider->collected) {
      const bool known = ended && record.failure == FailureCode::underpaid;
      if (!known) record.provider->collected.reset();
      record.receiving_amount = record.provider->quoted_receiving;
    }
  }
  if (!was({PaymentStatus::refund_pending})) record.refund_pending_at.reset();
  if (!was({PaymentStatus::refund_failed, PaymentStatus::refunded})) {
    record.refund_closed_at.reset();
    record.refund_failure.reset();
  }
  if (record.provider) record.provider->in_review = false;
  record.status = reached.back().status;
  record.updated_at = reached.back().at;
  record.version = version;
  return record;
}

}  // namespace coffer::flows
