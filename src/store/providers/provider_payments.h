// Payments through a provider: where each stands, what has to be done about it and when, and every
// call that was made.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "domain/providers/provider_payment.h"
#include "store/payments/payments.h"
#include "store/write_tx.h"

namespace coffer::store {

/// What a step needs to decide and to apply an answer, by row keys.
struct ProviderView {
  SettlementView payment;
  ProviderState state = ProviderState::fresh;
  int attempts = 0;  // submissions so far
  Amount fee;
  Amount total;
  std::optional<Timestamp> first_sent_at;
  std::optional<Timestamp> expires_at;
  std::optional<std::int64_t> endpoint;  // of its connector, pinned by the first submission
  std::optional<Amount> collected;       // what the payer of an on-ramp paid, once that is known
};
ProviderView provider_view(Connection& db, std::int64_t payment);

/// What a driver is told beside the record: the parts that records do not show.
struct ProviderDetail {
  std::optional<TransactionType> type;
  std::optional<std::string> quote_reference;
};
ProviderDetail provider_detail(Connection& db, std::int64_t payment);

// The part's own columns; each call is one UPDATE.
void set_provider_state(WriteTx& tx, std::int64_t payment, ProviderState state);
/// A submission more; the first one sets first_sent_at and pins the payment to `endpoint`, where
/// the connector has one.
void count_submission(WriteTx& tx, ProviderView& view, std::optional<std::int64_t> endpoint);
void set_in_review(WriteTx& tx, std::int64_t payment, bool in_review);
void set_provider_reference(WriteTx& tx, std::int64_t payment, std::string_view reference);
void set_collected(WriteTx& tx, ProviderView& view, Amount collected);
/// Replaces what the payer has to do, and until when.
void set_instructions(WriteTx& tx, std::int64_t payment,
                      const std::map<std::string, std::string>& instructions, Timestamp expires_at);

/// An attempt that is open says that nobody knows what the provider did. Returns its number. The
/// rows are the payment's timeline with its provider.
int open_attempt(WriteTx& tx, std::int64_t payment, ProviderCall call);
void close_attempt(WriteTx& tx, std::int64_t payment, int attempt, std::string_view outcome);

// Jobs: one per payment under way. Lane 0 takes all drivers that answer at once; any other provider
// has the lane of its connector's key.
struct ProviderJob {
  std::int64_t lane = 0;
  Timestamp due_at;
  std::int64_t payment = 0;
  int attempts = 0;
};
void add_provider_job(WriteTx& tx, const ProviderJob& job);
void remove_provider_job(WriteTx& tx, std::int64_t payment);
/// Moves the job; `attempts` is what it counts from then on. Nothing when there is none.
void reschedule_provider_job(WriteTx& tx, std::int64_t payment, Timestamp due_at, int attempts);
/// Makes the job due, now or earlier, and lets it count from 0. `due_at` always changes, so that a
/// step that is in progress sees that it was asked for another one.
void hurry_provider_job(WriteTx& tx, std::int64_t payment);
/// Makes the job due at `due_at` and lets it count from 0, unless it is due earlier.
void hasten_provider_job(WriteTx& tx, std::int64_t payment, Timestamp due_at);
std::optional<ProviderJob> find_provider_job(Connection& db, std::int64_t payment);
/// Of a lane, due at or before `now`, oldest first.
std::vector<ProviderJob> due_provider_jobs(Connection& db, std::int64_t lane, Timestamp now,
                                           int limit);
/// Lanes that have jobs.
std::vector<std::int64_t> provider_lanes(Connection& db);

/// Payments of an http connector that were sent to this endpoint of it and have not ended.
std::int64_t payments_in_progress_at(Connection& db, std::int64_t connector, std::int64_t endpoint);

/// The payment under way with this connector that has this public id.
std::optional<std::int64_t> find_provider_payment(Connection& db, std::int64_t connector,
                                                  PaymentId id);

}  // namespace coffer::store
