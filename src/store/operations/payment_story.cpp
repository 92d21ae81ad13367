#include "store/operations/payment_story.h"

#include <algorithm>

#include "store/rows/columns.h"

namespace coffer::store {
namespace {

constexpr Column<StoryEntry> kEntryColumns[] = {
    joined<&StoryEntry::at>("j.at"),
    joined<&StoryEntry::kind>("j.kind"),
    joined<&StoryEntry::asset>("s.code"),
    joined<&StoryEntry::decimals>("s.decimals"),
    joined<&StoryEntry::amount>("e.amount"),
    joined<&StoryEntry::balance_after>("e.balance_after"),
    joined<&StoryEntry::account, &StoryAccount::kind>("a.kind"),
    joined<&StoryEntry::account, &StoryAccount::owner>("coalesce(w.name, k.name)"),
    joined<&StoryEntry::account, &StoryAccount::wallet>("w.id"),
    joined<&StoryEntry::counterparty, &StoryAccount::kind>("c.kind"),
    joined<&StoryEntry::counterparty, &StoryAccount::owner>("coalesce(cw.name, ck.name)"),
    joined<&StoryEntry::counterparty, &StoryAccount::wallet>("cw.id"),
};
const std::string kEntries =
    select(kEntryColumns) +
    " FROM journal j CROSS JOIN entries e"
    " ON e.entry BETWEEN j.journal * 1024 AND j.journal * 1024 + 1023"
    " CROSS JOIN accounts a ON a.account = e.account CROSS JOIN assets s ON s.asset = a.asset"
    " CROSS JOIN accounts c ON c.account = e.counterparty"
    " LEFT JOIN wallets w ON w.wallet = a.wallet LEFT JOIN connectors k ON k.connector = "
    "a.connector"
    " LEFT JOIN wallets cw ON cw.wallet = c.wallet"
    " LEFT JOIN connectors ck ON ck.connector = c.connector"
    " WHERE j.payment = ? ORDER BY j.journal, e.entry";
constexpr Column<StoryAttempt> kAttemptColumns[] = {
    joined<&StoryAttempt::attempt>("attempt"),     joined<&StoryAttempt::call>("call"),
    joined<&StoryAttempt::opened_at>("opened_at"), joined<&StoryAttempt::closed_at>("closed_at"),
    joined<&StoryAttempt::outcome>("outcome"),
};
const std::string kAttempts =
    select(kAttemptColumns) + " FROM provider_attempts WHERE payment = ? ORDER BY attempt";
constexpr const char* kEvents =
    "SELECT sequence FROM events WHERE tenant = ? AND sequence >= ? AND sequence < ? AND payment = "
    "?";
constexpr const char* kWebhooks =
    "SELECT webhook FROM webhooks INDEXED BY webhooks_by_tenant WHERE tenant = ?"
    " ORDER BY webhook DESC LIMIT ?";
constexpr const char* kJob =
    "SELECT due_at, attempts, 1 FROM provider_jobs WHERE payment = ?1"
    " UNION ALL SELECT settle_at, settle_attempts, 0 FROM payments"
    " WHERE payment = ?1 AND settle_at IS NOT NULL";
constexpr Column<StoryParties> kPartyColumns[] = {
    joined<&StoryParties::application>("a.name"),
    joined<&StoryParties::application_id>("a.id"),
    joined<&StoryParties::connector>("c.name"),
    joined<&StoryParties::rate, &Rate::numerator>("q.rate_numerator"),
    joined<&StoryParties::rate, &Rate::denominator>("q.rate_denominator"),
    joined<&StoryParties::provider_url>("e.base_url"),
};
const std::string kParties =
    select(kPartyColumns) +
    " FROM payments p JOIN applications a ON a.application = p.application"
    " LEFT JOIN connectors c ON c.connector = p.connector LEFT JOIN quotes q ON q.quote = p.quote"
    " LEFT JOIN provider_payments v ON v.payment = p.payment"
    " LEFT JOIN connector_endpoints e ON e.connector_endpoint = v.connector_endpoint"
    " WHERE p.payment = ?";

constexpr Column<StorySides> kSideColumns[] = {
    joined<&StorySides::source, &StorySide::name>(
        "coalesce(w.name, v.payer_name, iif(p.source_wallet IS NULL, c.name, NULL))"),
    joined<&StorySides::source, &StorySide::account>(
        "coalesce(w.account_number, v.payer_account, v.payer_phone)"),
    joined<&StorySides::destination, &StorySide::name>(
        "coalesce(b.company_name, b.first_name || ' ' || b.last_name, t.name)"),
    joined<&StorySides::destination, &StorySide::account>(
        "coalesce(d.account_number, d.iban, d.phone_number, d.wallet_address, t.account_number)"),
};
const std::string kSides =
    select(kSideColumns) +
    " FROM payments p LEFT JOIN wallets w ON w.wallet = p.source_wallet"
    " LEFT JOIN wallets t ON t.wallet = p.destination_wallet"
    " LEFT JOIN beneficiaries b ON b.beneficiary = p.beneficiary"
    " LEFT JOIN destinations d ON d.destination = p.destination"
    " LEFT JOIN connectors c ON c.connector = p.connector"
    " LEFT JOIN provider_payments v ON v.payment = p.payment WHERE p.payment = ?";
constexpr Column<StorySides> kLegSideColumns[] = {
    joined<&StorySides::source, &StorySide::name>("w.name"),
    joined<&StorySides::source, &StorySide::account>("w.account_number"),
    joined<&StorySides::destination, &StorySide::name>("t.name"),
    joined<&StorySides::destination, &StorySide::account>("t.account_number"),
};
const std::string kLegSides =
    select(kLegSideColumns) +
    " FROM payment_legs l LEFT JOIN wallets w ON w.wallet = l.source_wallet"
    " LEFT JOIN wallets t ON t.wallet = l.destination_wallet WHERE l.payment = ? ORDER BY l.leg";

}  // namespace

std::vector<StoryEntry> entries_of_payment(Connection& db, std::int64_t payment) {
  return all_rows<StoryEntry>(Query(db, kEntries.c_str(), payment), kEntryColumns);
}

std::vector<StoryAttempt> attempts_of_payment(Connection& db, std::int64_t payment) {
  return all_rows<StoryAttempt>(Query(db, kAttempts.c_str(), payment), kAttemptColumns);
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
  std::ranges::sort(sequences);
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
  return first_of<StoryJob, Timestamp, int, bool>(db, kJob, payment);
}

StorySides sides_of_payment(Connection& db, std::int64_t payment) {
  return only_row<StorySides>(db, kSides, kSideColumns, payment);
}

std::vector<StorySides> sides_of_legs(Connection& db, std::int64_t payment) {
  return all_rows<StorySides>(Query(db, kLegSides.c_str(), payment), kLegSideColumns);
}

StoryParties parties_of_payment(Connection& db, std::int64_t payment) {
  return only_row<StoryParties>(db, kParties, kPartyColumns, payment);
}

}  // namespace coffer::store
