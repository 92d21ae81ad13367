#include "store/payments/destination_sums.h"

#include <limits>
#include <optional>

#include "base/check.h"
#include "domain/payments/payment.h"
#include "store/rows/columns.h"

namespace coffer::store {
namespace {

constexpr std::int64_t kFanOut = 64;
constexpr int kLevels = 3;  // a row of the last level sums 262,144 payments

#define OF_DESTINATION                                                                           \
  " WHERE connector = ?1 AND destination = (SELECT id FROM destinations WHERE destination = ?2)" \
  " AND level = ?3"
constexpr const char* kNewestSum =
    "SELECT first_at, last_at, payments FROM destination_sums" OF_DESTINATION
    " ORDER BY first_at DESC LIMIT 1";
constexpr const char* kBegin =
    "INSERT INTO destination_sums (connector, destination, level, first_at, last_at, payments,"
    " amount) VALUES (?1, (SELECT id FROM destinations WHERE destination = ?2), ?3, ?4, ?4, 1, ?5)";
constexpr const char* kExtend =
    "UPDATE destination_sums SET last_at = ?4, payments = payments + 1,"
    " amount = amount + ?5" OF_DESTINATION " AND first_at = ?6";
constexpr const char* kAdd =
    "UPDATE destination_sums SET amount = amount + ?5" OF_DESTINATION
    " AND first_at = (SELECT max(first_at) FROM destination_sums" OF_DESTINATION
    " AND first_at <= ?4)";
constexpr const char* kSum =
    "SELECT ifnull(sum(amount), 0), min(first_at) FROM destination_sums" OF_DESTINATION
    " AND first_at > ?4 AND first_at < ?5";
#undef OF_DESTINATION
// A change of a destination creates another row with the same ID.
constexpr const char* kPayments =
    "SELECT status, sending_amount, refunded_amount FROM payments WHERE destination IN"
    " (SELECT same.destination FROM destinations d JOIN destinations same ON same.id = d.id"
    "  WHERE d.destination = ?2)"
    " AND connector = ?1 AND created_at > ?3 AND created_at < ?4";

struct Newest {
  Timestamp first_at;
  Timestamp last_at;
  std::int64_t payments = 0;
};

std::optional<Newest> newest(Connection& db, const SentToDestination& sent, int level) {
  return first_of<Newest, Timestamp, Timestamp, std::int64_t>(db, kNewestSum, sent.connector,
                                                              sent.destination, level);
}

}  // namespace

void count_sent(WriteTx& tx, const SentToDestination& sent) {
  bool begins = true;  // true for this level only if the level below starts a row
  std::int64_t full = 1;
  for (int level = 1; level <= kLevels; ++level) {
    full *= kFanOut;
    const auto row = newest(tx.db(), sent, level);
    begins = begins && (!row || (row->payments >= full && row->last_at < tx.now()));
    if (begins) {
      tx.db().run(kBegin, sent.connector, sent.destination, level, tx.now(), sent.amount);
    } else {
      tx.db().run(kExtend, sent.connector, sent.destination, level, tx.now(), sent.amount,
                  row->first_at);
      COFFER_CHECK(tx.db().changes() == 1);
    }
  }
}

void recount_sent(WriteTx& tx, const SentToDestination& sent, Timestamp accepted_at) {
  for (int level = 1; level <= kLevels; ++level) {
    tx.db().run(kAdd, sent.connector, sent.destination, level, accepted_at, sent.amount);
    COFFER_CHECK(tx.db().changes() == 1);
  }
}

Amount sent_to_destination(Connection& db, std::int64_t connector, std::int64_t destination,
                           Timestamp since) {
  Amount sent;
  // Rows from this time on are already included in the sum.
  Timestamp until{std::numeric_limits<std::int64_t>::max()};
  // A row that starts in the window is entirely in it. The row before is read from the level below.
  for (int level = kLevels; level >= 1; --level) {
    Query query(db, kSum, connector, destination, level, since, until);
    COFFER_CHECK(query.step());
    sent = sent + query.amount(0);
    until = query.optional_time(1).value_or(until);
  }
  Query query(db, kPayments, connector, destination, since, until);
  while (query.step()) {
    const auto refunded = query.is_null(2) ? std::nullopt : std::optional(query.amount(2));
    sent = sent + counted_by_limits(query.enumeration<PaymentStatus>(0), query.amount(1), refunded);
  }
  return sent;
}

}  // namespace coffer::store
