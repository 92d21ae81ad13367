#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Creates a large file for measurements: `large_file.py BINARY FILE [options]`. `coffer demo --db FILE` serves it
and prints its secrets; `coffer verify --db FILE` finds no faults.

coffer itself creates one payment of each kind and final status for every tenant, and wallets and beneficiaries. Their
rows are then multiplied (large_replicas.py) while the file is not served. Pending work is due in 2100, so a served
file does not change. The file contains the payments' quotes, deliveries of a disabled webhook, and events without
bodies."""

import argparse
import os
import random
import sqlite3
import subprocess
import sys
import time
import types

from harness.auditor_keys import sign_again
from harness.server import Demo

import large_replicas as replicas
from large_people import people
from large_samples import Samples

DAY_MS = 86_400_000
ODD = 0x9E3779B97F4A7C15  # spreads consecutive numbers
PIECE = 20_000          # payments between two inserts
PAYMENT_BYTES, FILE_BYTES = 700, 5  # size of a settled payment in the file; number of the quota
QUOTAS = "wallets=unlimited,beneficiaries=unlimited,destinations=unlimited,open_quotes=unlimited"
FIRST_TENANT = 0.8      # share of the first tenant; the others share the rest
# Number of each kind in 100,000 payments, by (type, status) as in schema.sql.
WEIGHTS = {(0, 2): 20_000, (2, 2): 5_000, (3, 2): 4_000, (3, 3): 1_000, (1, 2): 8_000, (4, 2): 3_000,
           (1, 3): 1_000, (5, 2): 10_000, (5, 3): 1_500, (5, 5): 1_000, (5, 6): 200, (5, 1): 10, (6, 2): 4_000,
           (6, 3): 300, (6, 1): 10, (7, 2): 2_000, (0, 0): 10, (6, 7): 300}


def say(text):
    print(f">> {time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


class Tenant:
    """One application's view while coffer serves the file."""

    def __init__(self, caller, facts, options, share, elsewhere):
        self.caller = caller
        _, enums = caller.call("GET", "/v1/payments/enums")
        self.samples = Samples(caller, facts, enums, elsewhere).make()
        self.share = share
        self.add_wallets(max(2, int(options.wallets * share)))
        self.add_people(int(options.beneficiaries * share))
        self.webhook = self.disabled_webhook()

    def add_wallets(self, count):
        for number in range(count):
            made = self.samples.wallet(f"Branch {number:05}", "USDC")
            self.samples.fund(made["id"], "1000000000")

    def add_people(self, count):
        for first in range(0, count, 500):
            rows = list(people(first, min(500, count - first)))
            made = self.samples.ask("POST", "/v1/beneficiaries/bulk", {"beneficiaries": rows})
            if made["failed"]:
                sys.exit(f"large_file: {made['failed']} beneficiaries were rejected, as "
                         + str(next(row["problem"] for row in made["results"] if row["status"] == "failed")))

    def disabled_webhook(self):
        made = self.samples.ask("POST", "/v1/webhooks", {"url": "http://127.0.0.1:9/hooks", "eventTypes": ["*"]})
        self.samples.ask("DELETE", "/v1/webhooks/" + made["id"])
        return made["id"]


def serve_samples(options):
    """Creates the initial file with coffer. Returns (share, id of the disabled webhook) by association."""
    gateway = Demo(options.binary, os.path.dirname(os.path.abspath(options.file)),
                      os.path.basename(options.file)).start(env={"COFFER_QUOTA_SANDBOX": QUOTAS},
                                                            ready_within_s=60)
    elsewhere = gateway.facts["wallets"][1]["publicKey"]
    tenants, others = {}, max(1, options.tenants - 1)
    for number in range(options.tenants):
        say(f"tenant {number + 1} of {options.tenants}: samples, wallets, beneficiaries")
        if number == 0:
            association, caller = gateway.facts["associationId"], gateway.login()
            share = FIRST_TENANT if options.tenants > 1 else 1.0
        else:
            association = gateway.command("association", "create", f"Tenant {number + 1}")["id"]
            made = gateway.command("application", "register", "--name", "Bench", "--association", association)
            caller, share = gateway.connect().log_in(made), (1 - FIRST_TENANT) / others
        tenant = Tenant(caller, gateway.facts, options, share, elsewhere)
        tenants[association.replace("-", "")] = (share, tenant.webhook)
    gateway.stop()
    return tenants


def open_alone(path):
    """Opens the file without a rollback journal: an interruption leaves an unusable file."""
    db = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode = DELETE", "journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE",
                   "cache_size = -1000000", "temp_store = MEMORY"):
        db.execute("PRAGMA " + pragma).fetchall()
    return db


