#include "store/invariants.h"

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"
#include "base/thread.h"
#include "domain/payments/refund.h"
#include "domain/providers/provider_payment.h"
#include "domain/webhooks/event_type.h"
#include "store/commits/quota_book.h"
#include "store/identity/audit_log.h"
#include "store/ledger/journal.h"
#include "store/ledger/periods.h"
#include "store/payments/destination_sums.h"
#include "store/payments/payment_seal.h"
#include "store/rows/guarded_rows.h"
#include "store/schema_check.h"
#include "store/webhooks/events.h"

namespace coffer::store {
namespace {

constexpr std::array<Invariant, 42> kInvariants{{
    {"conservation", "Per environment and asset, all balances sum to zero.", Walk::snapshot,
     "SELECT 'environment ' || t.environment || ' asset ' || a.asset || ' sums to ' || "
     "sum(a.balance)"
     " FROM accounts a JOIN tenants t ON t.tenant = a.tenant"
     " GROUP BY t.environment, a.asset HAVING sum(a.balance) <> 0"},
    {"no_overdraft",
     "Only issuance and clearing accounts may have a balance below their held amount.",
     Walk::accounts,
     "SELECT 'account ' || account || ' has ' || balance || ' with ' || held || ' held'"
     " FROM accounts WHERE account BETWEEN ?1 AND ?2"
     " AND (held < 0 OR (kind NOT IN (1, 4) AND balance < held))"},
    {"balance_is_sum_of_entries", "A stored balance equals the sum of its entries.", Walk::accounts,
     // Together with running_balances_chain, the last entry has the sum.
     "SELECT 'account ' || account || ' stores ' || balance || ', entries give ' || total FROM"
     " (SELECT a.account, a.balance, coalesce((SELECT e.balance_after FROM entries e"
     "   WHERE e.account = a.account ORDER BY e.entry DESC LIMIT 1), 0) AS total"
     "  FROM accounts a WHERE a.account BETWEEN ?1 AND ?2) WHERE balance <> total"},
    {"held_is_sum_of_open_holds", "The held amount of an account equals the sum of its open holds.",
     Walk::snapshot,
     "SELECT 'account ' || a.account || ' stores ' || a.held || ' held, holds give ' ||"
     " coalesce(h.total, 0) FROM accounts a"
     " LEFT JOIN (SELECT account, sum(amount) AS total FROM payment_holds WHERE state = 0"
     "  GROUP BY account) h"
     " ON h.account = a.account WHERE a.held <> coalesce(h.total, 0)"},
    {"entry_sets_balance", "Per entry set, environment and asset, the entries sum to zero.",
     Walk::journal,
     "SELECT 'journal ' || e.entry / 1024 || ' asset ' || a.asset || ' sums to ' || sum(e.amount)"
     " FROM entries e JOIN accounts a ON a.account = e.account"
     " JOIN tenants t ON t.tenant = a.tenant"
     " WHERE e.entry BETWEEN ?1 * 1024 AND ?2 * 1024 + 1023"
     " GROUP BY e.entry / 1024, t.environment, a.asset HAVING sum(e.amount) <> 0"},
    {"running_balances_chain", "The balance of each entry follows from the previous entry.",
     Walk::journal,
     "SELECT 'entry ' || e.entry || ' of account ' || e.account FROM entries e"
     " WHERE e.entry BETWEEN ?1 * 1024 AND ?2 * 1024 + 1023 AND e.balance_after - e.amount <>"
     " coalesce((SELECT b.balance_after FROM entries b WHERE b.account = e.account"
     "  AND b.entry < e.entry ORDER BY b.entry DESC LIMIT 1), 0)"},
    {"never_below_zero", "Only issuance and clearing accounts may ever have been below zero.",
     Walk::journal,
     "SELECT 'account ' || e.account || ' had ' || e.balance_after || ' after entry ' || e.entry"
     " FROM entries e LEFT JOIN accounts a ON a.account = e.account"
     " WHERE e.entry BETWEEN ?1 * 1024 AND ?2 * 1024 + 1023 AND e.balance_after < 0"
     " AND coalesce(a.kind, 0) NOT IN (1, 4)"},
    {"journal_in_order",
     "Entry sets have consecutive numbers, ascending times and at least one entry.", Walk::journal,
     "SELECT 'journal ' || j.journal FROM journal j LEFT JOIN journal b ON b.journal = j.journal - "
     "1"
     " WHERE j.journal BETWEEN ?1 AND ?2 AND ((b.journal IS NULL AND j.journal <> 1)"
     " OR j.at < coalesce(b.at, 0) OR NOT EXISTS (SELECT 1 FROM entries"
     "  WHERE entry BETWEEN j.journal * 1024 AND j.journal * 1024 + 1023))"},
    // An off-ramp that its provider has accepted is debited before its result is known.
    // After a refund, a correction to succeeded moves it again.
    {"settled_once", "A payment has exactly one entry set after its value moved, and none before.",
     Walk::payments,
     "SELECT 'payment ' || p.payment || ' in status ' || p.status || ' has ' || count(j.journal) ||"
     " ' entry sets' FROM payments p LEFT JOIN journal j ON j.payment = p.payment AND j.kind = 0"
     " LEFT JOIN provider_payments q ON q.payment = p.payment"
     " WHERE p.payment BETWEEN ?1 AND ?2 GROUP BY p.payment"
     " HAVING count(j.journal) <> (p.status IN (2, 4, 5, 6)"
     "  OR (p.status = 1 AND p.type = 5 AND q.state = 2))"
     "  + ((p.status = 2 OR p.refunded_amount IS NOT NULL) AND p.corrected_from IS 5)"},
    // The joins are in the order in which they are read, along the journal, so nothing is sorted.
    {"entries_follow_payments", "The entries of a payment match its record exactly.", Walk::journal,
     "SELECT 'payment ' || payment || ' moved ' || sent || ' and ' || got || ' in ' || lines ||"
     " ' entries' FROM (SELECT p.payment, p.type, p.source_wallet, p.destination_wallet,"
     "  p.sending_amount + iif(p.type = 5, q.fee, 0) AS sending,"
     "  coalesce(p.receiving_amount, p.sending_amount) AS receiving,"
     "  coalesce(sum(e.amount) FILTER (WHERE e.amount < 0 AND a.wallet = p.source_wallet"
     "   AND a.asset = p.sending_asset), 0) AS sent,"
     "  coalesce(sum(e.amount) FILTER (WHERE e.amount > 0 AND a.wallet = p.destination_wallet"
     "   AND a.asset = coalesce(p.receiving_asset, p.sending_asset)), 0) AS got,"
     "  CASE WHEN p.type IN (3, 4) OR (p.type = 5 AND q.fee > 0) THEN 4 ELSE 2 END AS wanted,"
     "  count(*) AS lines FROM journal j CROSS JOIN payments p ON p.payment = j.payment"
     "  CROSS JOIN entries e ON e.entry BETWEEN j.journal * 1024 AND j.journal * 1024 + 1023"
     "  CROSS JOIN accounts a ON a.account = e.account"
     "  LEFT JOIN provider_payments q ON q.payment = p.payment"
     "  WHERE j.journal BETWEEN ?1 AND ?2 AND j.kind = 0 AND p.type <> 2 GROUP BY j.journal)"
     " WHERE lines <> wanted"
     " OR (source_wallet IS NOT NULL AND sent <> -sending)"
     " OR (destination_wallet IS NOT NULL AND got <> receiving)"},
    {"entries_follow_legs", "The entries of a multi-transfer match its legs exactly.",
     Walk::payments,
     "SELECT 'payment ' || l.payment || ' leg ' || l.leg FROM payment_legs l"
     " CROSS JOIN journal j ON j.payment = l.payment AND j.kind = 0"
     " LEFT JOIN entries d ON d.entry = j.journal * 1024 + 2 * l.leg"
     " LEFT JOIN accounts s ON s.account = d.account"
     " LEFT JOIN entries c ON c.entry = j.journal * 1024 + 2 * l.leg + 1"
     " LEFT JOIN accounts t ON t.account = c.account"
     " WHERE l.payment BETWEEN ?1 AND ?2 AND"
     " ((d.amount, s.wallet, s.asset, d.leg) IS NOT (-l.amount, l.source_wallet, l.asset, l.leg)"
     " OR (c.amount, t.wallet, t.asset, c.leg) IS NOT"
     "  (l.amount, l.destination_wallet, l.asset, l.leg))"
     " UNION ALL SELECT 'payment ' || p.payment || ' has other entries than its legs'"
     " FROM payments p CROSS JOIN journal j ON j.payment = p.payment AND j.kind = 0"
     " WHERE p.payment BETWEEN ?1 AND ?2 AND p.type = 2"
     " AND (SELECT count(*) FROM entries"
     "  WHERE entry BETWEEN j.journal * 1024 AND j.journal * 1024 + 1023)"
     " <> 2 * (SELECT count(*) FROM payment_legs l WHERE l.payment = p.payment)"},
    {"addresses_are_credited", "A payment to an address credits the wallet with that address.",
     Walk::journal,
     "SELECT 'payment ' || p.payment || ' to destination ' || p.destination FROM journal j"
     " CROSS JOIN payments p ON p.payment = j.payment"
     " LEFT JOIN destinations d ON d.destination = p.destination"
     " LEFT JOIN entries e ON e.entry = j.journal * 1024 + iif(p.type = 1, 1, 3)"
     " LEFT JOIN accounts a ON a.account = e.account LEFT JOIN wallets w ON w.wallet = a.wallet"
     " WHERE j.journal BETWEEN ?1 AND ?2 AND j.kind = 0 AND p.type IN (1, 4)"
     " AND (w.public_key, e.amount, a.asset) IS NOT (d.wallet_address,"
     "  iif(p.type = 1, p.sending_amount, p.receiving_amount),"
     "  iif(p.type = 1, p.sending_asset, p.receiving_asset))"},
    {"refunded_once",
     "A failed payment that was refunded has exactly one refund entry set, and another payment one "
     "for each part that was given back after success.",
     Walk::payments,
     "SELECT 'payment ' || p.payment || ' in status ' || p.status || ' has ' || count(j.journal) ||"
     " ' refund sets' FROM payments p LEFT JOIN journal j ON j.payment = p.payment AND j.kind = 3"
     " WHERE p.payment BETWEEN ?1 AND ?2 GROUP BY p.payment HAVING count(j.journal) <> iif("
     "p.refunded_amount IS NULL, p.status = 5 OR (p.status = 2 AND p.corrected_from IS 5),"
     " (p.corrected_from IS 5) + (SELECT count(r.journal) FROM refunds r"
     "  WHERE r.payment = p.payment))"},
    {"refunds_follow_payments",
     "What was given back after success is the sum of its refunds, and at most the payment.",
     Walk::payments,
     "SELECT 'payment ' || p.payment || ' gave back ' || ifnull(p.refunded_amount, 0) || ', refunds"
     " give ' || ifnull(sum(r.amount + r.fee), 0) FROM payments p"
     " LEFT JOIN refunds r ON r.payment = p.payment AND r.state = 1"
     " LEFT JOIN provider_payments q ON q.payment = p.payment"
     " WHERE p.payment BETWEEN ?1 AND ?2 GROUP BY p.payment"
     " HAVING ifnull(sum(r.amount + r.fee), 0) <> ifnull(p.refunded_amount, 0)"
     " OR sum(r.amount) > p.sending_amount OR sum(r.fee) > ifnull(q.fee, 0)"
     " OR sum(r.returned) > p.receiving_amount OR sum(r.held) > p.receiving_amount"
     " UNION ALL SELECT 'payment ' || p.payment || ' waits for ' || count(r.refund) || ' refunds'"
     " FROM payments p LEFT JOIN refunds r ON r.payment = p.payment AND r.state = 0"
     "  AND r.id IS NOT NULL WHERE p.payment BETWEEN ?1 AND ?2 AND p.type IN (6, 7)"
     " GROUP BY p.payment HAVING count(r.refund) <> (p.status = 4)"
     " UNION ALL SELECT 'refund ' || r.refund || ' of payment ' || r.payment FROM refunds r"
     " JOIN payments p ON p.payment = r.payment"
     " LEFT JOIN provider_payments q ON q.payment = p.payment WHERE r.payment BETWEEN ?1 AND ?2"
     " AND (r.tenant <> p.tenant OR (r.connector IS NOT NULL AND r.connector IS NOT p.connector)"
     "  OR (r.state = 0 AND p.status NOT IN (0, 1, 4))"
     "  OR (r.state = 2 AND q.open_item IS NOT 3) OR (r.id IS NOT NULL AND p.type NOT IN (6, 7))"
     "  OR EXISTS (SELECT 1 FROM payments f WHERE f.tenant = r.tenant"
     "   AND f.transaction_id = r.transaction_id))"},
    {"refunds_reverse_entries",
     "The entries of a refund move its amount back to the wallet, or out of the wallet of an "
     "on-ramp, and never more than was moved.",
     Walk::payments,
     "SELECT 'refund ' || r.refund || ' of payment ' || r.payment || ' has other entries'"
     " FROM refunds r JOIN payments p ON p.payment = r.payment"
     " LEFT JOIN journal j ON j.journal = r.journal WHERE r.payment BETWEEN ?1 AND ?2"
     " AND r.journal IS NOT NULL AND ((j.kind, j.payment, j.at) IS NOT (3, r.payment, r.booked_at)"
     " OR iif(r.id IS NULL, r.amount + r.fee, -r.held) IS NOT (SELECT sum(e.amount) FROM entries e"
     "  JOIN accounts a ON a.account = e.account WHERE (e.amount > 0) = (r.id IS NULL)"
     "  AND a.wallet = iif(r.id IS NULL, p.source_wallet, p.destination_wallet)"
     "  AND e.entry BETWEEN r.journal * 1024 AND r.journal * 1024 + 1023"
     "  AND a.asset = iif(r.id IS NULL, p.sending_asset, p.receiving_asset)))"
     " UNION ALL SELECT 'payment ' || j.payment || ' moved account ' || e.account || ' by '"
     " || sum(e.amount) FROM payments p CROSS JOIN journal j ON j.payment = p.payment"
     " CROSS JOIN entries e ON e.entry BETWEEN j.journal * 1024 AND j.journal * 1024 + 1023"
     " WHERE p.payment BETWEEN ?1 AND ?2 AND p.refunded_amount IS NOT NULL"
     " GROUP BY j.payment, e.account HAVING iif(ifnull(sum(e.amount) FILTER (WHERE j.kind = 0), 0)"
     "  >= 0, sum(e.amount) < 0 OR sum(e.amount) FILTER (WHERE j.kind = 3) > 0,"
     "  sum(e.amount) > 0 OR sum(e.amount) FILTER (WHERE j.kind = 3) < 0)"},
    {"refunds_mirror_payments",
     "The refund of a failed payment credits exactly the amount that it debited.", Walk::payments,
     "SELECT 'payment ' || j.payment || ' moved account ' || e.account || ' by ' || sum(e.amount)"
     " FROM payments p CROSS JOIN journal j ON j.payment = p.payment"
     " CROSS JOIN entries e ON e.entry BETWEEN j.journal * 1024 AND j.journal * 1024 + 1023"
     " WHERE p.payment BETWEEN ?1 AND ?2 AND p.status = 5 AND p.refunded_amount IS NULL"
     " GROUP BY j.payment, e.account HAVING sum(e.amount) <> 0"},
    {"holds_follow_payments", "A stored hold is open until its payment settles or fails.",
     Walk::payments,
     "SELECT 'hold of payment ' || h.payment || ' on account ' || h.account FROM holds h"
     " JOIN payments p ON p.payment = h.payment WHERE h.payment BETWEEN ?1 AND ?2 AND h.state <>"
     " CASE WHEN p.status IN (0, 1) THEN 0 WHEN p.status = 2 THEN 1 ELSE 2 END"},
    // For other payments, held_is_sum_of_open_holds checks the amounts.
    {"holds_are_there",
     "Multi-transfers, and only these, store holds; other outgoing payments have an account to "
     "hold their amount; incoming payments have none.",
     Walk::payments,
     "SELECT 'payment ' || p.payment || ' of type ' || p.type FROM payments p"
     " WHERE p.payment BETWEEN ?1 AND ?2 AND"
     " ((p.type = 2) <> EXISTS (SELECT 1 FROM holds h WHERE h.payment = p.payment)"
     " OR (p.type NOT IN (2, 6, 7)) <> EXISTS (SELECT 1 FROM accounts a"
     "  WHERE a.wallet = p.source_wallet AND a.asset = p.sending_asset))"},
    // The hold of a wallet that both sends and receives is its largest shortfall while the legs are
    // applied.
    {"holds_follow_legs", "A multi-transfer holds exactly the amounts that its legs send.",
     Walk::payments,
     "WITH moves AS (SELECT l.payment, a.account, -l.amount AS amount, 2 * l.leg AS line"
     "  FROM payment_legs l JOIN accounts a ON a.wallet = l.source_wallet AND a.asset = l.asset"
     "  WHERE l.payment BETWEEN ?1 AND ?2 UNION ALL"
     "  SELECT l.payment, a.account, l.amount, 2 * l.leg + 1 FROM payment_legs l"
     "  JOIN accounts a ON a.wallet = l.destination_wallet AND a.asset = l.asset"
     "  WHERE l.payment BETWEEN ?1 AND ?2),"
     " worst AS (SELECT payment, account, max(-min(flow), 0) AS lacks FROM (SELECT payment, "
     "account,"
     "  sum(amount) OVER (PARTITION BY payment, account ORDER BY line) AS flow FROM moves)"
     "  GROUP BY payment, account)"
     " SELECT 'payment ' || w.payment || ' account ' || w.account || ' lacks ' || w.lacks"
     " FROM worst w LEFT JOIN holds h ON h.payment = w.payment AND h.account = w.account"
     " WHERE ifnull(h.amount, 0) <> w.lacks"
     " UNION ALL SELECT 'payment ' || p.payment || ' holds account ' || h.account FROM payments p"
     " CROSS JOIN holds h ON h.payment = p.payment WHERE p.payment BETWEEN ?1 AND ?2 AND p.type = 2"
     " AND NOT EXISTS (SELECT 1 FROM payment_legs l JOIN accounts a ON a.wallet = l.source_wallet"
     "  AND a.asset = l.asset WHERE l.payment = p.payment AND a.account = h.account)"},
    {"work_is_queued",
     "A payment has a job if and only if it is in progress, or a contradiction is being checked.",
     Walk::payments,
     "SELECT 'payment ' || p.payment || ' in status ' || p.status FROM payments p"
     " LEFT JOIN provider_jobs r ON r.payment = p.payment WHERE p.payment BETWEEN ?1 AND ?2"
     " AND (p.status IN (0, 1, 4) OR EXISTS (SELECT 1 FROM provider_payments v"
     "  WHERE v.payment = p.payment AND v.open_item IN (2, 5, 6)))"
     " <> ((r.payment IS NOT NULL) + (p.settle_at IS NOT NULL))"},
    {"payments_are_found", "The index of transaction IDs leads to each payment.", Walk::payments,
     "SELECT 'payment ' || p.payment FROM payments p WHERE p.payment BETWEEN ?1 AND ?2 AND"
     " (SELECT f.payment FROM payments f WHERE f.tenant = p.tenant"
     "  AND f.transaction_id = p.transaction_id) IS NOT p.payment"},
    {"destinations_of_beneficiaries", "A payment is sent to a destination of its beneficiary.",
     Walk::payments,
     "SELECT 'payment ' || p.payment || ' to destination ' || p.destination FROM payments p"
     " LEFT JOIN destinations d ON d.destination = p.destination"
     " WHERE p.payment BETWEEN ?1 AND ?2 AND p.destination IS NOT NULL"
     " AND (d.beneficiary, d.tenant) IS NOT (p.beneficiary, p.tenant)"},
    {"quotes_used_once", "A used quote and its payment refer to each other.", Walk::payments,
     "SELECT 'payment ' || p.payment FROM payments p LEFT JOIN quotes q ON q.quote = p.quote"
     " WHERE p.payment BETWEEN ?1 AND ?2 AND p.quote IS NOT NULL AND q.payment IS NOT p.payment"},
    {"arrivals_are_recorded",
     "Payments on a reference, and only these, record the provider's payment ID.", Walk::payments,
     "SELECT 'payment ' || p.payment FROM payments p"
     " LEFT JOIN reference_payments r ON r.payment = p.payment"
     " LEFT JOIN onramp_references o ON o.onramp_reference = r.onramp_reference"
     " LEFT JOIN provider_payments v ON v.payment = r.payment"
     " WHERE p.payment BETWEEN ?1 AND ?2 AND ((p.type = 7) <> (r.payment IS NOT NULL)"
     " OR (p.type = 7 AND (r.connector, r.provider_payment_id, o.connector, o.tenant, o.reference)"
     "  IS NOT (p.connector, v.provider_reference, p.connector, p.tenant, p.to_ref)))"},
    {"lines_follow_matches",
     "A line of a statement is matched while it has a match that is not undone, and replaced if it "
     "has details, which add up to it. Its file has at least as many lines.",
     Walk::copies,
     "SELECT 'line ' || l.bank_line || ' in state ' || l.state FROM bank_lines l"
     " WHERE (l.state = 2) <> EXISTS (SELECT 1 FROM bank_matches m INDEXED BY bank_matches_of_line"
     "  WHERE m.bank_line = l.bank_line"
     "  AND m.undoes IS NULL"
     "  AND NOT EXISTS (SELECT 1 FROM bank_matches u WHERE u.undoes = m.bank_match))"
     " UNION ALL SELECT 'line ' || l.bank_line || ' in state ' || l.state || ' of ' || l.amount"
     " FROM bank_lines l WHERE iif(l.state = 3, l.amount, NULL) IS NOT (SELECT sum(d.amount)"
     "  FROM bank_lines d WHERE d.replaces = l.bank_line AND d.replaces IS NOT NULL)"
     " UNION ALL SELECT 'file ' || statement_file || ' has ' || count(*) || ' of ' || f.lines"
     " FROM bank_lines l JOIN statement_files f USING (statement_file) WHERE l.state <> 3"
     " GROUP BY statement_file HAVING count(*) > f.lines"},
    {"matches_are_undone_once", "A row that undoes a match is about the same line and payment.",
     Walk::copies,
     "SELECT 'match ' || u.bank_match FROM bank_matches u"
     " LEFT JOIN bank_matches m ON m.bank_match = u.undoes WHERE u.undoes IS NOT NULL"
     " AND ((m.bank_line, m.kind, m.payment) IS NOT (u.bank_line, u.kind, u.payment)"
     "  OR m.refund IS NOT u.refund OR m.undoes IS NOT NULL OR m.bank_match > u.bank_match)"},
    {"unbooked_money_is_not_credited",
     "Money to book or return was not credited, and an arrival that was assigned has its payment.",
     Walk::payments,
     "SELECT 'payment ' || p.payment || ' in status ' || p.status || ' is to be booked'"
     " FROM payments p JOIN provider_payments v ON v.payment = p.payment"
     " WHERE p.payment BETWEEN ?1 AND ?2 AND v.open_item = 1"
     " AND (p.status NOT IN (3, 7) OR p.type = 5)"
     " UNION ALL SELECT 'arrival ' || a.arrival || ' of payment ' || a.payment"
     " FROM unassigned_arrivals a LEFT JOIN reference_payments r ON r.payment = a.payment"
     " WHERE a.payment BETWEEN ?1 AND ?2 AND (r.connector, r.provider_payment_id)"
     " IS NOT (a.connector, a.provider_payment_id)"},
    {"provider_parts",
     "Payments through a provider, and only these, record their cost and submissions.",
     Walk::payments,
     "SELECT 'payment ' || p.payment FROM payments p"
     " LEFT JOIN provider_payments q ON q.payment = p.payment"
     " WHERE p.payment BETWEEN ?1 AND ?2 AND ((p.type IN (5, 6, 7)) <> (q.payment IS NOT NULL)"
     " OR (p.type = 5 AND q.total <> p.sending_amount + q.fee)"
     " OR q.attempts <> (SELECT count(*) FROM provider_attempts a"
     "  WHERE a.payment = q.payment AND a.call IN (0, 3, 6)))"},
    {"endpoints",
     "A connector that calls out has exactly one active endpoint, and payments refer to endpoints "
     "of their "
     "connector.",
     Walk::payments,
     "SELECT 'connector ' || c.connector || ' has ' || count(e.connector_endpoint) || ' endpoints'"
     " FROM connectors c LEFT JOIN connector_endpoints e ON e.connector = c.connector"
     " AND e.retired_at IS NULL GROUP BY c.connector"
     " HAVING count(e.connector_endpoint) <> (c.driver <> 0)"
     " UNION ALL SELECT 'payment ' || p.payment FROM provider_payments q"
     " JOIN payments p ON p.payment = q.payment JOIN connectors c ON c.connector = p.connector"
     " LEFT JOIN connector_endpoints e ON e.connector_endpoint = q.connector_endpoint"
     " WHERE q.payment BETWEEN ?1 AND ?2 AND"
     " ((q.connector_endpoint IS NOT NULL) <> (c.driver <> 0 AND q.attempts > 0)"
     " OR e.connector <> p.connector)"},
    {"collected_amounts", "An on-ramp credits the quoted amount, or less if less was collected.",
     Walk::payments,
     "SELECT 'payment ' || p.payment || ' credits ' || p.receiving_amount || ' of '"
     " || q.receive_amount FROM payments p JOIN provider_payments v ON v.payment = p.payment"
     " JOIN quotes q ON q.quote = p.quote"
     " WHERE p.payment BETWEEN ?1 AND ?2 AND p.type = 6 AND CASE"
     "  WHEN p.status NOT IN (2, 4, 5, 6)"
     "  THEN p.receiving_amount <> q.receive_amount"
     "  WHEN v.collected_amount IS NULL THEN 1"
     "  WHEN p.corrected_at IS NOT NULL THEN p.receiving_amount > q.receive_amount"
     "  WHEN v.collected_amount >= p.sending_amount THEN p.receiving_amount <> q.receive_amount"
     "  ELSE p.receiving_amount > q.receive_amount OR v.collected_amount <= v.fee END"},
    {"events_tell_all",
     "A record of version n has n payment events, one per version and final status.",
     Walk::snapshot,
     "SELECT 'payment ' || p.payment || ' of version ' || p.version || ' has ' || "
     "count(e.sequence) ||"
     " ' events' FROM payments p LEFT JOIN events e ON e.payment = p.payment AND e.type <= 6"
     " GROUP BY p.payment HAVING count(e.sequence) <> p.version OR max(e.version) <> p.version"
     " OR count(DISTINCT e.version) <> p.version OR count(*) FILTER (WHERE e.type >= 2)"
     "  <> CASE WHEN p.corrected_at IS NOT NULL OR p.refunded_amount IS NOT NULL"
     "    OR (p.type IN (6, 7) AND p.status IN (4, 6))"
     "   THEN p.version - 1 - (p.processing_after IS NOT NULL)"
     "   WHEN p.status < 2 THEN 0 WHEN p.status = 4 THEN 2 WHEN p.status = 6 THEN 3"
     // If a refund was credited after it had failed, there is one more event.
     "   WHEN p.status = 5 THEN 3 + min(count(*) FILTER (WHERE e.type = 6), 1) ELSE 1 END"},
    {"sequences_have_no_gap", "The event sequences of a tenant start at one and have no gaps.",
     Walk::snapshot,
     "SELECT 'tenant ' || tenant || ' sequence ' || sequence FROM (SELECT tenant, sequence,"
     " lag(sequence, 1, 0) OVER (PARTITION BY tenant ORDER BY sequence) AS before FROM events)"
     " WHERE sequence <> before + 1"},
    {"event_ids_have_a_key", "The key with which the IDs of events are computed is present.",
     Walk::whole,
     "SELECT 'the key is missing' WHERE EXISTS (SELECT 1 FROM events) AND NOT EXISTS"
     " (SELECT 1 FROM meta WHERE name = 'event_id_key' AND length(value) = 32)"},
    {"types_claimed_by_active", "Each event type of an active webhook is claimed by that webhook.",
     Walk::webhooks,
     "SELECT 'webhook ' || w.webhook || ' has ' || w.event_types || ', claims give ' ||"
     " coalesce(sum(1 << c.type), 0) FROM webhooks w"
     " LEFT JOIN webhook_types c ON c.webhook = w.webhook AND c.tenant = w.tenant"
     " WHERE w.webhook BETWEEN ?1 AND ?2 GROUP BY w.webhook"
     " HAVING coalesce(sum(1 << c.type), 0) <> CASE WHEN w.disabled_at IS NULL"
     "  THEN w.event_types ELSE 0 END"},
    {"deliveries_are_of_events",
     "A delivery belongs to an event of its tenant, and its attempts, and only these, are "
     "recorded.",
     Walk::snapshot,
     "SELECT 'webhook ' || d.webhook || ' sequence ' || d.sequence FROM deliveries d"
     " JOIN webhooks w ON w.webhook = d.webhook"
     " LEFT JOIN events e ON e.tenant = w.tenant AND e.sequence = d.sequence"
     " WHERE e.sequence IS NULL OR d.tries <> (SELECT count(*) FROM delivery_attempts a"
     "  WHERE a.webhook = d.webhook AND a.sequence = d.sequence)"
     " UNION ALL SELECT 'webhook ' || a.webhook || ' has attempts without the delivery of sequence "
     "'"
     " || a.sequence FROM delivery_attempts a WHERE NOT EXISTS (SELECT 1 FROM deliveries d"
     "  WHERE d.webhook = a.webhook AND d.sequence = a.sequence)"},
    {"circulation_fits",
     "Per environment and asset, the total in circulation fits into one account.", Walk::whole,
     "SELECT 'environment ' || t.environment || ' asset ' || a.asset"
     " FROM accounts a JOIN tenants t ON t.tenant = a.tenant"
     " WHERE a.wallet IS NULL GROUP BY t.environment, a.asset"
     // Beyond this value, the sum itself is an error, which is also reported.
     " HAVING sum(min(a.balance, 0)) < -9223372036854775807"},
    {"fundings_are_credits", "A funding has its own entry set, which credits one wallet.",
     Walk::journal,
     "SELECT 'funding of journal ' || f.journal FROM fundings f"
     " LEFT JOIN journal j ON j.journal = f.journal"
     " LEFT JOIN entries e ON e.entry = f.journal * 1024 + 1"
     " LEFT JOIN accounts a ON a.account = e.account"
     " WHERE f.journal BETWEEN ?1 AND ?2 AND ((j.kind, j.payment, a.kind) IS NOT (1, NULL, 0)"
     " OR e.amount <= 0 OR EXISTS (SELECT 1 FROM entries WHERE entry = f.journal * 1024 + 2))"},
    {"destination_sums_follow_payments",
     "The stored sums per destination equal the sums of its payments, on every level.",
     Walk::snapshot,
     "SELECT 'connector ' || connector || ' level ' || level || ' from ' || first_at FROM"
     " (SELECT *, lead(first_at, 1, 9223372036854775807) OVER"
     "  (PARTITION BY connector, destination, level ORDER BY first_at) AS until"
     "  FROM destination_sums) s"
     " WHERE (s.payments, s.amount, s.last_at) IS NOT"
     " (SELECT count(*), ifnull(sum(" COFFER_COUNTED_BY_LIMITS "), 0),"
     "  max(p.created_at) FROM payments p WHERE p.connector = s.connector"
     "  AND p.destination IN (SELECT d.destination FROM destinations d WHERE d.id = s.destination)"
     "  AND p.created_at >= s.first_at AND p.created_at < s.until)"
     " UNION ALL SELECT 'level ' || level || ' counts ' || counted || ' payments' FROM"
     " (SELECT column1 AS level, (SELECT ifnull(sum(s.payments), 0) FROM destination_sums s"
     "   WHERE s.level = column1) AS counted FROM (VALUES (1), (2), (3)))"
     " WHERE counted <> (SELECT count(*) FROM payments WHERE type = 5)"},
    {"metadata_is_found", "Each text in the metadata of a payment has its search term.",
     Walk::payments,
     "SELECT 'payment ' || p.payment || ' is not found by its metadata ' || m.key"
     " FROM payments p, json_each(iif(json_valid(p.metadata), p.metadata, '{}')) m"
     " WHERE p.payment BETWEEN ?1 AND ?2 AND p.metadata IS NOT NULL"
     " AND NOT EXISTS (SELECT 1 FROM metadata_terms t WHERE t.tenant = p.tenant"
     "  AND t.term = metadata_term(m.key, m.value) AND t.payment = p.payment)"},
    {"tenants_do_not_mix",
     "A payment changes only wallets of its tenant, except for outgoing credits and their "
     "reversal.",
     Walk::snapshot,
     "SELECT 'payment ' || j.payment || ' moved account ' || a.account FROM entries e"
     " JOIN journal j ON j.journal = e.entry / 1024 JOIN accounts a ON a.account = e.account"
     " JOIN payments p ON p.payment = j.payment"
     " JOIN tenants t ON t.tenant = a.tenant JOIN tenants u ON u.tenant = p.tenant"
     " WHERE t.environment <> u.environment OR (a.wallet IS NOT NULL AND a.tenant <> p.tenant"
     "  AND NOT (p.type IN (1, 4) AND (e.amount > 0 OR j.kind = 3)))"
     " UNION ALL SELECT 'account ' || a.account || ' is of another tenant than whose it is'"
     " FROM accounts a JOIN tenants t ON t.tenant = a.tenant LEFT JOIN wallets w ON w.wallet = "
     "a.wallet"
     " WHERE iif(a.wallet IS NULL, t.association IS NOT NULL, w.tenant <> a.tenant)"},
    {"quotas_count_rows", "The stored usage of a quota matches the rows of its tenant.",
     Walk::copies,
     "WITH counted (tenant, quota, until, used) AS ("
     "SELECT tenant, 0, 0, count(*) FROM wallets GROUP BY tenant"
     " UNION ALL SELECT tenant, 1, 0, count(*) FROM beneficiaries WHERE archived_at IS NULL"
     " GROUP BY tenant UNION ALL SELECT tenant, 2, 0, count(*) FROM destinations"
     " WHERE archived_at IS NULL GROUP BY tenant"
     " UNION ALL SELECT tenant, 4, 0, count(*) FROM webhooks WHERE disabled_at IS NULL"
     " GROUP BY tenant)"
     " SELECT 'tenant ' || tenant || ' quota ' || quota || ' stores ' || ifnull(u.used, 0) ||"
     " ', rows give ' || ifnull(c.used, 0) FROM quota_use u"
     " FULL JOIN counted c USING (tenant, quota, until)"
     " WHERE quota NOT IN (3, 5) AND ifnull(u.used, 0) <> ifnull(c.used, 0)"
     // An expired interval of ten seconds is deleted at the next change.
     " UNION ALL SELECT 'tenant ' || u.tenant || ' open quotes until ' || u.until FROM quota_use u"
     " LEFT JOIN (SELECT tenant, (expires_at + 9999) / 10000 * 10000 AS until, count(*) AS used"
     "  FROM quotes WHERE payment IS NULL GROUP BY 1, 2) c USING (tenant, until)"
     " WHERE u.quota = 3 AND u.used <> ifnull(c.used, 0)"
     " UNION ALL SELECT 'tenant ' || c.tenant || ' has ' || payments || ' payments in '"
     " || ifnull(u.used, 0) || ' bytes' FROM (SELECT tenant, count(*) AS payments FROM payments"
     "  GROUP BY tenant) c LEFT JOIN quota_use u ON u.tenant = c.tenant AND u.quota = 5"
     " WHERE ifnull(u.used, 0) < payments * 200"},
    {"limits_count_payments",
     "The counters of a limit equal the payments that were accepted since it was set.",
     Walk::copies,
     "WITH moved AS (SELECT p.payment, p.tenant, p.application, p.source_wallet AS wallet,"
     "  p.sending_asset AS asset, p.created_at, " COFFER_COUNTED_BY_LIMITS
     "  AS counted FROM payments p WHERE p.payment > (SELECT min(since) FROM payment_limits)"
     "  AND p.source_wallet IS NOT NULL UNION ALL"
     "  SELECT p.payment, p.tenant, p.application, l.source_wallet, l.asset, p.created_at,"
     "  iif(p.status IN (0, 1, 2), l.amount, 0) FROM payments p"
     "  JOIN payment_legs l ON l.payment = p.payment"
     "  WHERE p.payment > (SELECT min(since) FROM payment_limits)),"
     " counted AS (SELECT u.payment_limit,"
     "  ifnull(sum(m.counted) FILTER (WHERE m.created_at >= u.day), 0) AS day_amount,"
     "  count(*) FILTER (WHERE m.created_at >= u.day AND m.counted > 0) AS day_payments,"
     "  max(m.created_at) AS newest, sum(m.counted) AS month_amount, count(*) FILTER (WHERE "
     "m.counted > 0) AS month_payments"
     "  FROM moved m JOIN payment_limits l ON l.tenant = m.tenant AND l.asset = m.asset"
     "  AND ifnull(l.application, 0) IN (0, m.application)"
     "  AND ifnull(l.wallet, 0) IN (0, m.wallet) JOIN limit_use u USING (payment_limit)"
     "  WHERE m.payment > l.since AND m.created_at >= u.month GROUP BY u.payment_limit)"
     " SELECT 'limit ' || l.payment_limit || ' stores ' || ifnull(u.month_amount, '?') || ' in '"
     "  || ifnull(u.month_payments, '?') || ' payments, payments give '"
     "  || ifnull(c.month_amount, 0) || ' in ' || ifnull(c.month_payments, 0)"
     " FROM payment_limits l LEFT JOIN limit_use u USING (payment_limit)"
     " LEFT JOIN counted c USING (payment_limit)"
     " WHERE (u.day_amount, u.day_payments, u.month_amount, u.month_payments) IS NOT"
     "  (ifnull(c.day_amount, 0), ifnull(c.day_payments, 0), ifnull(c.month_amount, 0),"
     "   ifnull(c.month_payments, 0))"
     // The day and the month are those of the last payment, or else of the limit.
     " OR u.day % 86400000 <> 0 OR u.month > u.day"
     " OR max(l.created_at, ifnull(c.newest, 0)) NOT BETWEEN u.day AND u.day + 86399999"
     " OR u.month <> unixepoch(u.month / 1000, 'unixepoch', 'start of month') * 1000"
     " OR u.day / 1000 >= unixepoch(u.month / 1000, 'unixepoch', '+1 month')"},
}};

// The numbers in the queries above:
static_assert(stored(Quota::wallets) == 0);
static_assert(stored(Quota::beneficiaries) == 1);
static_assert(stored(Quota::destinations) == 2);
static_assert(stored(Quota::open_quotes) == 3);
static_assert(stored(Quota::webhooks) == 4);
static_assert(stored(Quota::file_bytes) == 5);
static_assert(row_bytes::kPayment == 200);
static_assert(stored(PaymentStatus::initiated) == 0);
static_assert(stored(PaymentStatus::processing) == 1);
static_assert(stored(PaymentStatus::succeeded) == 2);
static_assert(stored(PaymentStatus::failed) == 3);
static_assert(stored(PaymentStatus::refund_pending) == 4);
static_assert(stored(PaymentStatus::refunded) == 5);
static_assert(stored(PaymentStatus::refund_failed) == 6);
static_assert(stored(PaymentStatus::expired) == 7);
static_assert(stored(RefundState::waiting) == 0);
static_assert(stored(RefundState::booked) == 1);
static_assert(stored(RefundState::disputed) == 2);
static_assert(stored(OpenItem::unbooked) == 1);
static_assert(stored(OpenItem::checking) == 2);
static_assert(stored(OpenItem::contradicted) == 3);
static_assert(stored(OpenItem::checking_unbooked) == 5);
static_assert(stored(OpenItem::checking_closed) == 6);
static_assert(stored(PaymentType::p2p_beneficiary) == 1);
static_assert(stored(PaymentType::p2p_own_multi) == 2);
static_assert(stored(PaymentType::swap_own) == 3);
static_assert(stored(PaymentType::swap_beneficiary) == 4);
static_assert(stored(PaymentType::offramp) == 5);
static_assert(stored(PaymentType::onramp) == 6);
static_assert(stored(PaymentType::onramp_reference) == 7);
// The queries contain every value with a trait.
static_assert(stored(DriverKind::sandbox) == 0);
static_assert(values_that(calls_out) == (1U << terms<DriverKind>().size()) - 2);  // all others
static_assert(values_that(has_legs) == 1U << 2);
static_assert(values_that(is_to_address) == (1U << 1 | 1U << 4));
static_assert(values_that(is_swap) == (1U << 3 | 1U << 4));
static_assert(values_that(is_quoted) == (1U << 5 | 1U << 6));
static_assert(values_that(is_through_provider) == (1U << 5 | 1U << 6 | 1U << 7));
static_assert(stored(AccountKind::wallet) == 0);
static_assert(stored(AccountKind::issuance) == 1);
static_assert(stored(AccountKind::clearing) == 4);
static_assert(stored(JournalKind::payment) == 0);
static_assert(stored(JournalKind::funding) == 1);
static_assert(stored(JournalKind::refund) == 3);
static_assert(stored(HoldState::open) == 0);
static_assert(stored(HoldState::posted) == 1);
static_assert(stored(HoldState::voided) == 2);
static_assert(stored(ProviderState::accepted) == 2);
static_assert(stored(ProviderCall::submit) == 0);
static_assert(stored(ProviderCall::collect) == 3);
static_assert(stored(EventType::payment_succeeded) == 2);
static_assert(stored(EventType::payment_refund_failed) == 6);

constexpr const char* kIntegrityCheck = "PRAGMA integrity_check(1)";
constexpr const char* kForeignKeyCheck = "PRAGMA foreign_key_check";

/// The first column of the first row, or empty.
std::string first_text(Connection& db, const char* sql) {
  Query query(db, sql);
  return query.step() ? query.text(0) : std::string();
}

/// One of the checks of verify(). `find` returns the first fault, or an empty text.
struct FileCheck {
  std::string_view name;
  std::function<std::string(Connection&, const ProgressFunction&)> find;

