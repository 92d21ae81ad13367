#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Checks a coffer file independently: with its own SQL and arithmetic, and no code of coffer.

  tests/harness/auditor.py FILE [--client CLIENT.json] [--settled]

Copies FILE with its write-ahead log, so the file may come from a killed process. CLIENT.json holds the
clients' view: {"sent": {transactionId: body}, "acked": {transactionId: recordId},
"rejected": [transactionId]}. "rejected" is optional and lists requests that were definitively rejected.
With --settled, a payment in progress is a fault. Prints one line per fault, and exits with 1 if there
is one.
"""

import argparse
import hashlib
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import uuid
from decimal import Decimal

from harness.auditor_books import check_books
from harness.auditor_holds import check_holds, open_holds
from harness.auditor_keys import check_keys
from harness.auditor_quotas import check_quotas
from harness.auditor_schema import check_schema
from harness.auditor_webhooks import check_outbox

# Values of enumerations, as in schema.sql.
OPEN, SUCCEEDED = (0, 1), 2  # of payments.status; event types have the same numbers
PROCESSING, REFUND_PENDING, REFUNDED, REFUND_FAILED = 1, 4, 5, 6
DEBITED = (SUCCEEDED, REFUND_PENDING, REFUNDED, REFUND_FAILED)  # the value was debited, whatever happened later
# How many events of a payment report a final result, by its status.
ENDINGS = {0: 0, 1: 0, 2: 1, 3: 1, 4: 2, 5: 3, 6: 3, 7: 1}
LAST_PAYMENT_EVENT = 6
TO_ADDRESS, MULTI, SWAP, SWAP_TO_ADDRESS = 1, 2, 3, 4  # of payments.type
CASH_OUT, COLLECTION, ON_REFERENCE = 5, 6, 7
INCOMING = (COLLECTION, ON_REFERENCE)
ACCEPTED = 2                 # of provider_payments.state
MAY_BE_NEGATIVE = (1, 4)     # of accounts.kind: issuance, and a provider's clearing account
MONEY = [("accounts", "balance"), ("accounts", "held"), ("entries", "amount"),
         ("entries", "balance_after"), ("holds", "amount"), ("payment_legs", "amount"),
         ("destination_sums", "amount")]
MONEY += [("provider_payments", "fee"), ("provider_payments", "total"), ("quotes", "send_amount"),
          ("quotes", "receive_amount"), ("quotes", "fee"), ("quotes", "total")]
MONEY += [("refunds", "amount"), ("refunds", "fee")]
MAYBE_MONEY = [("payments", "refunded_amount"), ("refunds", "returned"), ("refunds", "asked"), ("refunds", "held"),
               ("payments", "sending_amount"), ("payments", "receiving_amount"),
               ("payments", "min_receiving"), ("provider_payments", "collected_amount")]
SUBMISSIONS = (0, 3, 6)      # of provider_attempts.call
COUNTED = (0, 1, 2)          # of payments.status: counted by the limits of a destination
FAILED, EXPIRED = 3, 7       # of payments.status
UNBOOKED, CHECKING = 1, 2    # of provider_payments.open_item
FUNDING, REFUND = 1, 3       # of journal.kind
WAITING, BOOKED = 0, 1       # of refunds.state
MOST = 2**63 - 1
MISSING = -1                 # matches no account
HTTP = 1                     # of connectors.driver


class Audit:
    def __init__(self, path):
        self.db = sqlite3.connect(path)
        self.db.row_factory = sqlite3.Row
        self.faults = []

    def fault(self, check, what):
        self.faults.append(f"{check}: {what}")

    def nothing(self, check, sql, *arguments):
        """Reports each row that the query returns."""
        for row in self.db.execute(sql, arguments):
            self.fault(check, tuple(row))

    def rows(self, sql, *arguments):
        return self.db.execute(sql, arguments).fetchall()

    # --- the file ---------------------------------------------------------------------------------

    def check_file(self):
        for (answer,) in self.db.execute("PRAGMA integrity_check"):
            if answer != "ok":
                self.fault("integrity", answer)
        self.nothing("foreign key", "PRAGMA foreign_key_check")
        for table, column in MONEY:
            self.nothing(f"{table}.{column} is an integer",
                         f"SELECT {column} FROM {table} WHERE typeof({column}) <> 'integer'")
        for table, column in MAYBE_MONEY:
            self.nothing(f"{table}.{column} is an integer",
                         f"SELECT {column} FROM {table} WHERE typeof({column}) NOT IN ('integer', 'null')")

    # --- value --------------------------------------------------------------------------------------

    def check_balances(self):
        """Recomputes balances from the entries alone, and held amounts from the payments."""
        self.parts = {row["payment"]: row for row in self.rows("SELECT * FROM provider_payments")}
        self.trustlines = {(row["wallet"], row["asset"]): row["account"] for row in self.rows(
            "SELECT wallet, asset, account FROM accounts WHERE wallet IS NOT NULL")}
        accounts = {row["account"]: dict(row) for row in self.rows(
            "SELECT a.*, t.environment FROM accounts a JOIN tenants t ON t.tenant = a.tenant")}
        running = {key: 0 for key in accounts}
        for entry in self.rows("SELECT * FROM entries ORDER BY entry"):
            account = entry["account"]
            if account not in accounts:
                self.fault("entry of an unknown account", tuple(entry))
                continue
            running[account] += entry["amount"]
            if running[account] != entry["balance_after"]:
                self.fault("running balance", tuple(entry))
            if running[account] < 0 and accounts[account]["kind"] not in MAY_BE_NEGATIVE:
                self.fault("running balance below zero", tuple(entry))
        held = {key: 0 for key in accounts}
        for account, amount in open_holds(self):
            held[account] = held.get(account, 0) + amount
        sums, circulating = {}, {}
        for key, account in accounts.items():
            if account["balance"] != running[key]:
                self.fault("stored balance", f"account {key}: {account['balance']}, entries {running[key]}")
            if account["held"] != held[key]:
                self.fault("stored held", f"account {key}: {account['held']}, holds {held[key]}")
            if account["kind"] not in MAY_BE_NEGATIVE and account["balance"] - account["held"] < 0:
                self.fault("available below zero", f"account {key}")
            book = (account["environment"], account["asset"])
            sums[book] = sums.get(book, 0) + account["balance"]
            if account["balance"] < 0:
                circulating[book] = circulating.get(book, 0) - account["balance"]
        for book, total in circulating.items():
            if total > MOST:
                self.fault("circulation fits into one account", f"environment, asset {book}: {total}")
        for book, total in sums.items():
            if total != 0:
                self.fault("value is conserved", f"environment, asset {book}: {total}")

    def check_entry_sets(self):
        self.nothing("entry without journal",
                     "SELECT entry FROM entries WHERE entry / 1024 NOT IN (SELECT journal FROM journal)")
        self.nothing("journal without entries",
                     "SELECT journal FROM journal j WHERE NOT EXISTS (SELECT 1 FROM entries e"
                     " WHERE e.entry BETWEEN j.journal * 1024 AND j.journal * 1024 + 1023)")
        last_number, last_at = 0, 0
        for row in self.rows("SELECT journal, at FROM journal ORDER BY journal"):
            if row["journal"] != last_number + 1 or row["at"] < last_at:
                self.fault("journal numbers and times", tuple(row))
            last_number, last_at = row["journal"], row["at"]

    # --- payments -----------------------------------------------------------------------------------

    def account_of(self, wallet, asset):
        return self.trustlines.get((wallet, asset))

    def expected_moves(self, payment):
        """(account, amount) of every entry that a succeeded payment must have, in order; None: any value."""
        if payment["type"] == MULTI:
            moves = []
            for leg in self.legs.get(payment["payment"], []):
                moves.append((self.account_of(leg["source_wallet"], leg["asset"]), -leg["amount"]))
                moves.append((self.account_of(leg["destination_wallet"], leg["asset"]), leg["amount"]))
            return moves
        if payment["type"] in (COLLECTION, ON_REFERENCE):
            target = self.account_of(payment["destination_wallet"], payment["receiving_asset"])
            return [(None, -payment["receiving_amount"]), (target, payment["receiving_amount"])]
        source = self.account_of(payment["source_wallet"], payment["sending_asset"])
        if payment["type"] == CASH_OUT:
            fee = self.parts[payment["payment"]]["fee"]
            moves = [(source, -payment["sending_amount"]), (None, payment["sending_amount"])]
            return moves + ([(source, -fee), (None, fee)] if fee else [])
        owner = self.wallet_at.get(payment["destination"], payment["destination_wallet"])
        if payment["type"] == TO_ADDRESS:
            target = self.account_of(owner, payment["sending_asset"])
            return [(source, -payment["sending_amount"]), (target or MISSING, payment["sending_amount"])]
        if payment["type"] in (SWAP, SWAP_TO_ADDRESS):
            target = self.account_of(owner, payment["receiving_asset"]) or MISSING
            return [(source, -payment["sending_amount"]), (None, payment["sending_amount"]),
                    (None, -payment["receiving_amount"]), (target, payment["receiving_amount"])]
        target = self.account_of(payment["destination_wallet"], payment["sending_asset"])
        return [(source, -payment["sending_amount"]), (target, payment["sending_amount"])]

    def is_debited(self, payment):
        """Whether the payment is debited. A payout is debited as soon as its provider accepts it."""
        early = (payment["type"] == CASH_OUT and payment["status"] == PROCESSING
                 and self.parts[payment["payment"]]["state"] == ACCEPTED)
        return payment["status"] in DEBITED or early

    @staticmethod
    def is_paid_again(payment):
        """Whether an operator corrected a refunded payment to succeeded."""
        paid = payment["status"] == SUCCEEDED or payment["refunded_amount"] is not None
        return paid and payment["corrected_from"] == REFUNDED

    def check_given_back(self, payment, sets, refunds):
        """Returns and reversals add up, never exceed the payment, and are in its entries."""
        key = payment["payment"]
        what = f"payment {key} in status {payment['status']}"
        booked = [row for row in self.given_back.get(key, []) if row["state"] == BOOKED]
        fee = self.parts[key]["fee"] if key in self.parts else 0
        if sum(row["amount"] + row["fee"] for row in booked) != payment["refunded_amount"]:
            self.fault("refunds add up", f"{what}: {payment['refunded_amount']}")
        for column, most in (("amount", payment["sending_amount"]), ("fee", fee),
                             ("returned", payment["receiving_amount"]), ("held", payment["receiving_amount"])):
            if sum(row[column] or 0 for row in booked) > (most or payment["sending_amount"]):
                self.fault("no more is given back than was paid", f"{what}: {column}")
        earlier = payment["corrected_from"] == REFUNDED
        with_entries = [row for row in booked if row["journal"] is not None]
        if len(refunds) != earlier + len(with_entries):
            self.fault("each refund has its entries", f"{what} has {len(refunds)} sets")
        self.check_shares(payment, booked, what)
        source = self.account_of(payment["source_wallet"], payment["sending_asset"])
        if payment["type"] in INCOMING:
            source = self.account_of(payment["destination_wallet"], payment["receiving_asset"])
        for lines, row in zip(refunds[earlier:], with_entries):
            credited = sum(line["amount"] for line in lines if line["account"] == source)
            wanted = row["amount"] + row["fee"] if row["held"] is None else -row["held"]
            if credited != wanted or lines[0]["entry"] // 1024 != row["journal"]:
                self.fault("each refund has its entries", f"{what}: {credited}")
        paid, left = {}, {}
        for lines, totals in ((sets, (paid, left)), (refunds, (left,))):
            for line in (line for one in lines for line in one):
                for total in totals:
                    total[line["account"]] = total.get(line["account"], 0) + line["amount"]
        for account, amount in left.items():
            if not min(0, paid.get(account, 0)) <= amount <= max(0, paid.get(account, 0)):
                self.fault("refunds reverse entries", f"{what}: account {account} has {amount} left")

    def check_shares(self, payment, booked, what):
        """The wallet of an on-ramp gives back the share of its credit that its payer gets back."""
        if payment["type"] not in INCOMING:
            return
        collected = self.parts[payment["payment"]]["collected_amount"] or payment["sending_amount"]
        most, credited = min(collected, payment["sending_amount"]), payment["receiving_amount"]
        back, given = sum(row["amount"] for row in booked), sum(row["held"] for row in booked)
        if not credited * back <= given * most or back == most and given != credited or back > most:
            self.fault("an on-ramp gives back its share", f"{what}: {given} of {credited} for {back} of {most}")

    def check_refund(self, payment, sets, refunds):
        """A failed payment is refunded once and in full, or not at all."""
        waiting = [row for row in self.given_back.get(payment["payment"], [])
                   if row["state"] == WAITING and row["id"] is not None]
        if len(waiting) != (payment["type"] in INCOMING and payment["status"] == REFUND_PENDING):
            self.fault("one refund waits for its provider", f"payment {payment['payment']} has {len(waiting)}")
        if payment["refunded_amount"] is not None:
            return self.check_given_back(payment, sets, refunds)
        what = f"payment {payment['payment']} in status {payment['status']}"
        paid_again = self.is_paid_again(payment)
        if any(row["state"] == BOOKED and row["amount"] + row["fee"] for row in
               self.given_back.get(payment["payment"], [])):
            self.fault("refunds add up", what)
        if len(refunds) != (payment["status"] == REFUNDED or paid_again):
            self.fault("refunded once", f"{what} has {len(refunds)} refund sets")
        elif refunds and sets:
            sums = {}
            for row in [*sets[0], *refunds[0]]:
                sums[row["account"]] = sums.get(row["account"], 0) + row["amount"]
            if any(sums.values()):
                self.fault("refund returns what was debited", f"{what}: {sums}")

    def check_payment(self, payment, sets, events, holds):
        key, status = payment["payment"], payment["status"]
        what = f"payment {key} in status {status}"
        debited = self.is_debited(payment)
        if debited:
            if len(sets) != 1 + self.is_paid_again(payment):
                self.fault("moved once", f"{what} has {len(sets)} entry sets")
            for lines in sets:
                found = [(row["account"], row["amount"]) for row in lines]
                wanted = self.expected_moves(payment)
                same = len(found) == len(wanted) and all(
                    f[1] == w[1] and w[0] in (None, f[0]) for f, w in zip(found, wanted))
                if not same:
                    self.fault("entries follow the record", f"{what}: {found}, expected {wanted}")
        elif sets:
            self.fault("no entries before success", what)
        hold_state = 1 if debited else 0 if status in OPEN else 2
        check_holds(self, payment, holds, hold_state)
        if [event["version"] for event in events] != list(range(1, payment["version"] + 1)):
            self.fault("one event per version", f"{what}: {[tuple(event) for event in events]}")
        terminal = [event for event in events if event["type"] >= SUCCEEDED]
        endings = ENDINGS[status]
        again = payment["type"] in INCOMING and status in (REFUND_PENDING, REFUND_FAILED)
        if payment["corrected_at"] is not None or payment["refunded_amount"] is not None or again:
            endings = payment["version"] - 1 - (payment["processing_at"] is not None)
        if len(terminal) != endings:
            self.fault("every final status has its event", f"{what} has {len(terminal)}")

    def check_providers(self):
        """Totals add up, every submission is recorded, and a quote pays for one payment."""
        submissions = {}
        for row in self.rows("SELECT * FROM provider_attempts ORDER BY payment, attempt"):
            submissions.setdefault(row["payment"], []).append(row)
        types = {row["payment"]: row for row in self.rows(
            "SELECT payment, type, sending_amount, quote FROM payments")}
        through = {key for key, row in types.items() if row["type"] in (CASH_OUT, COLLECTION, ON_REFERENCE)}
        for key in through ^ set(self.parts):
            self.fault("provider record of a provider payment", f"payment {key}")
        for key, part in self.parts.items():
            calls = submissions.get(key, [])
            if [row["attempt"] for row in calls] != list(range(1, len(calls) + 1)):
                self.fault("provider calls are numbered", f"payment {key}")
            if part["attempts"] != sum(row["call"] in SUBMISSIONS for row in calls):
                self.fault("every submission is on record", f"payment {key}: {part['attempts']}")
            if key in types and types[key]["type"] == CASH_OUT and (
                    part["total"] != types[key]["sending_amount"] + part["fee"]):
                self.fault("total is amount plus fee", f"payment {key}: {tuple(part)}")
        self.check_endpoints()
        self.check_collections()
        self.nothing("attempt without a provider payment", "SELECT payment FROM provider_attempts WHERE payment"
                     " NOT IN (SELECT payment FROM provider_payments)")
        quotes = {row["quote"]: row["payment"] for row in self.rows("SELECT quote, payment FROM quotes")}
        for key, row in types.items():
            if row["quote"] is not None and quotes.get(row["quote"]) != key:
                self.fault("quote and payment refer to each other", f"payment {key}")
        for quote, key in quotes.items():
            if key is not None and (key not in types or types[key]["quote"] != quote):
                self.fault("quote and payment refer to each other", f"quote {quote}")
        arrived = [row["payment"] for row in self.rows("SELECT payment FROM reference_payments")]
        on_reference = [key for key, row in types.items() if row["type"] == ON_REFERENCE]
        if sorted(arrived) != sorted(on_reference):
            self.fault("one arrival per payment on a reference", f"{len(arrived)} and {len(on_reference)}")

    def check_limits(self):
        """Recomputes the stored sums of a destination from the payments alone."""
        sent = {}
        for row in self.rows("SELECT p.connector, d.id, p.created_at, p.status, p.sending_amount,"
                             " p.refunded_amount FROM payments p"
                             " JOIN destinations d ON d.destination = p.destination WHERE p.type = ?"
                             " ORDER BY p.payment", CASH_OUT):
            sent.setdefault((row["connector"], row["id"]), []).append(row)
        stored = {}
        for row in self.rows("SELECT * FROM destination_sums ORDER BY connector, destination, level, first_at"):
            stored.setdefault((row["connector"], row["destination"], row["level"]), []).append(row)
        wanted = {(*key, level) for key in sent for level in (1, 2, 3)}
        for key in wanted ^ set(stored):
            self.fault("sums of a destination", f"level {key[2]} of connector {key[0]}")
        for key in wanted & set(stored):
            ends = [row["first_at"] for row in stored[key][1:]] + [MOST]
            if stored[key][0]["first_at"] > sent[key[:2]][0]["created_at"]:
                self.fault("sums of a destination", f"level {key[2]} begins after the first payment")
            for row, end in zip(stored[key], ends):
                part = [p for p in sent[key[:2]] if row["first_at"] <= p["created_at"] < end]
                total = sum(p["sending_amount"] for p in part if p["status"] in COUNTED)
                total += sum(max(p["sending_amount"] - p["refunded_amount"], 0) for p in part
                             if p["refunded_amount"] is not None)
                if (row["payments"], row["amount"]) != (len(part), total):
                    self.fault("sums of a destination", f"{tuple(row)}: {len(part)} payments of {total}")

    def check_metadata(self):
        """Each text of a payment has its search term, and no term has another payment."""
        wanted = set()
        for row in self.rows("SELECT tenant, payment, metadata FROM payments WHERE metadata IS NOT NULL"):
            for key, text in json.loads(row["metadata"]).items():
                digest = hashlib.sha256(f"{key}={text}".encode()).digest()
                wanted.add((row["tenant"], int.from_bytes(digest[:8], "big", signed=True), row["payment"]))
        stored = {tuple(row) for row in self.rows("SELECT tenant, term, payment FROM metadata_terms")}
        for tenant, _, payment in wanted ^ stored:
            self.fault("search terms of metadata", f"payment {payment} of tenant {tenant}")

    def check_fundings(self):
        """A funding is one credit from issuance to one wallet, without a payment."""
        for row in self.rows("SELECT f.journal, j.kind, j.payment FROM fundings f"
                             " LEFT JOIN journal j ON j.journal = f.journal"):
            lines = self.rows("SELECT e.amount, a.wallet, a.kind FROM entries e JOIN accounts a ON a.account ="
                              " e.account WHERE e.entry / 1024 = ? ORDER BY e.entry", row["journal"])
            ok = (row["kind"] == FUNDING and row["payment"] is None and len(lines) == 2
                  and lines[0]["kind"] == 1 and lines[1]["wallet"] is not None and lines[1]["amount"] > 0)
            if not ok:
                self.fault("fundings", f"journal {row['journal']}")

    def check_endpoints(self):
        """A payment stays with the endpoint that it was first sent to, which belongs to its connector."""
        http = {row["connector"]: row["driver"] == HTTP for row in self.rows("SELECT * FROM connectors")}
        present = dict.fromkeys(http, 0)
        owner = {}
        for row in self.rows("SELECT * FROM connector_endpoints"):
            owner[row["connector_endpoint"]] = row["connector"]
            present[row["connector"]] += row["retired_at"] is None
        for key, count in present.items():
            if count != http[key]:
                self.fault("one active endpoint", f"connector {key} has {count}")
        for row in self.rows("SELECT payment, connector FROM payments WHERE type IN (?, ?)", CASH_OUT,
                             COLLECTION):
            part = self.parts.get(row["payment"])
            sent = http[row["connector"]] and part is not None and part["attempts"] > 0
            endpoint = part["connector_endpoint"] if part is not None else None
            if sent != (endpoint is not None) or (sent and owner.get(endpoint) != row["connector"]):
                self.fault("sent to an endpoint of its connector", f"payment {row['payment']}: {endpoint}")

    def check_collections(self):
        """A collection credits the collected amount, minus the fee, at the rate of the quote, and never more."""
        for row in self.rows(
                "SELECT p.status, p.corrected_at, p.receiving_amount, v.collected_amount, a.decimals, q.*"
                " FROM payments p"
                " JOIN quotes q ON q.quote = p.quote JOIN provider_payments v ON v.payment = p.payment"
                " JOIN assets a ON a.asset = p.receiving_asset WHERE p.type = ?", COLLECTION):
            collected, quoted, credited = row["collected_amount"], row["receive_amount"], row["receiving_amount"]
            what = f"payment {row['payment']}: {credited} of {quoted} for {collected} of {row['send_amount']}"
            if row["status"] in DEBITED and row["corrected_at"] is not None:
                if collected is None or not 0 < credited <= quoted:  # the operator states the amount
                    self.fault("a corrected collection credits no more than its quote", what)
            elif row["status"] not in DEBITED or collected is not None and collected >= row["send_amount"]:
                if credited != quoted:
                    self.fault("a collection credits its quote", what)
            elif collected is None:
                self.fault("a collection stores the collected amount", what)
            else:
                left, whole = collected - row["fee"], row["send_amount"] - row["fee"]
                by_rate = left * row["rate_numerator"] // row["rate_denominator"]
                if not 0 < credited <= min(by_rate, quoted):
                    self.fault("a collection credits no more than was collected", what)
                if (credited - 10**(7 - row["decimals"])) * whole >= quoted * left:  # up to the last place
                    self.fault("a collection credits no more than its share", what)

    def check_tenants(self):
        """No payment moves value of another association or environment."""
        tenants = {row["tenant"]: row["environment"] for row in self.rows("SELECT * FROM tenants")}
        payments = {row["payment"]: row for row in self.rows("SELECT payment, tenant, type FROM payments")}
        accounts = {row["account"]: row for row in self.rows("SELECT * FROM accounts")}
        journal = {row["journal"]: row for row in self.rows("SELECT journal, tenant, payment, kind FROM journal")}
        for entry in self.rows("SELECT entry, account, amount FROM entries"):
            row, account = journal.get(entry["entry"] // 1024), accounts.get(entry["account"])
            if row is None or account is None or row["payment"] is None:
                continue
            payment = payments.get(row["payment"])
            if payment is None or payment["tenant"] != row["tenant"]:
                self.fault("tenants do not mix", f"journal {row['journal']}")
                continue
            sent_away = payment["type"] in (TO_ADDRESS, SWAP_TO_ADDRESS) and (
                entry["amount"] > 0 or row["kind"] == REFUND)
            own = account["wallet"] is None or account["tenant"] == payment["tenant"] or sent_away
            if not own or tenants.get(account["tenant"]) != tenants.get(payment["tenant"]):
                self.fault("tenants do not mix", tuple(entry))

    def check_payments(self, settled):
        sets, refunds, events, holds, jobs = {}, {}, {}, {}, {}
        self.nothing("a multi-transfer is the sum of its legs",
                     "SELECT p.payment FROM payments p WHERE p.type = ? AND p.sending_amount IS NOT (SELECT"
                     " sum(amount) FROM payment_legs l WHERE l.payment = p.payment) AND p.sending_amount"
                     " IS NOT NULL", MULTI)
        self.wallet_at = {row["destination"]: row["wallet"] for row in self.rows(
            "SELECT d.destination, w.wallet FROM destinations d JOIN wallets w ON w.public_key = d.wallet_address")}
        self.given_back = {}
        for row in self.rows("SELECT * FROM refunds ORDER BY journal, refund"):
            self.given_back.setdefault(row["payment"], []).append(row)
        self.nothing("one record per transactionId", "SELECT p.payment FROM payments p JOIN refunds r"
                     " ON r.tenant = p.tenant AND r.transaction_id = p.transaction_id")
        self.legs = {}
        for leg in self.rows("SELECT * FROM payment_legs ORDER BY payment, leg"):
            self.legs.setdefault(leg["payment"], []).append(leg)
        lines = {}
        for entry in self.rows("SELECT * FROM entries ORDER BY entry"):
            lines.setdefault(entry["entry"] // 1024, []).append(entry)
        for kind, index in ((0, sets), (3, refunds)):
            for row in self.rows("SELECT journal, payment FROM journal WHERE payment IS NOT NULL"
                                 " AND kind = ?", kind):
                index.setdefault(row["payment"], []).append(lines.get(row["journal"], []))
        for table, index in (("events", events), ("holds", holds), ("provider_jobs", jobs)):
            rest = f" WHERE type <= {LAST_PAYMENT_EVENT} ORDER BY sequence" if table == "events" else ""
            for row in self.rows(f"SELECT * FROM {table}{rest}"):
                index.setdefault(row["payment"], []).append(row)
        known = set()
        for payment in self.rows("SELECT * FROM payments"):
            key = payment["payment"]
            known.add(key)
            self.check_payment(payment, sets.get(key, []), events.get(key, []), holds.get(key, []))
            self.check_refund(payment, sets.get(key, []), refunds.get(key, []))
            in_progress = payment["status"] in (*OPEN, REFUND_PENDING)
            count = len(jobs.get(key, [])) + (payment["settle_at"] is not None)
            part = self.parts.get(key)
            checking = part is not None and part["open_item"] == CHECKING
            if part is not None and part["open_item"] == UNBOOKED and (
                    payment["status"] not in (FAILED, EXPIRED) or payment["type"] == CASH_OUT):
                self.fault("unbooked money was not credited", f"payment {key} in status {payment['status']}")
            if count != (in_progress or checking):
                self.fault("one job per payment in progress", f"payment {key} has {count}")
            if settled and in_progress:
                self.fault("everything settled", f"payment {key} is in status {payment['status']}")
        for name, index in (("entries", sets), ("holds", holds), ("jobs", jobs)):
            for key in set(index) - known:
                self.fault(f"{name} without a payment", key)
        self.nothing("one record per transactionId",
                     "SELECT tenant, transaction_id, count(*) FROM payments GROUP BY 1, 2"
                     " HAVING count(*) > 1")
        for row in self.rows("SELECT tenant, min(sequence) AS first, max(sequence) AS last, count(*) AS n"
                             " FROM events GROUP BY tenant"):
            if row["first"] != 1 or row["last"] != row["n"]:
                self.fault("event sequence without a gap", tuple(row))

    # --- the clients' view --------------------------------------------------------------------------

    def check_client(self, client):
        stored = {row["transaction_id"]: row for row in self.rows("SELECT * FROM payments")}
        reversals = {row["transaction_id"]: row for row in self.rows(
            "SELECT r.transaction_id, p.id FROM refunds r JOIN payments p ON p.payment = r.payment")}
        for transaction_id, record_id in client["acked"].items():
            row = stored.get(transaction_id) or reversals.get(transaction_id)
            if row is None:
                self.fault("acknowledged and lost", transaction_id)
            elif str(uuid.UUID(bytes=row["id"])) != record_id:
                self.fault("acknowledged under another id", transaction_id)
        for transaction_id in client.get("rejected", ()):
            if transaction_id in stored or transaction_id in reversals:
                self.fault("rejected and stored", transaction_id)
        for transaction_id, row in stored.items():
            if row["type"] == ON_REFERENCE:
                continue  # has no request
            body = client["sent"].get(transaction_id)
            if body is None:
                self.fault("never sent", transaction_id)
                continue
            amounts = [leg["amount"] for leg in body.get("transfers", [body]) if "amount" in leg]
            if not amounts:
                continue  # the quote determines the amount
            units = sum(int(Decimal(amount) * 10**7) for amount in amounts)
            if units != row["sending_amount"]:
                self.fault("amount differs from the request", f"{transaction_id}: {row['sending_amount']}")


def audit(path, client=None, settled=False):
    """The faults, one sentence each."""
    folder = tempfile.mkdtemp()
    try:
        copy = os.path.join(folder, "copy.db")
        shutil.copy(path, copy)
        if os.path.exists(path + "-wal"):
            shutil.copy(path + "-wal", copy + "-wal")
        run = Audit(copy)
        try:
            run.check_file()
            check_schema(run)
            run.check_balances()
            run.check_entry_sets()
            check_keys(run, path)
            run.check_payments(settled)
            run.check_providers()
            run.check_limits()
            run.check_metadata()
            check_quotas(run)
            check_books(run)
            run.check_fundings()
            run.check_tenants()
            check_outbox(run)
            if client is not None:
                run.check_client(client)
        except sqlite3.DatabaseError as error:
            run.fault("cannot be read", error)
        run.db.close()
        return run.faults
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--client")
    parser.add_argument("--settled", action="store_true")
    arguments = parser.parse_args()
    client = None
    if arguments.client:
        with open(arguments.client, encoding="utf-8") as file:
            client = json.load(file)
    faults = audit(arguments.file, client, arguments.settled)
    for fault in faults[:50]:
        print(fault)
    print(f"auditor: {len(faults)} faults" if faults else "auditor: no faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
