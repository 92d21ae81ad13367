#include "store/invariants.h"

#include <array>

#include "store/identity/acts.h"
#include "store/journal.h"

namespace coffer::store {
namespace {

constexpr std::array<Invariant, 16> kInvariants{{
    {"conservation", "Per environment and asset, all balances sum to zero.",
     "SELECT 'environment ' || t.environment || ' asset ' || a.asset || ' sums to ' || sum(a.balance)"
     " FROM accounts a JOIN tenants t ON t.tenant = a.tenant"
     " GROUP BY t.environment, a.asset HAVING sum(a.balance) <> 0"},
    {"no_overdraft", "No account but issuance and clearing has less balance than is held on it.",
     "SELECT 'account ' || account || ' has ' || balance || ' with ' || held || ' held'"
     " FROM accounts WHERE held < 0 OR (kind NOT IN (1, 4) AND balance < held)"},
    {"balance_is_sum_of_entries", "A stored balance is the sum of its entries.",
     "SELECT 'account ' || a.account || ' stores ' || a.balance || ', entries give ' ||"
     " coalesce(e.total, 0) FROM accounts a"
     " LEFT JOIN (SELECT account, sum(amount) AS total FROM entries GROUP BY account) e"
     " ON e.account = a.account WHERE a.balance <> coalesce(e.total, 0)"},
    {"held_is_sum_of_open_holds", "The held amount of an account is the sum of its open holds.",
     "SELECT 'account ' || a.account || ' stores ' || a.held || ' held, holds give ' ||"
     " coalesce(h.total, 0) FROM accounts a"
     " LEFT JOIN (SELECT account, sum(amount) AS total FROM holds WHERE state = 0 GROUP BY account) h"
     " ON h.account = a.account WHERE a.held <> coalesce(h.total, 0)"},
    {"entry_sets_balance", "Per entry set and asset, the entries sum to zero.",
     "SELECT 'journal ' || e.entry / 1024 || ' asset ' || a.asset || ' sums to ' || sum(e.amount)"
     " FROM entries e JOIN accounts a ON a.account = e.account"
     " GROUP BY e.entry / 1024, a.asset HAVING sum(e.amount) <> 0"},
    {"running_balances_chain", "Each entry's balance follows from the one before it.",
     "SELECT 'entry ' || entry || ' of account ' || account FROM (SELECT entry, account,"
     " balance_after - amount - coalesce(lag(balance_after) OVER"
     " (PARTITION BY account ORDER BY entry), 0) AS gap FROM entries) WHERE gap <> 0"},
    // A cash-out that its provider has accepted is debited before its outcome is known.
    {"settled_once", "A payment has one entry set once its value moved, and none before.",
     "SELECT 'payment ' || p.payment || ' in status ' || p.status || ' has ' || count(j.journal) ||"
     " ' entry sets' FROM payments p LEFT JOIN journal j ON j.payment = p.payment AND j.kind = 0"
     " LEFT JOIN provider_payments q ON q.payment = p.payment GROUP BY p.payment"
     " HAVING count(j.journal) <> (p.status IN (2, 4, 5, 6)"
     "  OR (p.status = 1 AND p.type = 5 AND q.state = 2))"},
    {"refunded_once", "A refunded payment has one refund set of what it took, any other none.",
     "SELECT 'payment ' || p.payment || ' in status ' || p.status || ' has ' || count(j.journal) ||"
     " ' refund sets' FROM payments p LEFT JOIN journal j ON j.payment = p.payment AND j.kind = 3"
     " GROUP BY p.payment HAVING count(j.journal) <> (p.status = 5)"},
    {"refunds_mirror_payments", "What a refunded payment took, its refund gave back.",
     "SELECT 'payment ' || j.payment || ' moved account ' || e.account || ' by ' || sum(e.amount)"
     " FROM payments p JOIN journal j ON j.payment = p.payment"
     " JOIN entries e ON e.entry / 1024 = j.journal WHERE p.status = 5"
     " GROUP BY j.payment, e.account HAVING sum(e.amount) <> 0"},
    {"holds_follow_payments", "A hold is open until its value moved or its payment failed.",
     "SELECT 'hold of payment ' || h.payment || ' on account ' || h.account FROM holds h"
     " JOIN payments p ON p.payment = h.payment"
     " LEFT JOIN provider_payments q ON q.payment = p.payment"
     " WHERE h.state <> CASE WHEN p.status = 1 AND p.type = 5 AND q.state = 2 THEN 1"
     "  WHEN p.status IN (0, 1) THEN 0 WHEN p.status IN (2, 4, 5, 6) THEN 1 ELSE 2 END"},
    {"work_is_queued", "A payment has a job exactly while it is under way.",
     "SELECT 'payment ' || p.payment || ' in status ' || p.status FROM payments p"
     " LEFT JOIN settlement_jobs s ON s.payment = p.payment"
     " LEFT JOIN provider_jobs r ON r.payment = p.payment"
     " WHERE (p.status IN (0, 1, 4)) <> ((s.payment IS NOT NULL) + (r.payment IS NOT NULL))"},
    {"quotes_used_once", "A quote and the payment that used it know each other.",
     "SELECT 'payment ' || p.payment FROM payments p LEFT JOIN quotes q ON q.quote = p.quote"
     " WHERE p.quote IS NOT NULL AND q.payment IS NOT p.payment"},
    {"events_tell_all", "A record of version n has n payment events, one of each version.",
     "SELECT 'payment ' || p.payment || ' of version ' || p.version || ' has ' || count(e.sequence) ||"
     " ' events' FROM payments p LEFT JOIN events e ON e.payment = p.payment AND e.type <= 6"
     " GROUP BY p.payment HAVING count(e.sequence) <> p.version OR max(e.version) <> p.version"},
    {"sequences_have_no_gap", "Event sequences of a tenant rise by one.",
     "SELECT 'tenant ' || tenant || ' sequence ' || sequence FROM (SELECT tenant, sequence,"
     " lag(sequence) OVER (PARTITION BY tenant ORDER BY sequence) AS before FROM events)"
     " WHERE before IS NOT NULL AND sequence <> before + 1"},
    {"types_claimed_by_active", "An event type is claimed by the active webhook that takes it.",
     "SELECT 'webhook ' || w.webhook || ' has ' || w.event_types || ', claims give ' ||"
     " coalesce(sum(1 << c.type), 0) FROM webhooks w"
     " LEFT JOIN webhook_types c ON c.webhook = w.webhook AND c.tenant = w.tenant GROUP BY w.webhook"
     " HAVING coalesce(sum(1 << c.type), 0) <> CASE WHEN w.disabled_at IS NULL"
     "  THEN w.event_types ELSE 0 END"},
    {"tenants_do_not_mix", "A payment moves only wallets of its own tenant, but for what it sends away.",
     "SELECT 'payment ' || j.payment || ' moved account ' || a.account FROM entries e"
     " JOIN journal j ON j.journal = e.entry / 1024 JOIN accounts a ON a.account = e.account"
     " JOIN payments p ON p.payment = j.payment"
     " JOIN tenants t ON t.tenant = a.tenant JOIN tenants u ON u.tenant = p.tenant"
     " WHERE t.environment <> u.environment OR (a.wallet IS NOT NULL AND a.tenant <> p.tenant"
     "  AND NOT (p.type IN (1, 4) AND e.amount > 0))"},
}};

constexpr const char* kIntegrityCheck = "PRAGMA integrity_check(1)";
constexpr const char* kForeignKeyCheck = "PRAGMA foreign_key_check";

}  // namespace

std::span<const Invariant> invariants() { return kInvariants; }

std::vector<Violation> verify(Connection& db, bool deep, const VerifyProgress& progress) {
  std::vector<Violation> out;
  const auto total = static_cast<std::int64_t>(kInvariants.size());
  for (std::int64_t i = 0; i < total; ++i) {
    const Invariant& invariant = kInvariants[static_cast<std::size_t>(i)];
    progress(invariant.name, i, total);
    Query query(db, invariant.sql);
    if (query.step()) out.push_back({std::string(invariant.name), query.text(0)});
  }
  std::string broken = verify_chain(db, [&](std::int64_t done, std::int64_t all) {
    progress("hash_chain", done, all);
  });
  if (!broken.empty()) out.push_back({"hash_chain", std::move(broken)});
  broken = verify_acts(db);
  if (!broken.empty()) out.push_back({"audit_log", std::move(broken)});
  if (!deep) return out;
  progress("sqlite_integrity", 0, 1);
  Query integrity(db, kIntegrityCheck);
  if (integrity.step() && integrity.text(0) != "ok") {
    out.push_back({"sqlite_integrity", integrity.text(0)});
  }
  Query foreign_keys(db, kForeignKeyCheck);
  if (foreign_keys.step()) out.push_back({"foreign_keys", "table " + foreign_keys.text(0)});
  progress("sqlite_integrity", 1, 1);
  return out;
}

}  // namespace coffer::store