  std::string label() const {
    std::string out = "checking " + std::string(name);
    std::ranges::replace(out, '_', ' ');
    return out;
  }
  /// If the check cannot read the file, that is a fault too.
  std::string fault(Connection& db, const ProgressFunction& progress) const {
    try {
      return find(db, progress);
    } catch (const SqlError& error) {
      if (!is_damage(error)) throw;
      return error.what();
    }
  }
};

// Conservation follows: the last entry of an account has its balance, each entry continues the
// previous one, and each entry set sums to zero per environment and asset.
constexpr std::array<SliceCheck, 5> kSliceChecks{{
    // An open hold belongs to a payment in progress, which has a job.
    {"held_is_sum_of_open_holds", Walk::accounts,
     "WITH open AS MATERIALIZED (SELECT h.account, sum(h.amount) AS total FROM"
     "  (SELECT payment FROM payments INDEXED BY payments_to_settle WHERE settle_at IS NOT NULL"
     "   UNION ALL SELECT payment FROM provider_jobs) j"
     "  CROSS JOIN payment_holds h ON h.payment = j.payment AND h.state = 0"
     "  AND h.account BETWEEN ?1 AND ?2 GROUP BY h.account)"
     " SELECT 'account ' || a.account || ' stores ' || a.held || ' held, holds give ' ||"
     " coalesce(o.total, 0) FROM accounts a LEFT JOIN open o ON o.account = a.account"
     " WHERE a.account BETWEEN ?1 AND ?2 AND a.held <> coalesce(o.total, 0)"},
    {"tenants_do_not_mix", Walk::accounts,
     "SELECT 'account ' || a.account || ' is of another tenant than its wallet'"
     " FROM accounts a JOIN tenants t ON t.tenant = a.tenant"
     " LEFT JOIN wallets w ON w.wallet = a.wallet WHERE a.account BETWEEN ?1 AND ?2"
     " AND iif(a.wallet IS NULL, t.association IS NOT NULL, w.tenant <> a.tenant)"},
    {"tenants_do_not_mix", Walk::journal,
     "SELECT 'payment ' || j.payment || ' moved account ' || a.account FROM journal j"
     " CROSS JOIN entries e ON e.entry BETWEEN j.journal * 1024 AND j.journal * 1024 + 1023"
     " CROSS JOIN accounts a ON a.account = e.account CROSS JOIN payments p ON p.payment = "
     "j.payment"
     " JOIN tenants t ON t.tenant = a.tenant JOIN tenants u ON u.tenant = p.tenant"
     " WHERE j.journal BETWEEN ?1 AND ?2 AND (t.environment <> u.environment"
     "  OR (a.wallet IS NOT NULL AND a.tenant <> p.tenant"
     "  AND NOT (p.type IN (1, 4) AND (e.amount > 0 OR j.kind = 3))))"},
    {"destination_sums_follow_payments", Walk::payments,
     "SELECT 'payment ' || p.payment || ' is in no sum of its destination' FROM payments p"
     " WHERE p.payment BETWEEN ?1 AND ?2 AND p.type = 5 AND NOT EXISTS"
     " (SELECT 1 FROM destination_sums s WHERE s.connector = p.connector AND s.level = 1"
     "  AND s.destination = (SELECT d.id FROM destinations d WHERE d.destination = p.destination)"
     "  AND s.first_at <= p.created_at AND s.last_at >= p.created_at)"},
    // kDeliveryRows finds those before the last delivery.
    {"deliveries_are_of_events", Walk::webhooks,
     "SELECT 'webhook ' || w.webhook || ' has attempts without the delivery of sequence '"
     " || a.sequence FROM webhooks w CROSS JOIN delivery_attempts a ON a.webhook = w.webhook"
     " AND a.sequence > ifnull((SELECT max(d.sequence) FROM deliveries d"
     "  WHERE d.webhook = w.webhook), 0) WHERE w.webhook BETWEEN ?1 AND ?2"},
}};

}  // namespace

std::span<const SliceCheck> slice_checks() { return kSliceChecks; }

std::span<const Invariant> invariants() { return kInvariants; }

bool has_range(Walk walk) {
  switch (walk) {
    case Walk::snapshot:
    case Walk::copies:
    case Walk::whole:
      return false;
    case Walk::accounts:
    case Walk::journal:
    case Walk::payments:
    case Walk::webhooks:
      return true;
  }
  throw InternalError("no such walk");
}

bool is_damage(const SqlError& error) {
  // SQLITE_ERROR (a damaged schema, because the statements are valid), IOERR, CORRUPT, NOTADB.
  constexpr std::array<int, 4> kDamage{1, 10, 11, 26};
  return std::ranges::find(kDamage, error.primary_code) != kDamage.end();
}

std::string first_break(Connection& db, Walk walk, const char* sql, const KeyRange& keys) {
  try {
    Query query(db, sql);
    if (has_range(walk)) {
      query.bind(1, keys.first);
      query.bind(2, keys.last);
    }
    return query.step() ? query.text(0) : std::string();
  } catch (const SqlError& error) {
    if (!is_damage(error)) throw;
    return error.what();
  }
}

namespace {

std::vector<FileCheck> file_checks(bool deep) {
  std::vector<FileCheck> out;
  const auto add = [&](std::string_view name, std::function<std::string(Connection&)> find) {
    out.push_back({name, [find = std::move(find)](Connection& db, const ProgressFunction&) {
                     return find(db);
                   }});
  };
  add("schema", schema_fault);
  for (const Invariant& one : kInvariants) {
    add(one.name, [&one](Connection& db) { return first_break(db, one.walk, one.sql, kAllKeys); });
  }
  out.push_back({"hash_chain", [](Connection& db, const ProgressFunction& progress) {
                   return verify_chain(db, [&](std::int64_t done, std::int64_t all) {
                     progress({"checking hash chain", done, all, Progress::Unit::rows});
                   });
                 }});
  add("payments", [](Connection& db) {
    const PaymentPiece piece = check_payments(db, kAllKeys.first, kAllKeys.last);
    return piece.fault.empty() ? ledger_end_fault(db, piece.rows, piece.versions) : piece.fault;
  });
  add("events", verify_events);
  add("audit_log", verify_audit_log);
  add("closed_periods", verify_closed_periods);
  add("guarded_rows", verify_guarded_rows);
  if (!deep) return out;
  add("sqlite_integrity", [](Connection& db) {
    const std::string found = first_text(db, kIntegrityCheck);
    return found == "ok" ? std::string() : found;
  });
  add("foreign_keys", [](Connection& db) {
    const std::string found = first_text(db, kForeignKeyCheck);
    return found.empty() ? found : "table " + found;
  });
  return out;
}

/// Checks of one file on several threads, each with a connection.
class SharedChecks {
 public:
  SharedChecks(std::vector<FileCheck> checks, const Connections& others)
      : checks_(std::move(checks)),
        faults_(checks_.size()),
        end_(checks_.size()),
        others_(others) {}

