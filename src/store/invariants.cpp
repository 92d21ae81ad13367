#include "store/invariants.h"

#include <array>

#include "store/journal.h"

namespace coffer::store {
namespace {

constexpr std::array<Invariant, 12> kInvariants{{
    {"conservation", "Per environment and asset, all balances sum to zero.",
     "SELECT 'environment ' || t.environment || ' asset ' || a.asset || ' sums to ' || sum(a.balance)"
     " FROM accounts a JOIN tenants t ON t.tenant = a.tenant"
     " GROUP BY t.environment, a.asset HAVING sum(a.balance) <> 0"},
    {"no_overdraft", "No account but issuance has less balance than is held on it.",
     "SELECT 'account ' || account || ' has ' || balance || ' with ' || held || ' held'"
     " FROM accounts WHERE held < 0 OR (kind <> 1 AND balance < held)"},
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
    {"settled_once", "A succeeded payment has exactly one entry set, any other unrefunded one none.",
     "SELECT 'payment ' || p.payment || ' in status ' || p.status || ' has ' || count(j.journal) ||"
     " ' entry sets' FROM payments p LEFT JOIN journal j ON j.payment = p.payment AND j.kind = 0"
     " GROUP BY p.payment HAVING (p.status = 2 AND count(j.journal) <> 1)"
     " OR (p.status IN (0, 1, 3, 7) AND count(j.journal) <> 0)"},
    {"holds_follow_payments", "A hold is open while its payment is under way and closed after.",
     "SELECT 'hold of payment ' || h.payment || ' on account ' || h.account FROM holds h"
     " JOIN payments p ON p.payment = h.payment WHERE (h.state = 0) <> (p.status IN (0, 1))"
     " OR (h.state = 1 AND p.status <> 2) OR (h.state = 2 AND p.status = 2)"},
    {"work_is_queued", "A payment has a settlement job exactly while it is under way.",
     "SELECT 'payment ' || p.payment || ' in status ' || p.status FROM payments p"
     " LEFT JOIN settlement_jobs s ON s.payment = p.payment"
     " WHERE (p.status IN (0, 1)) <> (s.payment IS NOT NULL)"},
    {"events_tell_all", "A record of version n has n payment events, one of each version.",
     "SELECT 'payment ' || p.payment || ' of version ' || p.version || ' has ' || count(e.sequence) ||"
     " ' events' FROM payments p LEFT JOIN events e ON e.payment = p.payment"
     " GROUP BY p.payment HAVING count(e.sequence) <> p.version OR max(e.version) <> p.version"},
    {"sequences_have_no_gap", "Event sequences of a tenant rise by one.",
     "SELECT 'tenant ' || tenant || ' sequence ' || sequence FROM (SELECT tenant, sequence,"
     " lag(sequence) OVER (PARTITION BY tenant ORDER BY sequence) AS before FROM events)"
     " WHERE before IS NOT NULL AND sequence <> before + 1"},
    {"tenants_do_not_mix", "A payment moves only wallets of its own tenant.",
     "SELECT 'payment ' || j.payment || ' moved account ' || a.account FROM entries e"
     " JOIN journal j ON j.journal = e.entry / 1024 JOIN accounts a ON a.account = e.account"
     " JOIN payments p ON p.payment = j.payment"
     " WHERE a.wallet IS NOT NULL AND a.tenant <> p.tenant"},
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
