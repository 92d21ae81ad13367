#include "store/payments/open_payments.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "domain/payments/payment.h"

namespace coffer::store {
namespace {

// A payment in progress has a job; a provider is also asked about some that ended. No time and no
// lane is negative.
constexpr const char* kOpenSettlements =
    "SELECT p.payment, p.version + ifnull(q.revision, 0) FROM payments p"
    " INDEXED BY payments_to_settle LEFT JOIN provider_payments q ON q.payment = p.payment"
    " WHERE p.settle_at >= 0";
constexpr const char* kOpenAtProviders =
    "SELECT p.payment, p.version + ifnull(q.revision, 0) FROM provider_jobs j"
    " CROSS JOIN payments p ON p.payment = j.payment"
    " LEFT JOIN provider_payments q ON q.payment = j.payment WHERE j.lane >= 0"
    " AND p.status IN (0, 1, 4)";
static_assert(stored(PaymentStatus::initiated) == 0);
static_assert(stored(PaymentStatus::processing) == 1);
static_assert(stored(PaymentStatus::refund_pending) == 4);

}  // namespace

void OpenPayments::load(Connection& writer) {
  clear();
  for (const char* sql : {kOpenSettlements, kOpenAtProviders}) {
    Query query(writer, sql);
    while (query.step()) put(query.integer(0), query.integer(1));
  }
}

void OpenPayments::put(std::int64_t payment, std::int64_t version) {
  std::int64_t& there = versions_[payment];
  sum_ += version - there;
  there = version;
  accepted_.erase(payment);
  if (version == 0) versions_.erase(payment);
}

void OpenPayments::set(std::int64_t payment, std::int64_t version) {
  const auto found = versions_.find(payment);
  undo_.emplace_back(payment, found == versions_.end() ? 0 : found->second);
  put(payment, version);
}

void OpenPayments::remove(std::int64_t payment) {
  if (versions_.contains(payment)) set(payment, 0);
}

bool OpenPayments::contains(std::int64_t payment, std::int64_t version) const {
  const auto found = versions_.find(payment);
  return found != versions_.end() && found->second == version;
}

void OpenPayments::advance(std::int64_t payment, std::int64_t by) {
  const auto found = versions_.find(payment);
  if (found != versions_.end()) set(payment, found->second + by);
}

void OpenPayments::remember(SettlementView payment) {
  if (accepted_.size() >= kRememberedMax) accepted_.clear();
  accepted_.insert_or_assign(payment.key, std::move(payment));
}

std::optional<SettlementView> OpenPayments::take(const SettlementJob& job) {
  const auto found = accepted_.find(job.payment);
  if (found == accepted_.end() || found->second.settle_at != job.due_at) return std::nullopt;
  std::optional<SettlementView> out(std::move(found->second));
  accepted_.erase(found);
  return out;
}

void OpenPayments::clear() {
  versions_.clear();
  accepted_.clear();
  undo_.clear();
  sum_ = 0;
}

void OpenPayments::roll_back_command() {
  for (const auto& [payment, version] : std::views::reverse(undo_)) put(payment, version);
  undo_.clear();
}

}  // namespace coffer::store
