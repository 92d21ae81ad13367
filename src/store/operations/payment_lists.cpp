#include "store/operations/payment_lists.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/digest.h"
#include "base/text/characters.h"
#include "store/operations/noun_lists.h"
#include "store/payments/payments.h"
#include "store/webhooks/events.h"

namespace coffer::store {
namespace {

constexpr const char* kKeyOfId = "SELECT payment FROM payments WHERE id = ?";

// Finding -----------------------------------------------------------------------------------------

/// Number of payments in one step of the search.
constexpr std::int64_t kRowsReadMax = kRowsMax / 2;

constexpr const char* kOfTransactionId =
    "SELECT p.payment FROM tenants t CROSS JOIN payments p"
    " ON p.tenant = t.tenant AND p.transaction_id = ?1 LIMIT ?2";
constexpr const char* kOfReversal =
    "SELECT r.payment FROM tenants t CROSS JOIN refunds r"
    " ON r.tenant = t.tenant AND r.transaction_id = ?1 LIMIT ?2";
constexpr const char* kOfRequest =
    "SELECT payment FROM payments WHERE payment >= ?1 AND payment < ?2 AND request_id = ?3"
    " ORDER BY payment LIMIT ?4";
constexpr const char* kOfHash =
    "SELECT payment FROM journal INDEXED BY journal_of_payment"
    " WHERE payment >= ?1 AND payment < ?2 AND link = ?3 ORDER BY payment DESC LIMIT ?4";
constexpr const char* kOfText =
    "SELECT payment, CASE WHEN request_id = ?3 THEN 0 WHEN from_ref = ?3 OR to_ref = ?3 OR type = 2"
    " THEN 1 ELSE 2 END FROM payments p WHERE payment >= ?1 AND payment < ?2"
    " AND (request_id = ?3 OR from_ref = ?3 OR to_ref = ?3"
    "  OR (type = 2 AND EXISTS (SELECT 1 FROM payment_legs l WHERE l.payment = p.payment"
    "   AND (l.from_ref = ?3 OR l.to_ref = ?3)))"
    "  OR (type IN (5, 6, 7) AND EXISTS (SELECT 1 FROM provider_payments v WHERE v.payment = "
    "p.payment"
    "   AND v.provider_reference = ?3)))"
    " ORDER BY payment DESC LIMIT ?4";
static_assert(stored(PaymentType::p2p_own_multi) == 2);
static_assert(values_that(has_legs) == 1U << 2);
static_assert(stored(PaymentType::offramp) == 5);
static_assert(stored(PaymentType::onramp) == 6);
static_assert(stored(PaymentType::onramp_reference) == 7);
static_assert(values_that(is_through_provider) == (1U << 5 | 1U << 6 | 1U << 7));
constexpr std::array kTextKinds = {FoundAs::request_id, FoundAs::reference,
                                   FoundAs::provider_reference};

constexpr std::size_t kHashDigits = 64;
// A request is accepted after it has waited for its commit, which rarely takes longer.
constexpr std::int64_t kAcceptedWithinMs = 60'000;
constexpr std::int64_t kClockSlackMs = 1'000;

std::optional<std::string> hash_of(std::string_view text) {
  return text.size() == kHashDigits ? from_hex(text) : std::nullopt;
}

class Search {
 public:
  Search(Connection& db, std::string_view text, int limit) : db_(db), text_(text), limit_(limit) {}

  std::vector<FoundPayment> exact() {
    const auto uuid = Uuid::parse(text_);
    if (uuid) by_id(*uuid);
    add(FoundAs::transaction_id, integers(db_, kOfTransactionId, text_, limit_));
    add(FoundAs::reversal, integers(db_, kOfReversal, text_, limit_));
    if (!uuid && found_.empty()) newest_of_wallets();
    PaymentsWanted wanted;
    wanted.metadata = metadata_of(text_);
    if (!wanted.metadata.empty()) add_newest(FoundAs::metadata, wanted);
    return std::move(found_);
  }

  /// Reads matches that have no index, in the payments from `low` up to, but excluding, `high`.
  std::vector<FoundPayment> read(std::int64_t low, std::int64_t high) {
    if (const auto hash = hash_of(text_)) {
      add(FoundAs::ledger_hash, integers(db_, kOfHash, low, high, Blob{*hash}, limit_));
    }
    Query q(db_, kOfText, low, high, text_, limit_);
    while (q.step()) {
      found_.push_back({q.integer(0), kTextKinds[static_cast<std::size_t>(q.integer(1))]});
    }
    return std::move(found_);
  }