def move_back(db, by_ms):
    """Moves all rows that coffer has just written into the past, so that the following payments end today."""
    triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        db.execute(f"DROP TRIGGER {name}")
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        times = [column for column in replicas.columns_of(db, table) if replicas.is_time(column)]
        if times and table != "audit_log":  # its links stay unchanged
            db.execute(f"UPDATE {table} SET " + ", ".join(f"{name} = {name} - {by_ms}" for name in times))
    for _, sql in triggers:
        db.execute(sql)


class Multiplier:
    """Writes payments up to the requested number."""

    def __init__(self, db, tenants, options):
        self.db, self.options, self.random = db, options, random.Random(14)
        self.balances = dict(db.execute("SELECT account, balance FROM accounts"))
        self.held = dict(db.execute("SELECT account, held FROM accounts"))
        self.sums = replicas.DestinationSums(db)
        self.state = types.SimpleNamespace(
            ids=0, journal=self.one("SELECT max(journal) FROM journal"),
            quote=self.one("SELECT max(quote) FROM quotes"),
            sequences=dict(db.execute("SELECT tenant, max(sequence) FROM events GROUP BY tenant")),
            messages=self.one("SELECT coalesce(max(message), 0) FROM messages"))
        self.state.next_sequence = self.next_sequence
        self.state.next_message = self.next_message
        self.tables = ["payments", *(table for table, _ in replicas.tables_of_payments(db)), "entries"]
        self.rows = {table: [] for table in self.tables}
        self.deliveries, self.attempts = [], []
        self.sequence = replicas.columns_of(db, "events").index("sequence")
        self.makers = [self.maker_of(association, *facts) for association, facts in tenants.items()]

    def one(self, sql, *values):
        return self.db.execute(sql, values).fetchone()[0]

    def next_sequence(self, tenant):
        self.state.sequences[tenant] = sequence = self.state.sequences[tenant] + 1
        return sequence

    def next_message(self):
        self.state.messages += 1
        return self.state.messages

    def uid(self, at):
        """A unique UUIDv7."""
        self.state.ids += 1
        return (at << 80 | 7 << 76 | 2 << 62 | self.state.ids * ODD % (1 << 62)).to_bytes(16, "big")

    def maker_of(self, association, share, webhook):
        tenant, = self.db.execute("SELECT t.tenant FROM tenants t JOIN associations a ON a.association = t.association"
                                  " WHERE hex(a.id) = ? AND t.environment = 0", (association.upper(),)).fetchone()
        samples = {}
        for (payment,) in self.db.execute("SELECT payment FROM payments WHERE tenant = ?", (tenant,)).fetchall():
            sample = replicas.Sample(self.db, payment)
            samples.setdefault(sample.kind, []).append(sample)
        samples[(0, 0)] = [replicas.initiated(samples[(0, 2)][0])]
        samples[(6, 7)] = [replicas.expired(samples[(6, 1)][0])]
        wallets = dict(zip(("Sales", "Purchasing"), ("w0", "w1")))
        mapped, accounts = {}, {}
        for name, variable in wallets.items():
            wallet, account = self.db.execute(
                "SELECT w.wallet, a.account FROM wallets w JOIN accounts a ON a.wallet = w.wallet AND a.asset = 1"
                " WHERE w.tenant = ? AND w.name = ?", (tenant, name)).fetchone()
            mapped[wallet], accounts[account] = variable, "a" + variable[1]
        pool = self.db.execute(
            "SELECT d.beneficiary, d.destination FROM destinations d WHERE d.tenant = ? AND d.method = 0"
            " AND d.currency = 'KES' AND d.archived_at IS NULL ORDER BY d.destination LIMIT 20000",
            (tenant,)).fetchall()
        names = {"uid": self.uid, "state": self.state, "balances": self.balances, "held": self.held,
                 "sums": self.sums, **{"rows_" + table: rows for table, rows in self.rows.items()}}
        functions, weights = [], []
        for kind, ones in samples.items():
            for sample in ones:
                functions.append(replicas.Maker(sample, mapped, accounts, bool(pool)).compile(names))
                weights.append(WEIGHTS[kind] * (kind[0] in self.options.types))
        branches = self.db.execute(
            "SELECT w.wallet, a.account FROM wallets w JOIN accounts a ON a.wallet = w.wallet AND a.asset = 1"
            " WHERE w.tenant = ? AND w.name LIKE 'Branch %' ORDER BY w.wallet", (tenant,)).fetchall()
        if tenant == 3:  # the demo's first two wallets come first, and are used most
            branches[:0] = self.db.execute("SELECT wallet, account FROM accounts WHERE wallet IN (1, 2) AND asset = 1"
                                           ).fetchall()
        return types.SimpleNamespace(
            tenant=tenant, share=share, functions=functions, weights=weights, wallets=branches, pool=pool or [(0, 0)],
            webhook=self.one("SELECT webhook FROM webhooks WHERE hex(id) = ?", webhook.replace("-", "").upper()))

    def run(self):
        first = self.one("SELECT max(payment) FROM payments") + 1
        start = self.one("SELECT max(at) FROM (SELECT at FROM journal UNION ALL SELECT at FROM events)") + 1_000
        step = max(100, self.options.days * DAY_MS // max(1, self.options.payments))
        self.inserts = {table: replicas.insert_into(self.db, table) for table in self.tables}
        began, number = time.monotonic(), 0
        self.db.execute("BEGIN")
        while number < self.options.payments:
            count = min(PIECE, self.options.payments - number)
            owners = self.random.choices(self.makers, [maker.share for maker in self.makers], k=count)
            chosen = {id(maker): iter(self.random.choices(maker.functions, maker.weights, k=count))
                      for maker in self.makers}
            for owner in owners:
                self.add(owner, next(chosen[id(owner)]), number, first + number, start + number * step)
                number += 1
            self.flush()
            if number % 200_000 < PIECE:
                say(f"{number:,} payments, {number / (time.monotonic() - began):,.0f} a second")
        self.finish()

    def add(self, owner, function, number, payment, at):
        wallets, draw = owner.wallets, self.random.random
        i = int(len(wallets) * draw() ** 3)
        j = int(len(wallets) * draw() ** 3)
        if i == j:
            j = (i + 1) % len(wallets)
        (w0, a0), (w1, a1) = wallets[i], wallets[j]
        b, d = owner.pool[int(len(owner.pool) * draw() ** 2)]
        events = self.rows["events"]
        before = len(events)
        function(number, payment, at, 1 + number % 5, w0, w1, a0, a1, b, d)
        if number % 10 == 0:
            self.deliver(owner.webhook, events[before:], number % 250 == 0, at)

    def deliver(self, webhook, events, failed, at):
        tries = 3 if failed else 1
        for event in events:
            sequence = event[self.sequence]
            self.deliveries.append((webhook, sequence, 2 if failed else 1, tries, tries, None, at, at + 90))
            self.attempts += [(webhook, sequence, attempt, at + attempt * 20, 12, 500 if failed else 200)
                              for attempt in range(1, tries + 1)]

    def flush(self):
        for table, rows in self.rows.items():
            if rows:
                self.db.executemany(self.inserts[table], rows)
                rows.clear()
        self.db.executemany("INSERT INTO deliveries (webhook, sequence, state, attempts, tries, due_at, created_at,"
                            " closed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", self.deliveries)
        self.db.executemany("INSERT INTO delivery_attempts (webhook, sequence, attempt, at, duration_ms, status)"
                            " VALUES (?, ?, ?, ?, ?, ?)", self.attempts)
        self.deliveries.clear()
        self.attempts.clear()

    def finish(self):
        self.db.executemany("UPDATE accounts SET balance = ?, held = ? WHERE account = ?",
                            [(balance, self.held[account], account) for account, balance in self.balances.items()])
        self.db.executemany("INSERT OR REPLACE INTO destination_sums (connector, destination, level, first_at,"
                            " last_at, payments, amount) VALUES (?, ?, ?, ?, ?, ?, ?)", self.sums.rows)
        self.db.execute("UPDATE webhooks SET cursor = (SELECT max(sequence) FROM events e"
                        " WHERE e.tenant = webhooks.tenant)")
        # The byte quota counts what coffer would have written.
        self.db.execute("UPDATE quota_use SET used = used + ? * (SELECT count(*) FROM payments p"
                        " WHERE p.tenant = quota_use.tenant) WHERE quota = ?", (PAYMENT_BYTES, FILE_BYTES))
        self.db.execute("COMMIT")


def make(options):
    tenants = serve_samples(options)
    db = open_alone(options.file)
    move_back(db, options.days * DAY_MS)
    Multiplier(db, tenants, options).run()
    sign_again(db, options.file)
    db.execute("PRAGMA journal_mode = WAL").fetchall()
    db.close()


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("file")
    parser.add_argument("--payments", type=int, default=600_000)
    parser.add_argument("--beneficiaries", type=int, default=50_000)
    parser.add_argument("--wallets", type=int, default=200)
    parser.add_argument("--tenants", type=int, default=4)
    parser.add_argument("--types", type=int, nargs="+", default=range(8), help="types of the payments, as in schema.sql")
    parser.add_argument("--days", type=int, default=25, help="days up to now over which the payments are spread")
    parser.add_argument("--verify", action="store_true", help="run `coffer verify` on the file")
    return parser.parse_args()


def main():
    options = read_options()
    if os.path.exists(options.file):
        sys.exit(f"large_file: {options.file} already exists")
    make(options)
    say(f"{options.file} is made: {os.path.getsize(options.file) / 2**20:,.0f} MiB")
    if options.verify:
        say("verifying")
        sys.exit(subprocess.run([options.binary, "verify", "--db", options.file], check=False).returncode)


if __name__ == "__main__":
    main()
