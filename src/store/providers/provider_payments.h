// Payments through a provider: their state, their next step, and every call that was made.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "domain/providers/provider_payment.h"
#include "store/commits/write_tx.h"
#include "store/payments/payments.h"

namespace coffer::store {

/// The data with which a step decides and applies a response, in row keys.
struct ProviderView {
  SettlementView payment;
  ProviderState state = ProviderState::fresh;
  int attempts = 0;  // submissions so far
  Amount fee;
  Amount total;
  std::optional<Timestamp> first_sent_at;
  std::optional<Timestamp> expires_at;
  std::optional<std::int64_t> endpoint;  // of its connector, fixed by the first submission
  std::optional<Amount> collected;       // amount that the payer of an on-ramp paid, once known
  OpenItem open_item = OpenItem::none;
};
/// Throws ForeignChange if another program inserted or changed the payment or this part of it.
ProviderView provider_view(WriteTx& tx, std::int64_t payment);

/// Data that a driver needs in addition to the record.
struct ProviderDetail {
  std::optional<TransactionType> type;
  std::optional<std::string> quote_reference;
};
ProviderDetail provider_detail(Connection& db, std::int64_t payment);

// Columns of the provider part; each function is one UPDATE.
void set_provider_state(WriteTx& tx, std::int64_t payment, ProviderState state);
/// Counts a submission. The first one sets first_sent_at and fixes `endpoint` for the payment, if
/// the connector has one.
void count_submission(WriteTx& tx, ProviderView& view, std::optional<std::int64_t> endpoint);
void set_in_review(WriteTx& tx, std::int64_t payment, bool in_review);
void set_provider_reference(WriteTx& tx, std::int64_t payment, std::string_view reference);
void set_collected(WriteTx& tx, ProviderView& view, Amount collected);
void set_open_item(WriteTx& tx, std::int64_t payment, OpenItem item);
/// Payments that are `unbooked` or `contradicted`, counted up to `limit`.
std::int64_t count_open_items(Connection& db, OpenItem item, std::int64_t limit);
/// Replaces the payer's instructions and their expiry.
void set_instructions(WriteTx& tx, std::int64_t payment,
                      const std::map<std::string, std::string>& instructions, Timestamp expires_at);

/// Returns the number of the attempt. An open attempt means that the provider's action is unknown.
/// The rows form the payment's history with its provider.
int open_attempt(WriteTx& tx, std::int64_t payment, ProviderCall call);
void close_attempt(WriteTx& tx, std::int64_t payment, int attempt, std::string_view outcome);

// Jobs, one per payment in progress, and one while a contradiction is checked. Lane 0 has all
// drivers that respond immediately; each other provider has the lane of its connector's key.
struct ProviderJob {
  std::int64_t lane = 0;
  Timestamp due_at;
  std::int64_t payment = 0;
  int attempts = 0;
};
void add_provider_job(WriteTx& tx, const ProviderJob& job);
void remove_provider_job(WriteTx& tx, std::int64_t payment);
/// Moves the job and sets its `attempts`. Does nothing if there is no job.
void reschedule_provider_job(WriteTx& tx, std::int64_t payment, Timestamp due_at, int attempts);
/// Makes the job due now or earlier and resets its count. `due_at` always changes, so that a
/// running step notices the request for another step.
void hurry_provider_job(WriteTx& tx, std::int64_t payment);
/// Makes the job due at `due_at` and resets its count, unless it is already due earlier.
void hasten_provider_job(WriteTx& tx, std::int64_t payment, Timestamp due_at);
std::optional<ProviderJob> find_provider_job(Connection& db, std::int64_t payment);
/// Jobs of a lane due at or before `now`, oldest first.
std::vector<ProviderJob> due_provider_jobs(Connection& db, std::int64_t lane, Timestamp now,
                                           int limit);
/// Lanes with jobs.
std::vector<std::int64_t> provider_lanes(Connection& db);

/// Payments of an http connector that were submitted to this endpoint and have not ended.
std::int64_t payments_in_progress_at(Connection& db, std::int64_t connector, std::int64_t endpoint);
/// Payments through this connector that have not ended, or whose money waits for a decision.
std::int64_t unfinished_payments(Connection& db, std::int64_t connector);

/// The payment through this connector with this public ID.
std::optional<std::int64_t> find_provider_payment(Connection& db, std::int64_t connector,
                                                  PaymentId id);

}  // namespace coffer::store
