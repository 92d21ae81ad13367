#include "store/operations/payment_story.h"

#include <algorithm>

#include "base/check.h"
#include "store/operations/newest.h"

namespace coffer::store {
namespace {

constexpr const char* kEntries =
    "SELECT j.at, j.kind, s.code, s.decimals, e.amount, e.balance_after,"
    " a.kind, coalesce(w.name, k.name, ''), w.id, c.kind, coalesce(cw.name, ck.name, ''), cw.id"
    " FROM journal j CROSS JOIN entries e"
    " ON e.entry BETWEEN j.journal * 1024 AND j.journal * 1024 + 1023"
    " CROSS JOIN accounts a ON a.account = e.account CROSS JOIN assets s ON s.asset = a.asset"
    " CROSS JOIN accounts c ON c.account = e.counterparty"
    " LEFT JOIN wallets w ON w.wallet = a.wallet LEFT JOIN connectors k ON k.connector = "
    "a.connector"
    " LEFT JOIN wallets cw ON cw.wallet = c.wallet"
    " LEFT JOIN connectors ck ON ck.connector = c.connector"
    " WHERE j.payment = ? ORDER BY j.journal, e.entry";
constexpr const char* kAttempts =
    "SELECT attempt, call, opened_at, closed_at, outcome FROM provider_attempts WHERE payment = ?"
    " ORDER BY attempt";
constexpr const char* kEvents =
    "SELECT sequence FROM events WHERE tenant = ? AND sequence >= ? AND sequence < ? AND payment = "
    "?";
constexpr const char* kWebhooks =
    "SELECT webhook FROM webhooks INDEXED BY webhooks_by_tenant WHERE tenant = ?"
    " ORDER BY webhook DESC LIMIT ?";
constexpr const char* kProviderJob = "SELECT due_at, attempts FROM provider_jobs WHERE payment = ?";
constexpr const char* kSettlementJob =
    "SELECT due_at, attempts FROM settlement_jobs WHERE payment = ?";
constexpr const char* kParties =
    "SELECT a.name, a.id, c.name, q.rate_numerator, q.rate_denominator, e.base_url FROM payments p"
    " JOIN applications a ON a.application = p.application"
    " LEFT JOIN connectors c ON c.connector = p.connector LEFT JOIN quotes q ON q.quote = p.quote"
    " LEFT JOIN provider_payments v ON v.payment = p.payment"
    " LEFT JOIN connector_endpoints e ON e.connector_endpoint = v.connector_endpoint"
    " WHERE p.payment = ?";

constexpr const char* kSides =
    "SELECT coalesce(w.name, v.payer_name, iif(p.source_wallet IS NULL, c.name, NULL)),"
    " coalesce(w.account_number, v.payer_account, v.payer_phone),"
    " coalesce(b.company_name, b.first_name || ' ' || b.last_name, t.name),"
    " coalesce(d.account_number, d.iban, d.phone_number, d.wallet_address, t.account_number)"
    " FROM payments p LEFT JOIN wallets w ON w.wallet = p.source_wallet"
    " LEFT JOIN wallets t ON t.wallet = p.destination_wallet"
    " LEFT JOIN beneficiaries b ON b.beneficiary = p.beneficiary"
    " LEFT JOIN destinations d ON d.destination = p.destination"
    " LEFT JOIN connectors c ON c.connector = p.connector"
    " LEFT JOIN provider_payments v ON v.payment = p.payment WHERE p.payment = ?";
constexpr const char* kLegSides =
    "SELECT w.name, w.account_number, t.name, t.account_number FROM payment_legs l"
    " LEFT JOIN wallets w ON w.wallet = l.source_wallet"
    " LEFT JOIN wallets t ON t.wallet = l.destination_wallet WHERE l.payment = ? ORDER BY l.leg";

StorySides sides_at(const Query& q) {
  return {{q.optional_text(0), q.optional_text(1)}, {q.optional_text(2), q.optional_text(3)}};
}

/// Reads three columns.
StoryAccount account_at(const Query& q, int column) {
  return {q.enumeration<AccountKind>(column), q.text(column + 1),
          q.optional_id<WalletId>(column + 2)};
}

std::optional<StoryJob> job(Connection& db, const char* sql, std::int64_t payment,
                            bool with_provider) {
  Query q(db, sql, payment);
  if (!q.step()) return std::nullopt;
  return StoryJob{q.time(0), static_cast<int>(q.integer(1)), with_provider};
}

}  // namespace

std::vector<StoryEntry> entries_of_payment(Connection& db, std::int64_t payment) {
  std::vector<StoryEntry> out;
  Query q(db, kEntries, payment);
  while (q.step()) {
    out.push_back({q.time(0), q.enumeration<JournalKind>(1), account_at(q, 6), account_at(q, 9),
                   q.asset_code(2), static_cast<int>(q.integer(3)), q.amount(4), q.amount(5)});
  }
  return out;
}

std::vector<StoryAttempt> attempts_of_payment(Connection& db, std::int64_t payment) {
  std::vector<StoryAttempt> out;
  Query q(db, kAttempts, payment);
  while (q.step()) {
    out.push_back({static_cast<int>(q.integer(0)), q.enumeration<ProviderCall>(1), q.time(2),
                   q.optional_time(3), q.optional_text(4)});
  }
  return out;
}

std::vector<EventRow> events_of_payment(Connection& db, const Tenant& tenant, std::int64_t payment,
                                        std::span<const Timestamp> changes) {
  std::vector<std::int64_t> sequences;
  for (const Timestamp at : changes) {
    const auto here = integers(db, kEvents, tenant.key, first_sequence_since(db, tenant, at),
                               first_sequence_since(db, tenant, at.plus_ms(1)), payment);
    sequences.insert(sequences.end(), here.begin(), here.end());
  }
  // Several changes may be in the same millisecond.
  std::sort(sequences.begin(), sequences.end());
  sequences.erase(std::unique(sequences.begin(), sequences.end()), sequences.end());
  std::vector<EventRow> out;
  for (const std::int64_t sequence : sequences) {
    out.push_back(*event_at(db, tenant, sequence));
  }
  return out;
}

std::vector<std::int64_t> webhooks_of_tenant(Connection& db, const Tenant& tenant, int limit) {
  return integers(db, kWebhooks, tenant.key, limit);
}

std::optional<StoryJob> job_of_payment(Connection& db, std::int64_t payment) {
  if (const auto found = job(db, kProviderJob, payment, true)) return found;
  return job(db, kSettlementJob, payment, false);
}

StorySides sides_of_payment(Connection& db, std::int64_t payment) {
  Query q(db, kSides, payment);
  COFFER_CHECK(q.step());
  return sides_at(q);
}

std::vector<StorySides> sides_of_legs(Connection& db, std::int64_t payment) {
  std::vector<StorySides> out;
  for (Query q(db, kLegSides, payment); q.step();) out.push_back(sides_at(q));
  return out;
}

StoryParties parties_of_payment(Connection& db, std::int64_t payment) {
  Query q(db, kParties, payment);
  COFFER_CHECK(q.step());
  StoryParties out;
  out.application = q.text(0);
  out.application_id = q.id<ApplicationId>(1);
  out.connector = q.optional_text(2);
  if (!q.is_null(3)) out.rate = Rate{q.integer(3), q.integer(4)};
  out.provider_url = q.optional_text(5);
  return out;
}

}  // namespace coffer::store