 private:
  void add(FoundAs how, const std::vector<std::int64_t>& payments) {
    for (const std::int64_t payment : payments) found_.push_back({payment, how});
  }
  void add(FoundAs how, std::optional<std::int64_t> payment) {
    if (payment) found_.push_back({*payment, how});
  }
  void add_newest(FoundAs how, const PaymentsWanted& wanted) {
    add(how, newest_payments(db_, wanted, {.limit = limit_}).keys);
  }
  void newest_of_wallets() {
    for (const std::int64_t wallet : named_wallets(db_, text_)) {
      add_newest(FoundAs::wallet, {.wallet = wallet});
    }
  }
  void by_id(const Uuid& id) {
    add(FoundAs::id, first_integer(db_, kKeyOfId, id));
    add(FoundAs::quote, first_integer(db_, "SELECT payment FROM quotes WHERE id = ?", id));
    add(FoundAs::refund, first_integer(db_, "SELECT payment FROM refunds WHERE id = ?", id));
    if (const auto event = find_event(db_, EventId{id})) add(FoundAs::event, event->payment);
    newest_of_wallets();
    if (const auto beneficiary = beneficiary_key(db_, *BeneficiaryId::parse(text_))) {
      add_newest(FoundAs::beneficiary, {.beneficiary = beneficiary});
    }
    if (found_.empty()) by_request_time(id);
  }
  void by_request_time(const Uuid& id) {
    if (id.bytes[6] >> 4 != 7) return;
    const Timestamp made = id.time();
    const std::int64_t low = first_payment_since(db_, made.plus_ms(-kClockSlackMs));
    const std::int64_t high =
        std::min(first_payment_since(db_, made.plus_ms(kAcceptedWithinMs)), low + kRowsReadMax);
    add(FoundAs::request_id, integers(db_, kOfRequest, low, high, text_, limit_));
  }

  Connection& db_;
  const std::string_view text_;
  const int limit_;
  std::vector<FoundPayment> found_;
};

}  // namespace

KeyPage newest_payments(Connection& db, const PaymentsWanted& wanted, const PageAt& page) {
  KeyWalk walk(db, page);
  return PaymentWalk(db, wanted, walk).read();
}

PaymentCount count_payments(Connection& db, const PaymentsWanted& wanted) {
  PaymentsWanted only_times;
  only_times.from = wanted.from;
  only_times.to = wanted.to;
  if (wanted == only_times) {
    // Keys have no gaps.
    const std::int64_t first = wanted.from ? first_payment_since(db, *wanted.from) : 1;
    const std::int64_t end = wanted.to ? first_payment_since(db, *wanted.to) : last_payment(db) + 1;
    return {std::max<std::int64_t>(0, end - first), true};
  }
  const KeyPage found = newest_payments(db, wanted, {.limit = std::numeric_limits<int>::max()});
  return {static_cast<std::int64_t>(found.keys.size()), !found.next};
}

std::optional<std::int64_t> payment_key(Connection& db, PaymentId id) {
  const auto found = first_integer(db, kKeyOfId, id);
  if (found) require_payment_id(db, *found, id);
  return found;
}

std::string_view name(FoundAs how) {
  constexpr std::array<std::string_view, 13> kNames = {
      "id",         "transactionId", "quote",
      "event",      "wallet",        "beneficiary",
      "requestId",  "reference",     "providerReference",
      "ledgerHash", "metadata",      "reversal",
      "refund"};
  return kNames[static_cast<std::size_t>(how)];
}

FoundPayments find_payments(Connection& db, std::string_view text, const PageAt& at) {
  FoundPayments out;
  if (!at.key) {
    out.found = Search(db, text, at.limit).exact();
    if (!out.found.empty()) return out;
  }
  // Nothing that is found by its text is longer.
  if (character_count(text) > kProviderReferenceMax) return out;
  const std::int64_t high = at.key.value_or(last_payment(db) + 1);
  const std::int64_t low = std::max<std::int64_t>(1, high - kRowsReadMax);
  out.found = Search(db, text, at.limit).read(low, high);
  if (out.found.size() >= static_cast<std::size_t>(at.limit)) {
    out.next = out.found.back().payment;
  } else if (low > 1) {
    out.next = low;
  }
  return out;
}

}  // namespace coffer::store
