#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: cost=15
"""A program that can write the file, but has no master key, changes rows on which coffer acts. `coffer verify` must find
each change. The server must refuse to act on the row, say so, and continue with everything else."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from harness.machine import binary
from harness.report import check, fail, wait_for
from harness.server import Demo
from harness.tenant import Tenant
from every_write import EveryWrite

DONE = "(SELECT max(payment) FROM payments WHERE status = 2 AND type = 0)"
WITH_INSTRUCTIONS = "(SELECT max(payment) FROM payment_instructions)"


def columns(db, table):
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]


def put(db, table, row):
    db.execute(f"INSERT OR REPLACE INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
               list(row.values()))


def one(db, table, where):
    names = columns(db, table)
    return dict(zip(names, db.execute(f"SELECT {', '.join(names)} FROM {table} WHERE {where}").fetchone()))


def insert_pending(db, _):
    """A payment in progress that no client submitted, with the hold that it needs."""
    row = one(db, "payments", f"payment = {DONE}")
    (last,) = db.execute("SELECT max(payment) FROM payments").fetchone()
    row |= {"payment": last + 1, "id": os.urandom(16), "transaction_id": "forged", "status": 0, "version": 1,
            "settle_at": 1, "processing_after": None, "completed_after": None}
    put(db, "payments", row)
    db.execute("UPDATE accounts SET held = held + ? WHERE wallet = ? AND asset = ?",
               (row["sending_amount"], row["source_wallet"], row["sending_asset"]))


def remove_last(db, _):
    (last,) = db.execute("SELECT max(payment) FROM payments").fetchone()
    (journal,) = db.execute("SELECT max(journal) FROM journal").fetchone()
    db.execute("DELETE FROM entries WHERE entry / 1024 = ?", (journal,))
    db.execute("DELETE FROM journal WHERE journal = ?", (journal,))
    db.execute("DELETE FROM events WHERE payment = ?", (last,))
    db.execute("DELETE FROM payments WHERE payment = ?", (last,))


def put_back(db, world):
    """A payment that has ended is in progress again, with the row and the digest of that time."""
    put(db, "payments", world.before | {"settle_at": 1})
    db.execute("DELETE FROM events WHERE payment = ? AND version > 1", (world.before["payment"],))
    db.execute("UPDATE accounts SET held = held + ? WHERE wallet = ? AND asset = ?",
               (world.before["sending_amount"], world.before["source_wallet"], world.before["sending_asset"]))


# (what, the invariant that `coffer verify` names, the change)
FORGERIES = [
    ("a payment in progress is inserted", "payments", insert_pending),
    ("the last payment is removed", "payments", remove_last),
    ("the last entry set is removed", "hash_chain",
     "DELETE FROM entries WHERE entry / 1024 = (SELECT max(journal) FROM journal);"
     " DELETE FROM journal WHERE journal = (SELECT max(journal) FROM journal)"),
    ("a payment that ended is in progress again", "payments", put_back),
    ("the amount of a payment in progress", "payments", "UPDATE payments SET sending_amount = sending_amount + 1"
                                                       " WHERE transaction_id = 'waiting'"),
    ("the receiver of a payment in progress", "payments",
     "UPDATE payments SET destination_wallet = source_wallet WHERE transaction_id = 'waiting'"),
    ("the version of a payment that ended", "payments",
     f"UPDATE payments SET version = version + 1 WHERE payment = {DONE}"),
    ("the state of a payment at its provider", "payments", "UPDATE provider_payments SET state = 0, attempts = 0"),
    ("the instructions for a payer", "payments",
     f"UPDATE payment_instructions SET value = 'forged' WHERE payment = {WITH_INSTRUCTIONS}"),
    ("the expiry of instructions", "payments", "UPDATE provider_payments SET expires_at = 4102444800000"),
    # Of the rows with one ID, one is live.
    ("an archived destination is revived", "guarded_rows",
     "UPDATE destinations SET archived_at = 1 WHERE archived_at IS NULL;"
     " UPDATE destinations SET archived_at = NULL WHERE destination IN"
     " (SELECT min(destination) FROM destinations GROUP BY id)"),
    ("an archived beneficiary is revived", "guarded_rows",
     "UPDATE beneficiaries SET archived_at = CASE WHEN archived_at IS NULL THEN 1 END"),
    ("an expired quote is open", "guarded_rows", "UPDATE quotes SET expires_at = 4102444800000"),
    ("two associations swap their tenants", "guarded_rows",
     "UPDATE tenants SET association = -association WHERE association IS NOT NULL;"
     " UPDATE tenants SET association = (SELECT max(association) FROM associations) + 1 + association"
     " WHERE association IS NOT NULL"),
    ("the key of event IDs", "guarded_rows", "UPDATE meta SET value = zeroblob(32) WHERE name = 'event_id_key'"),
    ("a row of meta is planted", "guarded_rows", "INSERT INTO meta (name, value) VALUES ('listener_secret:x', x'00')"),
    ("the body of an event", "events", "UPDATE event_bodies SET body = CAST(replace(body, '1', '2') AS BLOB)"),
    ("an event about a wallet", "events",
     "INSERT INTO events (tenant, sequence, type, wallet, wallet_status, version, at) SELECT tenant, max(sequence) + 1, 7,"
     " (SELECT max(wallet) FROM wallets w WHERE w.tenant = e.tenant), 1, 1, max(at) FROM events e WHERE tenant ="
     " (SELECT max(tenant) FROM wallets)"),
    ("a recovery of a webhook", "guarded_rows",
     "INSERT INTO webhook_recoveries (webhook, next, last, asked_at)"
     " SELECT max(webhook), 1, 9, 0 FROM webhooks"),
    ("the end of an old webhook secret", "guarded_rows",
     "UPDATE webhooks SET old_secret_until = 4102444800000, old_secret = sealed_secret"),
    ("a notification is planted", "guarded_rows",
     f"INSERT INTO messages (payment, channel, recipient, at, due_at) VALUES ({DONE}, 1, 'x@example.org', 1, 1)"),
    ("a token is planted", "guarded_rows",
     "INSERT INTO refresh_tokens VALUES (zeroblob(32), zeroblob(16), 1, 1, 0, 4102444800000)"),
    ("a limit of a tenant", "guarded_rows", "INSERT INTO quota_limits VALUES (3, 1, 1, 1)"),
]


class World:
    """A stopped file with payments of every kind, one of them in progress, and what an attacker kept of its past."""

    def __init__(self, folder):
        self.gateway = Demo(binary(), folder).start(env={"COFFER_SETTLE_DELAY_MS": "3600000"})
        self.tenant = Tenant.of_demo(self.gateway)
        ended = self.tenant.pay("ended")
        self.tenant.pay("waiting")
        self.gateway.stop()
        self.before = self.read("payments", "transaction_id = 'ended'")
        self.gateway.start()
        self.tenant = Tenant.of_demo(self.gateway)
        self.gateway.command("payment", "retry", ended)
        self.tenant.wait_settled("ended")
        writes = EveryWrite(self.gateway)
        writes.renew()
        for _, connection, method, path, body in writes.requests("every"):
            connection.call(method, path, body)
        self.gateway.command("association", "create", "Other")
        self.tenant.pay("last")
        self.tenant.wait_settled("last")
        self.gateway.stop()
        shutil.copy(self.gateway.db, self.gateway.db + ".sound")

    def read(self, table, where):
        db = sqlite3.connect(self.gateway.db)
        row = one(db, table, where)
        db.close()
        return row

    def forge(self, change):
        """Replaces the file by a forged copy. Returns whether the copy differs."""
        shutil.copy(self.gateway.db + ".sound", self.gateway.db)
        db = sqlite3.connect(self.gateway.db, isolation_level=None)
        db.execute("PRAGMA ignore_check_constraints = ON")
        triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            db.execute("DROP TRIGGER " + name)
        before = db.total_changes
        change(db, self) if callable(change) else db.executescript(change)
        changed = db.total_changes > before
        for _, create in triggers:
            db.execute(create)
        db.close()
        return changed


def verified(path):
    """The invariants that `coffer verify` names."""
    done = subprocess.run([binary(), "verify", "--db", path, "--json", "--log-level", "error"], capture_output=True,
                          text=True, check=False)
    if done.returncode not in (0, 3):
        fail(f"verify: {done.returncode} {done.stderr}")
    answer = json.loads(done.stdout)
    return [violation["invariant"] for violation in answer["violations"]]


def judge_verify(world):
    world.forge("UPDATE meta SET value = value WHERE name = 'time'")
    check("verify accepts the sound file", verified(world.gateway.db) == [], verified(world.gateway.db))
    for what, invariant, change in FORGERIES:
        if not world.forge(change):
            fail(f"the file has no row for: {what}")
        names = verified(world.gateway.db)
        check(f"verify finds: {what}", invariant in names, names)


def served(world, change, name, says, act):
    """The server on a forged file says what it refuses, and settles another payment."""
    world.forge(change)
    gateway = world.gateway
    with open(gateway.log, "w", encoding="utf-8"):
        pass
    try:
        gateway.start()
    except RuntimeError as not_ready:  # the verification may have found the change already
        if "exited with 1" in str(not_ready) and says in gateway.said():  # the demo needs this row to start
            return check(f"the demo does not start with: {name}", True)
        if "/healthz responds with 503" not in str(not_ready):
            raise
    tenant = Tenant(gateway, gateway.facts, world.tenant.wallets, "demo")
    try:
        act(world, tenant)
        for words in (says, "invariant violated"):
            wait_for(f"the server says: {words}", lambda words=words: words in gateway.said(), 20)
    finally:
        gateway.stop()
    check(f"the server refuses: {name}", True)


def pays_others(world, tenant):
    """Between new wallets, because the forgery may contradict the balances of the others."""
    tenant.wallets = [tenant.make_wallet("Third"), tenant.make_wallet("Fourth")]
    tenant.fund(tenant.wallets[0])
    tenant.pay("another")
    tenant.wait_settled("another")


def leaves(transaction_id, status):
    def act(world, tenant):
        pays_others(world, tenant)
        row = world.read("payments", f"transaction_id = '{transaction_id}'")
        if row["status"] != status:
            fail(f"{transaction_id} has status {row['status']}")
    return act


def pays_not_with_it(world, tenant):
    status, answer = tenant.call("POST", *tenant.payment("with-forged"))
    if status // 100 != 5:
        fail(f"a payment with a forged wallet: {status} {answer}")


def reads_on(world, tenant):
    """The accounts of the removed entries are neither debited nor credited, so wallets are not funded."""
    status, answer = tenant.call("GET", "/v1/wallets")
    if status != 200:
        fail(f"a list of wallets: {status} {answer}")


def hides_instructions(world, tenant):
    pays_others(world, tenant)
    for record in tenant.pages("/v1/transactions?type=onramp"):
        if "forged" in json.dumps(record):
            fail("forged instructions are shown")


# (the change, what, words in the log, what the server does)
SERVED = [
    (insert_pending, "an inserted payment", "inserted or changed by another program", leaves("forged", 0)),
    (put_back, "a payment that ended", "replaced by an older version", leaves("ended", 0)),
    ("UPDATE payments SET sending_amount = sending_amount + 1, settle_at = 1 WHERE transaction_id = 'waiting'",
     "another amount", "inserted or changed by another program", leaves("waiting", 0)),
    (remove_last, "a removed payment", "invariant violated", reads_on),
    (FORGERIES[8][2], "forged instructions", "changed the instructions", hides_instructions),
    ("UPDATE wallets SET own_account = 1 - own_account WHERE wallet = (SELECT destination_wallet FROM payments"
     " WHERE transaction_id = 'last')", "a forged wallet", "was changed by another program", pays_not_with_it),
    ("UPDATE accounts SET balance = balance + 10000000 WHERE wallet = (SELECT source_wallet FROM payments"
     " WHERE transaction_id = 'last')", "a forged balance", "entries give", pays_not_with_it),
]


def main():
    with tempfile.TemporaryDirectory() as folder:
        world = World(folder)
        judge_verify(world)
        for change, name, says, act in SERVED:
            served(world, change, name, says, act)
    return 0


sys.exit(main())
