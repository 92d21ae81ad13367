#include "flows/providers/run_provider_jobs.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/fault.h"
#include "base/telemetry/log.h"
#include "flows/payments/payment_scope.h"
#include "flows/payments/payment_steps.h"
#include "flows/providers/collection_refunds.h"
#include "flows/providers/provider_message.h"
#include "store/rows/guarded_rows.h"

namespace coffer::flows {
namespace {

using store::ProviderJob;
using store::ProviderView;

constexpr std::int64_t kPausedMs = 30'000;
constexpr std::int64_t kBrokenMs = 60'000;

/// A job in progress: the call, its data and its reply.
struct Step {
  ProviderJob job;
  ProviderView view;                       // as read when the attempt was opened
  std::optional<store::RefundRow> refund;  // if the call is about it
  store::ConnectorRow connector;
  ProviderCall call = ProviderCall::status;
  int attempt = 0;
  ProviderMessage message;
  ProviderReply reply = unexpected(Slug::provider_error, "not called");
};

/// Holds claims and releases them in the destructor.
class Claimed {
 public:
  Claimed(JobClaims& claims, std::vector<ProviderJob> jobs)
      : claims_(claims), jobs_(std::move(jobs)) {}
  ~Claimed() {
    for (const ProviderJob& job : jobs_) claims_.release(job.payment);
  }
  Claimed(const Claimed&) = delete;
  Claimed& operator=(const Claimed&) = delete;
  const std::vector<ProviderJob>& jobs() const { return jobs_; }

 private:
  JobClaims& claims_;
  std::vector<ProviderJob> jobs_;
};

/// Runs inside the command: determines the call and stores it before it is made. nullopt if the job
/// no longer exists, is no longer due, or must wait.
std::optional<Step> open_step(const Context& context, store::WriteTx& tx, const ProviderJob& job) {
  const auto present = store::find_provider_job(tx.db(), job.payment);
  if (!present || tx.now() < present->due_at) return std::nullopt;
  ProviderView view = store::provider_view(tx, job.payment);
  const PaymentStatus status = view.payment.status;
  const bool checks = is_checking(view.open_item);
  // A job that another program gave to a payment that is over.
  COFFER_CHECK(checks || (view.state != ProviderState::over &&
                          (!is_settled(status) || status == PaymentStatus::refund_pending)));
  const std::int64_t key = *view.payment.keys.connector;
  auto connector = view.endpoint ? store::find_connector_at(tx.db(), key, view.endpoint)
                                 : store::find_connector_by_key(tx.db(), key);
  COFFER_CHECK(connector.has_value());
  const bool expired = !checks && view.expires_at && *view.expires_at <= tx.now();
  Step step;
  step.job = *present;
  const bool refunds = is_refunding(view.payment);
  if (refunds) step.refund = refund_in_progress(tx, job.payment);
  step.call = refunds ? next_refund_call(view.state)
                      : next_call(connector->terms.direction, view.state, view.attempts, expired);
  const bool starts = step.call == ProviderCall::submit || step.call == ProviderCall::collect;
  const bool sends = starts || step.call == ProviderCall::refund;
  if (starts && connector->terms.status == ConnectorStatus::paused) {
    store::reschedule_provider_job(tx, job.payment, tx.now().plus_ms(kPausedMs), present->attempts);
    return std::nullopt;
  }
  if (status == PaymentStatus::initiated) advance(context, tx, view.payment, {});
  if (sends) {
    store::set_provider_state(tx, job.payment, ProviderState::sent);
    const auto& endpoint = connector->terms.endpoint;
    store::count_submission(tx, view, endpoint ? std::optional(endpoint->key) : std::nullopt);
  }
  step.attempt = store::open_attempt(tx, job.payment, step.call);
  step.view = std::move(view);
  step.connector = *std::move(connector);
  return step;
}

Result<std::vector<Step>> open_together(const Context& context, std::span<const ProviderJob> jobs) {
  return context.write([&](store::WriteTx& tx) {
    std::vector<Step> steps;
    for (const ProviderJob& job : jobs) {
      if (auto step = open_step(context, tx, job)) steps.push_back(std::move(*step));
    }
    return steps;
  });
}

/// Delays a job that fails because of a bug, or because another program changed its payment.
Result<void> delay(const Context& context, const ProviderJob& job) {
  log_error("providers", "payment step failed; it will be retried", {{"payment_key", job.payment}});
  return context.write([&](store::WriteTx& tx) {
    store::reschedule_provider_job(tx, job.payment, tx.now().plus_ms(kBrokenMs), job.attempts + 1);
  });
}

/// A job that fails is delayed alone and does not block the others.
Result<std::vector<Step>> open_steps(const Context& context, std::span<const ProviderJob> jobs) {
  auto together = open_together(context, jobs);
  if (together || together.error().slug != Slug::unexpected_error) return together;
  std::vector<Step> steps;
  for (const ProviderJob& job : jobs) {
    const PaymentScope scope(context, job.payment);
    auto opened = open_together(context, {&job, 1});
    if (opened) {
      std::ranges::move(*opened, std::back_inserter(steps));
    } else if (opened.error().slug != Slug::unexpected_error) {
      return opened;
    } else {
      COFFER_TRY_VOID(delay(context, job));
    }
  }
  return steps;
}

/// A job with a row that another program changed is delayed alone, without a call.
Result<void> fill_messages(const Context& context, ConnectorCache& connectors,
                           std::vector<Step>& steps) {
  std::vector<ProviderJob> refused;
  COFFER_TRY_VOID(context.read([&](store::Connection& db) -> Result<void> {
    for (auto step = steps.begin(); step != steps.end();) {
      try {
        COFFER_TRY(step->message,
                   provider_message(db, connectors, step->connector, step->view, step->refund));
        ++step;
      } catch (const store::ForeignChange& change) {
        store::log_once(change);
        refused.push_back(step->job);
        step = steps.erase(step);
      }
    }
    return {};
  }));
  for (const ProviderJob& job : refused) COFFER_TRY_VOID(delay(context, job));
  return {};
}

Result<void> close_steps(const Context& context, std::span<const Step> steps) {
  return context.write([&](store::WriteTx& tx) {
    for (const Step& step : steps) {
      const std::int64_t payment = step.job.payment;
      ProviderView view = store::provider_view(tx, payment);
      const auto present = store::find_provider_job(tx.db(), payment);
      store::close_attempt(tx, payment, step.attempt, outcome_text(step.reply));
      const bool checks = is_checking(view.open_item);
      if (checks) apply_check(tx, view, step.job.attempts, step.reply);
      if (checks || !is_current(tx, view.payment, step.refund)) continue;
      apply_reply(context, tx, view, step.job.attempts, step.reply);
      // The query that a callback requested during the call is not postponed: it may be newer.
      const bool hurried = present && present->due_at != step.job.due_at;
      if (hurried) store::hasten_provider_job(tx, payment, present->due_at);
    }
  });
}

/// A job that fails because of a bug is delayed alone and does not block the others.
Result<void> close_singly(const Context& context, const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    const PaymentScope scope(context, step.job.payment);
    const auto closed = close_steps(context, {&step, 1});
    if (closed) continue;
    // Overloaded or disk full: all jobs wait.
    if (closed.error().slug != Slug::unexpected_error) return closed;
    COFFER_TRY_VOID(delay(context, step.job));
  }
  return {};
}

struct Due {
  std::vector<ProviderJob> jobs;      // claimed by the caller of take_due
  std::optional<Timestamp> next_due;  // of the other jobs
};

/// Claims free due jobs. Reads somewhat more than `limit`, to skip jobs that others have claimed.
Due take_due(store::Connection& db, std::int64_t lane, Timestamp now, int limit,
             JobClaims& claims) {
  constexpr std::int64_t kForeverMs = std::int64_t{1} << 50;
  Due out;
  const int reach = limit + claims.count() + 1;
  for (const ProviderJob& job :
       store::due_provider_jobs(db, lane, now.plus_ms(kForeverMs), reach)) {
    const bool due = job.due_at <= now && static_cast<int>(out.jobs.size()) < limit;
    if (due && claims.claim(job.payment)) {
      out.jobs.push_back(job);
    } else if (!due && !out.next_due) {
      out.next_due = job.due_at;
    }
  }
  return out;
}

}  // namespace

