#include "store/providers/provider_payments.h"

#include <algorithm>

#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

constexpr Column<ProviderView> kViewColumns[] = {
    joined<&ProviderView::state>("state"),
    joined<&ProviderView::attempts>("attempts"),
    joined<&ProviderView::fee>("fee"),
    joined<&ProviderView::total>("total"),
    joined<&ProviderView::first_sent_at>("first_sent_at"),
    joined<&ProviderView::expires_at>("expires_at"),
    joined<&ProviderView::endpoint>("connector_endpoint"),
    joined<&ProviderView::collected>("collected_amount"),
    joined<&ProviderView::open_item>("open_item"),
};
const std::string kView = select(kViewColumns) + " FROM provider_payments WHERE payment = ?";
constexpr Column<ProviderDetail> kDetailColumns[] = {
    joined<&ProviderDetail::type>("v.transaction_type"),
    joined<&ProviderDetail::quote_reference>("q.provider_reference"),
};
const std::string kDetail = select(kDetailColumns) +
                            " FROM provider_payments v JOIN payments p ON p.payment = v.payment "
                            "LEFT JOIN quotes q ON q.quote = p.quote"
                            " WHERE v.payment = ?";
constexpr const char* kCountSubmission =
    "UPDATE provider_payments SET attempts = attempts + 1,"
    " first_sent_at = coalesce(first_sent_at, ?),"
    " connector_endpoint = coalesce(connector_endpoint, ?) WHERE payment = ?";
constexpr const char* kCountOpenItems =
    "SELECT count(*) FROM (SELECT 1 FROM provider_payments INDEXED BY provider_payments_open"
    " WHERE open_item = ?1 AND open_item <> 0 LIMIT ?2)";
static_assert(stored(OpenItem::none) == 0);
constexpr const char* kNextAttempt =
    "SELECT coalesce(max(attempt), 0) + 1 FROM provider_attempts WHERE payment = ?";
constexpr const char* kOpenAttempt =
    "INSERT INTO provider_attempts (payment, attempt, call, opened_at) VALUES (?, ?, ?, ?)";
constexpr const char* kCloseAttempt =
    "UPDATE provider_attempts SET closed_at = ?, outcome = ?"
    " WHERE payment = ? AND attempt = ? AND closed_at IS NULL";
constexpr Column<ProviderJob> kJobColumns[] = {
    column<&ProviderJob::lane>("lane"),
    column<&ProviderJob::due_at>("due_at"),
    column<&ProviderJob::payment>("payment"),
    column<&ProviderJob::attempts>("attempts"),
};
const std::string kAddJob = ColumnList{}.add(kJobColumns).insert_into("provider_jobs");
constexpr const char* kRemoveJob = "DELETE FROM provider_jobs WHERE payment = ?";
constexpr const char* kHurry =
    "UPDATE provider_jobs SET due_at = min(due_at - 1, ?1), attempts = 0 WHERE payment = ?2";
constexpr const char* kHasten =
    "UPDATE provider_jobs SET due_at = ?1, attempts = 0 WHERE payment = ?2 AND due_at > ?1";
const std::string kFindJob = select(kJobColumns) + " FROM provider_jobs WHERE payment = ?";
const std::string kDueJobs =
    select(kJobColumns) +
    " FROM provider_jobs WHERE lane = ? AND due_at <= ? ORDER BY due_at, payment LIMIT ?";
// Skips from lane to lane along the index, independent of the number of jobs.
constexpr const char* kLanes =
    "WITH RECURSIVE lanes(lane) AS (SELECT min(lane) FROM provider_jobs UNION ALL"
    " SELECT (SELECT min(j.lane) FROM provider_jobs j WHERE j.lane > lanes.lane) FROM lanes"
    " WHERE lanes.lane IS NOT NULL) SELECT lane FROM lanes WHERE lane IS NOT NULL";
// An http connector has its own lane.
constexpr const char* kInProgressAt =
    "SELECT count(*) FROM provider_jobs j CROSS JOIN provider_payments v ON v.payment = j.payment"
    " WHERE j.lane = ? AND v.connector_endpoint = ?";
constexpr const char* kUnfinished =
    "SELECT (SELECT count(*) FROM provider_jobs j CROSS JOIN payments p ON p.payment = j.payment"
    " WHERE j.lane IN (0, ?1) AND p.connector = ?1) + (SELECT count(*) FROM provider_payments v"
    " CROSS JOIN payments p ON p.payment = v.payment"
    " WHERE v.open_item <> 0 AND v.open_item < 4 AND p.connector = ?1)";
constexpr const char* kFindPayment = "SELECT payment FROM payments WHERE id = ? AND connector = ?";

}  // namespace

ProviderView provider_view(WriteTx& tx, std::int64_t payment) {
  auto view = only_row<ProviderView>(tx.db(), kView, kViewColumns, payment);
  view.payment = settlement_view(tx.db(), payment);
  // A part that changed in this commit gets its digest at the end.
  const bool is_new = std::ranges::find(tx.provider_parts(), payment) != tx.provider_parts().end();
  if (!is_new && !has_intact_provider_part(tx.db(), payment)) {
    throw ForeignChange("the provider part of payment " + std::to_string(payment) +
                        " was changed by another program");
  }
  require_open(tx, view.payment.sealed);
  return view;
}

