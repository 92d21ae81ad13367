#include "store/operations/verification.h"

#include <algorithm>
#include <utility>

#include "base/telemetry/metrics.h"
#include "domain/payments/payment.h"
#include "store/identity/audit_log.h"
#include "store/payments/destination_sums.h"
#include "store/payments/payment_seal.h"
#include "store/rows/key_walk.h"
#include "store/schema_check.h"
#include "store/webhooks/events.h"

namespace coffer::store {
namespace {

constexpr std::int64_t kStepRows = 64;
// Each step reads all jobs, and little of each account.
constexpr std::int64_t kStepAccounts = 1'024;

constexpr const char* kNewestJournal = "SELECT coalesce(max(journal), 0) FROM journal";
constexpr const char* kNewestPayment = "SELECT coalesce(max(payment), 0) FROM payments";
constexpr const char* kVersions =
    "SELECT ifnull(sum(p.version + ifnull(q.revision, 0)), 0) FROM payments p"
    " LEFT JOIN provider_payments q ON q.payment = p.payment WHERE p.payment BETWEEN ?1 AND ?2";
constexpr const char* kNewestRefund = "SELECT coalesce(max(refund), 0) FROM refunds";
constexpr const char* kRefundsAfter =
    "SELECT refund, payment FROM refunds WHERE refund > ? ORDER BY refund";
constexpr const char* kNewestAccount = "SELECT coalesce(max(account), 0) FROM accounts";
constexpr const char* kNewestWebhook = "SELECT coalesce(max(webhook), 0) FROM webhooks";
constexpr const char* kOpenPayment =
    "SELECT 1 FROM payments WHERE payment BETWEEN ?1 AND ?2 AND status NOT IN (2, 3, 5, 7) LIMIT 1";
static_assert(stored(PaymentStatus::succeeded) == 2);
static_assert(stored(PaymentStatus::failed) == 3);
static_assert(stored(PaymentStatus::refunded) == 5);
static_assert(stored(PaymentStatus::expired) == 7);

constexpr const char* kDeliveryRows =
    "SELECT d.webhook, d.sequence, e.sequence IS NULL OR d.tries <>"
    "  (SELECT count(*) FROM delivery_attempts a"
    "   WHERE a.webhook = d.webhook AND a.sequence = d.sequence)"
    "  OR EXISTS (SELECT 1 FROM delivery_attempts a WHERE a.webhook = d.webhook"
    "   AND a.sequence < d.sequence AND a.sequence > ifnull((SELECT max(b.sequence)"
    "    FROM deliveries b WHERE b.webhook = d.webhook AND b.sequence < d.sequence), 0))"
    " FROM deliveries d JOIN webhooks w ON w.webhook = d.webhook"
    " LEFT JOIN events e ON e.tenant = w.tenant AND e.sequence = d.sequence"
    " WHERE (d.webhook, d.sequence) > (?1, ?2) ORDER BY d.webhook, d.sequence LIMIT ?3";
// A row of the first level sums payments, any other row the rows of the level below, and each row
// has one above it. This is the same on every level and reads few rows for each.
constexpr const char* kSums =
    "SELECT s.connector, s.destination, s.level, s.first_at,"
    " CASE WHEN s.level < 3 AND NOT EXISTS (SELECT 1 FROM destination_sums u"
    "   WHERE u.connector = s.connector AND u.destination = s.destination"
    "   AND u.level = s.level + 1 AND u.first_at <= s.first_at) THEN 1"
    "  WHEN s.level = 1 THEN (s.payments, s.amount, s.last_at) IS NOT"
    "   (SELECT count(*), ifnull(sum(" COFFER_COUNTED_BY_LIMITS
    "), 0),"
    "    max(p.created_at) FROM payments p WHERE p.connector = s.connector"
    "    AND p.destination IN (SELECT d.destination FROM destinations d WHERE d.id = s.destination)"
    "    AND p.created_at >= s.first_at AND p.created_at < s.until)"
    "  ELSE (s.payments, s.amount, s.last_at) IS NOT"
    "   (SELECT sum(l.payments), sum(l.amount), max(l.last_at) FROM destination_sums l"
    "    WHERE l.connector = s.connector AND l.destination = s.destination"
    "    AND l.level = s.level - 1 AND l.first_at >= s.first_at AND l.first_at < s.until) END"
    " FROM (SELECT c.*, ifnull((SELECT min(n.first_at) FROM destination_sums n"
    "   WHERE n.connector = c.connector AND n.destination = c.destination AND n.level = c.level"
    "   AND n.first_at > c.first_at), 9223372036854775807) AS until FROM destination_sums c"
    "  WHERE (c.connector, c.destination, c.level, c.first_at) > (?1, ?2, ?3, ?4)"
    "  ORDER BY c.connector, c.destination, c.level, c.first_at LIMIT ?5) s";
static_assert(stored(PaymentStatus::initiated) == 0);
static_assert(stored(PaymentStatus::processing) == 1);

template <class... Args>
std::int64_t newest(Connection& db, const char* sql, const Args&... args) {
  return first_integer(db, sql, args...).value_or(0);
}

const char* newest_of(Walk walk) {
  switch (walk) {
    case Walk::accounts:
      return kNewestAccount;
    case Walk::journal:
      return kNewestJournal;
    case Walk::webhooks:
      return kNewestWebhook;
    case Walk::payments:
    case Walk::snapshot:
    case Walk::copies:
    case Walk::whole:
      break;
  }
  throw InternalError("a walk without keys in a row");
}

}  // namespace

const std::array<Verification::Step, 13> Verification::kSteps = {
    &Verification::walk_journal, &Verification::walk_chain,        &Verification::walk_payments,
    &Verification::walk_events,  &Verification::walk_accounts,     &Verification::walk_webhooks,
    &Verification::walk_sums,    &Verification::walk_deliveries,   &Verification::walk_audit_log,
    &Verification::walk_bodies,  &Verification::walk_guarded_rows, &Verification::compare_end,
    &Verification::look_at_few,
};

std::vector<std::string> slice_queries() {
  std::vector<std::string> out{kDeliveryRows, kSums, kOpenPayment, kVersions};
  for (const Invariant& invariant : invariants()) {
    if (has_range(invariant.walk)) out.emplace_back(invariant.sql);
  }
  for (const SliceCheck& check : slice_checks()) out.emplace_back(check.sql);
  return out;
}

VerifiedRows Verification::slice(Connection& db, std::int64_t rows_max, std::int64_t ms_max) {
  const Stopwatch watch;
  VerifiedRows done;
  if (!begun_) begin_round();
  while (!done.round_over && done.rows < rows_max && watch.elapsed_us() < ms_max * 1'000) {
    ++done.rows;  // a step has a cost even if it finds no row
    bool more = false;
    try {
      more = (this->*kSteps[at_])(db, done);
    } catch (const SqlError& error) {
      if (!is_damage(error)) throw;
      add("sqlite_file", error.what());
    }
    if (!more) done.round_over = ++at_ == kSteps.size();
  }
  begun_ = !done.round_over;
  return done;
}

void Verification::begin_round() {
  // The violation may be in rows that are checked only once, so start again from the first row.
  if (!violations_.empty()) *this = Verification();
  at_ = 0;
  accounts_ = {};
  webhooks_ = {};
  guarded_ = {};
  body_ = 0;
  blocks_left_ = open_blocks_;
  reads_all_again_ = false;
  delivery_ = {};
  sum_ = {};
  sum_destination_.clear();
}

void Verification::add(std::string_view invariant, std::string detail) {
  if (detail.empty()) return;
  const bool known = std::ranges::any_of(
      violations_, [&](const Violation& one) { return one.invariant == invariant; });
  if (!known) violations_.push_back({std::string(invariant), std::move(detail)});
}

void Verification::check_range(Connection& db, Walk walk, const KeyRange& keys) {
  for (const Invariant& invariant : invariants()) {
    if (invariant.walk != walk) continue;
    add(invariant.name, first_break(db, walk, invariant.sql, keys));
  }
  for (const SliceCheck& check : slice_checks()) {
    if (check.walk == walk) add(check.invariant, first_break(db, walk, check.sql, keys));
  }
}

/// The keys after the position. The last range has no end, so that it includes rows that belong to
/// no key.
bool Verification::walk_keys(Connection& db, Walk walk, Position& from, VerifiedRows& done) {
  const std::int64_t step = walk == Walk::accounts ? kStepAccounts : kStepRows;
  const std::int64_t end = newest(db, newest_of(walk));
  const std::int64_t before = from.last;
  const bool last = end <= before + step;
  check_range(db, walk,
              {before == 0 ? kAllKeys.first : before + 1, last ? kAllKeys.last : before + step});
  from.last = last ? std::max(end, before) : before + step;
  done.rows += from.last - before;
  return !last;
}

bool Verification::walk_journal(Connection& db, VerifiedRows& done) {
  return walk_keys(db, Walk::journal, journal_, done);
}
bool Verification::walk_accounts(Connection& db, VerifiedRows& done) {
  return walk_keys(db, Walk::accounts, accounts_, done);
}
bool Verification::walk_webhooks(Connection& db, VerifiedRows& done) {
  return walk_keys(db, Walk::webhooks, webhooks_, done);
}

bool Verification::walk_chain(Connection& db, VerifiedRows& done) {
  ChainPiece piece = follow_journal(db, chain_, kStepRows);
  done.rows += piece.rows;
  add("hash_chain", std::move(piece.fault));
  return !piece.end;
}

bool Verification::walk_audit_log(Connection& db, VerifiedRows& done) {
  ChainPiece piece = follow_audit_log(db, acts_, kStepRows);
  done.rows += piece.rows;
  add("audit_log", std::move(piece.fault));
  return !piece.end;
}

/// Stops at the first invalid row, because the position cannot advance beyond it.
bool Verification::walk_guarded_rows(Connection& db, VerifiedRows& done) {
  GuardedPiece piece = follow_guarded_rows(db, guarded_, kStepRows);
  done.rows += piece.rows;
  const bool more = !piece.end && piece.fault.empty();
  add("guarded_rows", std::move(piece.fault));
  return more;
}

/// Blocks whose payments were complete when they were read, and of which money was given back
/// since.
void Verification::note_refunds(Connection& db) {
  if (next_block_ == 0) {  // all blocks are read after this
    refund_ = newest(db, kNewestRefund);
    return;
  }
  for (Query query(db, kRefundsAfter, refund_); query.step();) {
    refund_ = query.integer(0);
    const std::int64_t block = query.integer(1) / kStepRows;
    if (block >= next_block_) continue;
    open_blocks_.insert(block);
    blocks_left_.insert(block);
  }
}

/// Reads the blocks that could change, then new ones. The newest block is not full, so it can
/// change.
bool Verification::walk_payments(Connection& db, VerifiedRows& done) {
  note_refunds(db);
  const std::int64_t newest_block = newest(db, kNewestPayment) / kStepRows;
  std::int64_t block = next_block_;
  if (!blocks_left_.empty()) {
    block = *blocks_left_.begin();
    blocks_left_.erase(blocks_left_.begin());
  } else if (next_block_ > newest_block) {
    return false;
  } else {
    ++next_block_;
  }
  const KeyRange keys{block * kStepRows, block * kStepRows + kStepRows - 1};
  check_range(db, Walk::payments, keys);
  PaymentPiece piece = check_payments(db, keys.first, keys.last);
  add("payments", std::move(piece.fault));
  versions_.resize(std::max(versions_.size(), static_cast<std::size_t>(block) + 1));
  versions_[static_cast<std::size_t>(block)] = piece.versions;
  done.rows += kStepRows;
  Query open(db, kOpenPayment, keys.first, keys.last);
  if (block >= newest_block || open.step()) {
    open_blocks_.insert(block);
  } else {
    open_blocks_.erase(block);
  }
  return true;
}

bool Verification::walk_events(Connection& db, VerifiedRows& done) {
  return events_.step(db, kStepRows, done.rows, [this](std::string_view name, std::string detail) {
    add(name, std::move(detail));
  });
}

bool Verification::walk_deliveries(Connection& db, VerifiedRows& done) {
  std::int64_t rows = 0;
  Query query(db, kDeliveryRows, delivery_[0], delivery_[1], kStepRows);
  for (; query.step(); ++rows) {
    delivery_ = {query.integer(0), query.integer(1)};
    if (!query.boolean(2)) continue;
    add("deliveries_are_of_events",
        "webhook " + std::to_string(delivery_[0]) + " sequence " + std::to_string(delivery_[1]));
  }
  done.rows += rows;
  return rows == kStepRows;
}

bool Verification::walk_bodies(Connection& db, VerifiedRows& done) {
  EventBodyPiece piece = check_event_bodies(db, body_, kStepRows);
  body_ = piece.last;
  done.rows += piece.rows;
  add("events", std::move(piece.fault));
  return piece.rows == kStepRows;
}

bool Verification::walk_sums(Connection& db, VerifiedRows& done) {
  std::int64_t rows = 0;
  Query query(db, kSums, sum_[0], Blob{sum_destination_}, sum_[1], sum_[2], kStepRows);
  for (; query.step(); ++rows) {
    sum_ = {query.integer(0), query.integer(2), query.integer(3)};
    sum_destination_ = query.blob(1);
    if (!query.boolean(4)) continue;
    add("destination_sums_follow_payments", "connector " + std::to_string(sum_[0]) + " level " +
                                                std::to_string(sum_[1]) + " from " +
                                                std::to_string(sum_[2]));
  }
  done.rows += rows;
  return rows == kStepRows;
}

/// Compares the number of payments and the sum of their versions with the seal. Only payments in
/// open blocks, refunded and new ones can have changed since they were read; otherwise reads all
/// again, once.
bool Verification::compare_end(Connection& db, VerifiedRows& done) {
  if (reads_all_again_ && walk_payments(db, done)) return true;
  note_refunds(db);
  const std::int64_t newest_payment = newest(db, kNewestPayment);
  const std::int64_t newest_block = newest_payment / kStepRows;
  std::int64_t versions = 0;
  for (std::int64_t block = 0; block <= newest_block; ++block) {
    if (block < next_block_ && !open_blocks_.contains(block)) {
      versions += versions_[static_cast<std::size_t>(block)];
      continue;
    }
    versions += newest(db, kVersions, block * kStepRows, block * kStepRows + kStepRows - 1);
  }
  std::string fault = ledger_end_fault(db, newest_payment, versions);
  if (fault.empty()) return false;
  if (reads_all_again_) {
    add("payments", std::move(fault));
    return false;
  }
  reads_all_again_ = true;
  next_block_ = 0;
  return true;
}

bool Verification::look_at_few(Connection& db, VerifiedRows&) {
  check_range(db, Walk::whole, {});
  add("schema", schema_fault(db));
  return false;
}

}  // namespace coffer::store