  std::vector<Violation> run(Connection& db, const ProgressFunction& progress) {
    {
      std::vector<Thread> threads;
      for (const auto& other : others_) {
        threads.emplace_back("verify", [&] { work(*other, false, [](const Progress&) {}); });
      }
      work(db, true, progress);
    }
    const Lock lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    std::vector<Violation> out;
    for (std::size_t i = 0; i < checks_.size(); ++i) {
      if (!faults_[i].empty()) out.push_back({std::string(checks_[i].name), std::move(faults_[i])});
    }
    return out;
  }

 private:
  /// The next check, from the first on or from the last on.
  std::optional<std::size_t> take(bool first) {
    const Lock lock(mutex_);
    if (error_ || first_ == end_) return std::nullopt;
    return first ? first_++ : --end_;
  }

  void work(Connection& db, bool first, const ProgressFunction& progress) {
    try {
      while (const auto at = take(first)) {
        progress({checks_[*at].label(), static_cast<std::int64_t>(*at),
                  static_cast<std::int64_t>(checks_.size()), Progress::Unit::steps});
        faults_[*at] = checks_[*at].fault(db, progress);
      }
    } catch (...) {
      const Lock lock(mutex_);
      if (!error_) error_ = std::current_exception();
      for (const auto& other : others_) other->interrupt();
    }
  }

  const std::vector<FileCheck> checks_;
  std::vector<std::string> faults_;  // each by the thread that has taken the check
  Mutex mutex_;
  std::size_t first_ COFFER_GUARDED_BY(mutex_) = 0;
  std::size_t end_ COFFER_GUARDED_BY(mutex_);
  std::exception_ptr error_ COFFER_GUARDED_BY(mutex_);
  const Connections& others_;
};

}  // namespace

std::vector<Violation> verify(Connection& db, bool deep, const ProgressFunction& progress,
                              const Connections& others) {
  return SharedChecks(file_checks(deep), others).run(db, progress);
}

std::string account_fault(Connection& db, std::int64_t account, bool holds) {
  std::string fault;
  const auto check = [&](Walk walk, const char* sql) {
    if (fault.empty() && walk == Walk::accounts) {
      fault = first_break(db, walk, sql, {account, account});
    }
  };
  for (const Invariant& invariant : invariants()) check(invariant.walk, invariant.sql);
  for (const SliceCheck& one : slice_checks()) {
    if (holds) check(one.walk, one.sql);
  }
  return fault;
}

}  // namespace coffer::store