ProviderDetail provider_detail(Connection& db, std::int64_t payment) {
  return only_row<ProviderDetail>(db, kDetail, kDetailColumns, payment);
}

void set_provider_state(WriteTx& tx, std::int64_t payment, ProviderState state) {
  tx.db().run("UPDATE provider_payments SET state = ? WHERE payment = ?", state, payment);
  tx.provider_parts().push_back(payment);
}

void count_submission(WriteTx& tx, ProviderView& view, std::optional<std::int64_t> endpoint) {
  tx.db().run(kCountSubmission, tx.now(), endpoint, view.payment.key);
  tx.provider_parts().push_back(view.payment.key);
  ++view.attempts;
  if (!view.first_sent_at) view.first_sent_at = tx.now();
  if (!view.endpoint) view.endpoint = endpoint;
}

void set_in_review(WriteTx& tx, std::int64_t payment, bool in_review) {
  tx.db().run("UPDATE provider_payments SET in_review = ? WHERE payment = ?", in_review, payment);
  tx.provider_parts().push_back(payment);
}

void set_provider_reference(WriteTx& tx, std::int64_t payment, std::string_view reference) {
  tx.db().run("UPDATE provider_payments SET provider_reference = ? WHERE payment = ?", reference,
              payment);
  tx.provider_parts().push_back(payment);
}

void set_collected(WriteTx& tx, ProviderView& view, Amount collected) {
  tx.db().run("UPDATE provider_payments SET collected_amount = ? WHERE payment = ?", collected,
              view.payment.key);
  tx.provider_parts().push_back(view.payment.key);
  view.collected = collected;
}

void set_open_item(WriteTx& tx, std::int64_t payment, OpenItem item) {
  tx.db().run("UPDATE provider_payments SET open_item = ? WHERE payment = ?", item, payment);
  tx.provider_parts().push_back(payment);
}

std::int64_t count_open_items(Connection& db, OpenItem item, std::int64_t limit) {
  return first_integer(db, kCountOpenItems, item, limit).value_or(0);
}

void set_instructions(WriteTx& tx, std::int64_t payment,
                      const std::map<std::string, std::string>& instructions,
                      Timestamp expires_at) {
  tx.db().run("UPDATE provider_payments SET expires_at = ? WHERE payment = ?", expires_at, payment);
  tx.db().run("DELETE FROM payment_instructions WHERE payment = ?", payment);
  for (const auto& [name, value] : instructions) {
    tx.db().run("INSERT INTO payment_instructions (payment, name, value) VALUES (?, ?, ?)", payment,
                name, value);
  }
  tx.provider_parts().push_back(payment);
}

int open_attempt(WriteTx& tx, std::int64_t payment, ProviderCall call) {
  const auto attempt = static_cast<int>(first_integer(tx.db(), kNextAttempt, payment).value());
  tx.db().run(kOpenAttempt, payment, attempt, call, tx.now());
  return attempt;
}

void close_attempt(WriteTx& tx, std::int64_t payment, int attempt, std::string_view outcome) {
  tx.db().run(kCloseAttempt, tx.now(), outcome, payment, attempt);
}

void add_provider_job(WriteTx& tx, const ProviderJob& job) {
  insert_row(tx.db(), kAddJob, kJobColumns, job);
}

void remove_provider_job(WriteTx& tx, std::int64_t payment) { tx.db().run(kRemoveJob, payment); }

void reschedule_provider_job(WriteTx& tx, std::int64_t payment, Timestamp due_at, int attempts) {
  tx.db().run("UPDATE provider_jobs SET due_at = ?, attempts = ? WHERE payment = ?", due_at,
              attempts, payment);
}

void hurry_provider_job(WriteTx& tx, std::int64_t payment) {
  tx.db().run(kHurry, tx.now(), payment);
}

void hasten_provider_job(WriteTx& tx, std::int64_t payment, Timestamp due_at) {
  tx.db().run(kHasten, due_at, payment);
}

std::optional<ProviderJob> find_provider_job(Connection& db, std::int64_t payment) {
  return first_row<ProviderJob>(db, kFindJob, kJobColumns, payment);
}

std::vector<ProviderJob> due_provider_jobs(Connection& db, std::int64_t lane, Timestamp now,
                                           int limit) {
  return all_rows<ProviderJob>(Query(db, kDueJobs.c_str(), lane, now, limit), kJobColumns);
}

std::vector<std::int64_t> provider_lanes(Connection& db) { return integers(db, kLanes); }

std::int64_t payments_in_progress_at(Connection& db, std::int64_t connector,
                                     std::int64_t endpoint) {
  return first_integer(db, kInProgressAt, connector, endpoint).value();
}

std::int64_t unfinished_payments(Connection& db, std::int64_t connector) {
  return first_integer(db, kUnfinished, connector).value();
}

std::optional<std::int64_t> find_provider_payment(Connection& db, std::int64_t connector,
                                                  PaymentId id) {
  const auto found = first_integer(db, kFindPayment, id, connector);
  if (found) require_payment_id(db, *found, id);
  return found;
}

}  // namespace coffer::store