bool JobClaims::claim(std::int64_t payment) {
  const Lock lock(mutex_);
  return payments_.insert(payment).second;
}

void JobClaims::release(std::int64_t payment) {
  const Lock lock(mutex_);
  payments_.erase(payment);
}

int JobClaims::count() const {
  const Lock lock(mutex_);
  return static_cast<int>(payments_.size());
}

Result<ProviderRound> run_provider_jobs(const Context& context, std::int64_t lane, int limit,
                                        JobClaims& claims) {
  COFFER_TRY(Due due, context.read([&](store::Connection& db) {
    return take_due(db, lane, context.queue.now(), limit, claims);
  }));
  const Claimed claimed(claims, std::move(due.jobs));
  if (claimed.jobs().empty()) return ProviderRound{0, due.next_due};
  COFFER_TRY(std::vector<Step> steps, open_steps(context, claimed.jobs()));
  COFFER_FAULT("provider.opened");
  // Only for a single job, as on the lane of an http connector. The functions below log the errors.
  std::optional<PaymentScope> scope;
  if (steps.size() == 1) scope.emplace(context, steps.front().job.payment);
  ConnectorCache connectors(context);
  COFFER_TRY_VOID(fill_messages(context, connectors, steps));
  for (Step& step : steps) step.reply = call_provider(context, step.call, step.message);
  COFFER_FAULT("provider.answered");
  auto closed = close_steps(context, steps);
  if (!closed && closed.error().slug == Slug::unexpected_error) {
    closed = close_singly(context, steps);
  }
  COFFER_TRY_VOID(std::move(closed));
  COFFER_FAULT("provider.closed");
  return ProviderRound{static_cast<int>(claimed.jobs().size()), due.next_due};
}

}  // namespace coffer::flows
