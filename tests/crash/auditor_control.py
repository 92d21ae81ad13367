#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: cost=15
"""Tests the judges of the other crash tests, the auditor and `coffer verify`: both must pass a sound file and
fail every damaged copy for the right reason."""

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

from harness.auditor import audit
from harness.clients import OWN, Clients, payment, wait_until_settled
from harness.machine import binary
from harness.report import fail
from harness.server import Demo
from every_write import EveryWrite

ENTRY = "(SELECT entry FROM entries ORDER BY entry LIMIT 1 OFFSET 30)"
DONE = "(SELECT payment FROM payments WHERE status = 2 AND type = 0 LIMIT 1 OFFSET 3)"
GROUP = "(SELECT payment FROM payments WHERE status = 2 AND type = 2 LIMIT 1)"
GROUP_SET = f"(SELECT journal FROM journal WHERE payment = {GROUP})"
OUT = "(SELECT payment FROM payments WHERE type = 5 LIMIT 1)"
TO_ADDRESS = "(SELECT destination FROM payments WHERE type = 1 AND status = 2 LIMIT 1)"
IN = "(SELECT payment FROM payments WHERE type = 6 AND status = 2 LIMIT 1)"
TREASURY = "(SELECT account FROM accounts WHERE kind = 0 AND balance > 0 LIMIT 1)"
ONLY_CLIENTS_KNOW = None
# (the auditor's check, the invariant of verify, the statement that causes the damage)
DAMAGES = [
    # Value and its chain.
    ("hash chain", "hash_chain", f"UPDATE entries SET amount = amount + 1 WHERE entry = {ENTRY}"),
    ("hash chain", "hash_chain", "UPDATE journal SET at = at - 1 WHERE journal = 20"),
    ("journal numbers and times", "journal_in_order", "UPDATE journal SET at = 1 WHERE journal = 20"),
    ("journal numbers and times", "journal_in_order",
     "UPDATE journal SET journal = journal + 7 WHERE journal = (SELECT max(journal) FROM journal)"),
    ("hash chain", "hash_chain", "UPDATE journal SET link = zeroblob(32) WHERE journal = 20"),
    ("running balance", "running_balances_chain",
     f"UPDATE entries SET balance_after = balance_after + 1 WHERE entry = {ENTRY}"),
    ("running balance below zero", "never_below_zero",
     f"UPDATE entries SET amount = amount - balance_after - 1, balance_after = -1 WHERE account = {TREASURY}"
     f" AND entry = (SELECT min(entry) FROM entries WHERE account = {TREASURY})"),
    ("stored balance", "balance_is_sum_of_entries",
     "UPDATE accounts SET balance = balance + 1 WHERE kind = 0 AND balance > 0"),
    ("value is conserved", "conservation", "UPDATE accounts SET balance = balance + 1 WHERE account ="
                                           " (SELECT min(account) FROM accounts WHERE kind = 0)"),
    ("stored held", "held_is_sum_of_open_holds",
     "UPDATE accounts SET held = 1 WHERE kind = 0 AND balance > 0"),
    ("available below zero", "no_overdraft",
     f"UPDATE accounts SET held = balance + 1 WHERE account = {TREASURY}"),
    ("entry without journal", "hash_chain",
     "DELETE FROM journal WHERE journal = (SELECT max(journal) FROM journal)"),
    ("journal without entries", "journal_in_order", "DELETE FROM entries WHERE entry / 1024 = 12"),
    # Detected only with the keys of the file.
    ("hash chain", "hash_chain", f"UPDATE payments SET transaction_id = 'other' WHERE payment = {DONE}"),
    ("hash chain", "hash_chain", f"UPDATE payments SET from_ref = 'other' WHERE payment = {DONE}"),
    ("hash chain", "hash_chain", f"UPDATE payments SET created_at = created_at - 1 WHERE payment = {DONE}"),
    ("hash chain", "hash_chain", f"UPDATE payment_legs SET description = 'other' WHERE payment = {GROUP}"),
    ("hash chain", "hash_chain", f"UPDATE provider_payments SET payer_name = 'other' WHERE payment = {OUT}"),
    ("audit log", "audit_log", "UPDATE audit_log SET actor = 'other' WHERE entry = (SELECT max(entry) FROM audit_log)"),
    ("audit log", "audit_log", "DELETE FROM audit_log WHERE entry = 1"),
    ("guarded row", "guarded_rows",
     "INSERT INTO operator_links (hash, operator, expires_at) VALUES (randomblob(32), NULL, 4102444800000)"),
    ("guarded row", "guarded_rows", "INSERT INTO operator_subjects VALUES (1, 'https://issuer.example', 'planted')"),
    ("guarded row", "guarded_rows",
     "INSERT INTO operator_passkeys (operator, credential, site, public_key, sign_count, name, created_at)"
     " VALUES (1, randomblob(32), 'localhost', x'a5', 0, 'planted', 1)"),
    ("guarded row", "guarded_rows", "UPDATE applications SET api_key_hash = zeroblob(32) WHERE application = 1"),
    ("guarded row", "guarded_rows", "UPDATE wallets SET public_key = 'G' || substr(public_key, 3) || 'A'"
                                    " WHERE wallet = (SELECT min(wallet) FROM wallets)"),
    ("guarded row", "guarded_rows", "UPDATE wallets SET status = 1 WHERE status = 0"),
    ("guarded row", "guarded_rows", "UPDATE rates SET numerator = numerator + 1"),
    ("guarded row", "guarded_rows", "UPDATE destinations SET account_number = '0' WHERE account_number IS NOT NULL"),
    ("guarded row", "guarded_rows", "UPDATE row_macs SET mac = zeroblob(32) WHERE source = 'wallets'"),
    ("guarded row", "guarded_rows", "DELETE FROM row_macs WHERE source = 'applications'"),
    ("guarded row", "guarded_rows", "INSERT INTO row_macs VALUES ('operators', 99, randomblob(32))"),
    ("guarded row", "guarded_rows", "UPDATE quotes SET fee = 0, total = send_amount"),
    ("guarded row", "guarded_rows", "UPDATE assets SET decimals = 7 - decimals, issuer = 'other'"),
    ("guarded row", "guarded_rows", "UPDATE onramp_references SET wallet = (SELECT max(wallet) FROM wallets) + 1 - wallet"),
    ("guarded row", "guarded_rows", "DELETE FROM connector_requirements"),
    ("guarded row", "guarded_rows", "UPDATE connectors SET tolerance_bps = 10000 WHERE tolerance_bps IS NULL"),
    ("guarded row", "events", "UPDATE events SET at = at + 1 WHERE payment IS NULL"),
    ("guarded row", "events", "UPDATE event_bodies SET body = CAST(body || ' ' AS BLOB)"),
    # Rows deleted together with their digest.
    ("sealed total", "guarded_rows", "DELETE FROM rates WHERE rowid = (SELECT max(rowid) FROM rates);"
                                     " DELETE FROM row_macs WHERE source = 'rates' AND row NOT IN (SELECT rowid FROM rates)"),
    ("sealed total", "guarded_rows", "DELETE FROM operators; DELETE FROM row_macs WHERE source = 'operators'"),
    ("sealed total", "guarded_rows", "UPDATE sealed_totals SET seal = randomblob(32) WHERE source = 'wallets'"),
    ("sealed total", "guarded_rows", "DELETE FROM sealed_totals WHERE source = 'fee_rows'"),
    ("sealed total", "audit_log", "DELETE FROM audit_log WHERE entry = (SELECT max(entry) FROM audit_log)"),
    ("sealed total", "audit_log", "DELETE FROM audit_log"),
    ("sealed total", "audit_log", "DELETE FROM audit_log; DELETE FROM sealed_totals WHERE source = 'audit_log'"),
    # Payments, their entries and their holds.
    ("moved once", "settled_once", f"UPDATE journal SET payment = NULL WHERE payment = {DONE}"),
    ("moved once", "settled_once", f"UPDATE journal SET payment = {DONE} WHERE payment = {GROUP}"),
    ("entries follow the record", "entries_follow_payments",
     f"UPDATE payments SET sending_amount = sending_amount + 1 WHERE payment = {DONE}"),
    ("entries follow the record", "entries_follow_payments",
     f"UPDATE payments SET source_wallet = destination_wallet WHERE payment = {DONE}"),
    ("entries follow the record", "entries_follow_payments",
     "INSERT INTO entries SELECT entry + 2, account, amount, balance_after, counterparty, leg FROM entries"
     f" WHERE entry / 1024 = (SELECT journal FROM journal WHERE payment = {DONE})"),
    ("entries follow the record", "entries_follow_legs",
     "UPDATE payment_legs SET amount = amount + 1 WHERE leg = 1"),
    # A group whose last leg was never applied.
    ("entries follow the record", "entries_follow_legs",
     f"DELETE FROM entries WHERE entry / 1024 = {GROUP_SET} AND entry % 1024 >= 4"),
    ("a multi-transfer is the sum of its legs", "entries_follow_legs",
     f"DELETE FROM payment_legs WHERE leg = 2 AND payment = {GROUP}"),
    ("no entries before success", "settled_once",
     f"UPDATE payments SET status = 1 WHERE payment = {DONE}"),
    ("holds follow the status", "holds_follow_payments",
     f"UPDATE holds SET state = 2 WHERE payment = {GROUP}"),
    ("stored held", "holds_follow_payments", f"UPDATE holds SET state = 0 WHERE payment = {GROUP}"),
    ("holds follow the status", "holds_are_there", f"DELETE FROM holds WHERE payment = {GROUP}"),
    ("holds match the legs", "holds_follow_legs",
     f"UPDATE holds SET amount = amount + 1 WHERE payment = {GROUP}"),
    ("entries follow the record", "addresses_are_credited",
     f"UPDATE destinations SET wallet_address = (SELECT public_key FROM wallets WHERE public_key <> wallet_address)"
     f" WHERE destination = {TO_ADDRESS}"),
    ("entries follow the record", "addresses_are_credited",
     f"UPDATE destinations SET wallet_address = 'other' WHERE destination = {TO_ADDRESS}"),
    ("one arrival per payment on a reference", "arrivals_are_recorded",
     "DELETE FROM reference_payments WHERE payment = (SELECT min(payment) FROM reference_payments)"),
    ("only multi-transfers store holds", "holds_are_there", f"INSERT INTO holds SELECT {DONE}, 1, 1, 1"),
    ("only multi-transfers store holds", "holds_are_there",
     "INSERT INTO holds SELECT payment, 1, 1, 1 FROM payments WHERE type = 7 LIMIT 1"),
    # A payment in progress holds its sending amount.
    ("stored held", "held_is_sum_of_open_holds", f"UPDATE payments SET status = 1 WHERE payment = {DONE}"),
    ("stored held", "held_is_sum_of_open_holds",
     f"UPDATE provider_payments SET state = 1 WHERE payment = {OUT};"
     f" UPDATE payments SET status = 1, failure = NULL WHERE payment = {OUT}"),
    ("only outgoing payments have a source account", "holds_are_there",
     f"UPDATE payments SET sending_asset = (SELECT max(asset) + 1 FROM assets) WHERE payment = {DONE}"),
    ("one event per version", "events_tell_all",
     f"DELETE FROM events WHERE payment = {DONE} AND version = 2"),
    ("every final status has its event", "events_tell_all",
     f"UPDATE events SET type = 1 WHERE payment = {DONE} AND version = 3"),
    ("one job per payment in progress", "work_is_queued",
     f"PRAGMA ignore_check_constraints = ON; UPDATE payments SET settle_at = 1 WHERE payment = {DONE}"),
    ("one job per payment in progress", "work_is_queued", f"UPDATE payments SET status = 0 WHERE payment = {DONE}"),
    ("event sequence without a gap", "sequences_have_no_gap", "DELETE FROM events WHERE sequence = 9"),
    ("event sequence without a gap", "sequences_have_no_gap", "DELETE FROM events WHERE sequence = 1"),
    ("key of event IDs", "event_ids_have_a_key", "DELETE FROM meta WHERE name = 'event_id_key'"),
    ("refunded once", "refunded_once", f"UPDATE journal SET kind = 3 WHERE payment = {DONE}"),
    ("refund returns what was debited", "refunds_mirror_payments",
     f"UPDATE journal SET kind = 3, payment = {DONE} WHERE payment = {GROUP};"
     f" UPDATE payments SET status = 5, failure = 15 WHERE payment = {DONE}"),
    ("refunds add up", "refunds_follow_payments",
     f"UPDATE payments SET status = 5, refunded_amount = 5 WHERE payment = {DONE}"),
    ("no more is given back than was paid", "refunds_follow_payments",
     "INSERT INTO refunds (payment, tenant, state, amount, reason, at, booked_at, journal, transaction_id)"
     f" SELECT payment, tenant, 1, sending_amount + 1, '', 0, 0, 1, 'r' FROM payments WHERE payment = {DONE};"
     f" UPDATE payments SET status = 5, refunded_amount = sending_amount + 1 WHERE payment = {DONE}"),
    ("each refund has its entries", "refunds_reverse_entries",
     "INSERT INTO refunds (payment, tenant, state, amount, reason, at, booked_at, journal, transaction_id)"
     f" SELECT payment, tenant, 1, 1, '', 0, 0, 1, 'r' FROM payments WHERE payment = {DONE};"
     f" UPDATE payments SET status = 5, refunded_amount = 1 WHERE payment = {DONE}"),
    ("one record per transactionId", "refunds_follow_payments",
     "INSERT INTO refunds (payment, tenant, state, reason, at, transaction_id)"
     f" SELECT payment, tenant, 3, '', 0, transaction_id FROM payments WHERE payment = {DONE}"),
    ("sums of a destination", "destination_sums_follow_payments",
     "UPDATE destination_sums SET amount = amount + 1 WHERE level = 2"),
    ("sums of a destination", "destination_sums_follow_payments",
     "UPDATE destination_sums SET payments = payments + 1 WHERE level = 3"),
    ("sums of a destination", "destination_sums_follow_payments", "DELETE FROM destination_sums WHERE level = 1"),
    ("search terms of metadata", "metadata_is_found",
     f"UPDATE payments SET metadata = '{{\"order\":\"A-1\"}}' WHERE payment = {DONE}"),
    ("quota counter", "quotas_count_rows", "UPDATE quota_use SET used = used + 1 WHERE quota = 1"),
    ("quota counter", "quotas_count_rows", "DELETE FROM quota_use WHERE quota = 2"),
    ("quota counter", "quotas_count_rows", "INSERT INTO quota_use VALUES (1, 4, 0, 1)"),
    ("quota counter", "quotas_count_rows", "INSERT INTO quota_use VALUES (1, 3, 10000, 1)"),
    ("tenant bytes", "quotas_count_rows", "UPDATE quota_use SET used = 9 WHERE quota = 5"),
    ("fundings", "fundings_are_credits", f"INSERT INTO fundings VALUES ({GROUP_SET}, 'a payment', NULL)"),
    ("tenants do not mix", "tenants_do_not_mix",
     "UPDATE accounts SET tenant = 2 WHERE kind = 0 AND balance > 0"),
    ("foreign key", "foreign_keys", f"UPDATE holds SET account = 99999 WHERE payment = {GROUP}"),
    # Through a provider.
    ("provider record of a provider payment", "provider_parts",
     f"INSERT INTO provider_payments (payment, fee, total) SELECT {DONE}, 0, 1"),
    ("total is amount plus fee", "provider_parts",
     f"UPDATE provider_payments SET total = total + 1 WHERE payment = {OUT}"),
    ("every submission is on record", "provider_parts",
     f"UPDATE provider_payments SET attempts = attempts + 1 WHERE payment = {OUT}"),
    ("one active endpoint", "endpoints",
     "UPDATE connectors SET driver = 1 WHERE connector = (SELECT min(connector) FROM connectors)"),
    ("sent to an endpoint of its connector", "endpoints",
     "INSERT INTO connector_endpoints (connector_endpoint, id, connector, base_url, sealed_secret, timeout_ms,"
     " created_at, retired_at) SELECT 999, zeroblob(16), connector, 'https://other', x'00', 1, 1, 1"
     f" FROM payments WHERE payment = {OUT}; UPDATE provider_payments SET connector_endpoint = 999"
     f" WHERE payment = {OUT}"),
    ("a collection stores the collected amount", "collected_amounts",
     f"UPDATE provider_payments SET collected_amount = NULL WHERE payment = {IN}"),
    ("a collection credits its quote", "collected_amounts",
     f"UPDATE quotes SET receive_amount = receive_amount + 1 WHERE payment = {IN}"),
    ("a collection credits no more than was collected", "collected_amounts",
     f"UPDATE provider_payments SET collected_amount = 0 WHERE payment = {IN}"),
    ("one refund waits for its provider", "refunds_follow_payments",
     f"UPDATE payments SET status = 4 WHERE payment = {IN}"),
    ("an on-ramp gives back its share", "refunds_reverse_entries",
     "INSERT INTO refunds (payment, tenant, state, amount, reason, at, booked_at, journal, transaction_id, id, asked,"
     " held) SELECT payment, tenant, 1, sending_amount, 'x', 1, 1, 1, 'r', zeroblob(16), sending_amount, 1"
     f" FROM payments WHERE payment = {IN}; UPDATE payments SET status = 5, refunded_amount = sending_amount"
     f" WHERE payment = {IN}"),
    ("unbooked money was not credited", "unbooked_money_is_not_credited",
     f"UPDATE provider_payments SET open_item = 1 WHERE payment = {IN}"),
    ("one job per payment in progress", "work_is_queued",
     f"UPDATE provider_payments SET open_item = 2 WHERE payment = {IN}"),
    ("quote and payment refer to each other", "quotes_used_once",
     f"UPDATE quotes SET payment = NULL WHERE payment = {OUT}"),
    # A file from a program that ignores column types.
    ("payments.sending_amount is an integer", "sqlite_integrity",
     "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')')"
     " WHERE name = 'payments'; PRAGMA writable_schema = RESET; UPDATE payments SET sending_amount = 0.5"
     f" WHERE payment = {DONE}; PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql || ' STRICT'"
     " WHERE name = 'payments'"),
    # Detected only by clients.
    ("everything settled", ONLY_CLIENTS_KNOW,
     f"UPDATE payments SET status = 0 WHERE payment = {DONE}"),
    ("acknowledged and lost", ONLY_CLIENTS_KNOW,
     f"UPDATE payments SET transaction_id = 'other' WHERE payment = {DONE}"),
    ("acknowledged under another id", ONLY_CLIENTS_KNOW,
     f"UPDATE payments SET id = zeroblob(16) WHERE payment = {DONE}"),
    ("never sent", ONLY_CLIENTS_KNOW,
     f"UPDATE payments SET transaction_id = 'other' WHERE payment = {DONE}"),
    ("amount differs from the request", ONLY_CLIENTS_KNOW,
     f"UPDATE payments SET sending_amount = 1 WHERE payment = {DONE}"),
    ("rejected and stored", ONLY_CLIENTS_KNOW,
     f"UPDATE payments SET transaction_id = 'rejected' WHERE payment = {DONE}"),
]
# Changes of the schema: verify refuses to open the file, and names the object.
SCHEMAS = [
    ("missing", "DROP TRIGGER journal_is_final"),
    ("missing", "DROP TRIGGER audit_entries_are_not_deleted"),
    ("missing", "DROP INDEX accounts_of_wallet"),
    ("missing", "DROP INDEX destinations_live"),
    ("does not belong",
     "CREATE TRIGGER planted AFTER INSERT ON payments BEGIN"
     " UPDATE applications SET api_key_hash = zeroblob(32) WHERE application = NEW.application; END"),
    ("does not belong", "CREATE VIEW planted AS SELECT * FROM operators"),
    ("does not belong", "CREATE TABLE planted (x)"),
    ("differs", "DROP TRIGGER holds_close_once; CREATE TRIGGER holds_close_once BEFORE UPDATE ON holds"
                " WHEN 0 BEGIN SELECT RAISE(ABORT, 'a hold is closed once and otherwise final'); END"),
    ("differs", "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql,"
                " 'transaction_id     TEXT NOT NULL', 'transaction_id     TEXT') WHERE name = 'payments';"
                " PRAGMA writable_schema = RESET"),
]
FIRST, SECOND = "twin-one", "twin-two"  # same length, and unique in the file


def verify(path):
    """The names of the invariants that `coffer verify` reports as broken."""
    done = subprocess.run([binary(), "verify", "--db", path, "--json", "--log-level",
                           "error"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        # The file was not accepted as a coffer file.
        if done.returncode != 74:
            sys.exit(f"verify: {done.returncode} {done.stderr}")
        return ["rejected", done.stderr]
    answer = json.loads(done.stdout)
    answer = answer[0] if isinstance(answer, list) else answer
    names = [violation["invariant"] for violation in answer["violations"]]
    if answer["ok"] != (done.returncode == 0) or answer["ok"] != (not names):
        sys.exit(f"verify contradicts itself: {done.returncode} {answer}")
    return names


def wait_for(path, sql):
    """Waits until the query returns a value other than NULL."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    for _ in range(200):
        if db.execute(sql).fetchone()[0] is not None:
            db.close()
            return
        time.sleep(0.05)
    fail(f"no result in time: {sql}")


class Sound:
    """A file with payments of every kind, some through providers, and its clients' view."""

    def __init__(self, folder):
        gateway = Demo(binary(), folder).start()
        writes = EveryWrite(gateway)
        writes.renew()
        clients = Clients(gateway, count=2).start()
        self.client = clients.facts()
        self.client["sent"].update(writes.sent)
        for operation, connection, method, path, body in writes.requests("every"):
            status, answer = connection.call(method, path, body)
            if status == 202 and "transactionId" in (body or {}):
                self.client["sent"][body["transactionId"]] = body
                self.client["acked"][body["transactionId"]] = answer["transactionRecordId"]
        for number, name in enumerate((FIRST, SECOND)):
            _, body = payment(gateway, name, 2 * number)
            self.client["sent"][name] = body
            gateway.login().call("POST", "/v1/payments/" + OWN, body)
        # Enough for every damage; each is judged on a copy, which takes longer with more.
        while len(clients.acked) < 100:
            time.sleep(0.01)
        clients.stop()
        clients.replay_waiting()
        time.sleep(0.5)
        wait_for(gateway.db, f"SELECT {IN}")
        gateway.stop()
        self.client["rejected"] = ["rejected"]
        self.path = gateway.db

    def copy(self):
        path = self.path + ".damaged"
        shutil.copy(self.path, path)
        return path


def damaged(sound, sql):
    copy = sound.copy()
    db = sqlite3.connect(copy, isolation_level=None)
    db.execute("PRAGMA ignore_check_constraints = ON")
    triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        db.execute("DROP TRIGGER " + name)
    before = db.total_changes
    if callable(sql):
        sql(db)
    else:
        db.executescript(sql)
    if db.total_changes == before:
        fail(f"the statement changes no row: {sql}")
    for _, create in triggers:
        db.execute(create)
    db.close()
    return copy


def with_schema(sound, sql):
    """A copy with tables, indexes, triggers or views that coffer does not create."""
    copy = sound.copy()
    db = sqlite3.connect(copy, isolation_level=None)
    db.executescript(sql)
    db.close()
    return copy


def with_twins(sound):
    """Two records with one transactionId, made by editing bytes, because an index rejects them."""
    copy = sound.copy()
    with open(copy, "rb") as file:
        content = file.read()
    if content.count(SECOND.encode()) < 2:  # in the row and in the index
        fail("the file does not contain the twin in the row and in the index")
    with open(copy, "wb") as file:
        file.write(content.replace(SECOND.encode(), FIRST.encode()))
    return copy


def with_raised_payment(sound):
    """Raises a settled payment by one unit in every dependent row, and recomputes the chain as far as possible
    without its key."""
    def raise_amounts(db):
        payment, journal = db.execute("SELECT p.payment, j.journal FROM payments p JOIN journal j USING (payment)"
                                      " WHERE p.type = 0 AND p.status = 2 ORDER BY p.payment DESC").fetchone()
        db.execute("UPDATE payments SET sending_amount = sending_amount + 1 WHERE payment = ?", (payment,))
        db.execute("UPDATE holds SET amount = amount + 1 WHERE payment = ?", (payment,))
        for line, sign in ((0, -1), (1, 1)):
            entry = journal * 1024 + line
            (account,) = db.execute("SELECT account FROM entries WHERE entry = ?", (entry,)).fetchone()
            db.execute("UPDATE entries SET amount = amount + ? WHERE entry = ?", (sign, entry))
            db.execute("UPDATE entries SET balance_after = balance_after + ? WHERE account = ? AND entry >= ?",
                       (sign, account, entry))
            db.execute("UPDATE accounts SET balance = balance + ? WHERE account = ?", (sign, account))
        link = bytes(32)
        for row in db.execute("SELECT journal, tenant, kind, payment, at, link FROM journal ORDER BY journal").fetchall():
            text = "|".join("-" if value is None else str(value) for value in row[:5]) + "\n"
            for entry in db.execute("SELECT entry % 1024, account, amount, balance_after, counterparty, leg FROM entries"
                                    " WHERE entry / 1024 = ? ORDER BY entry", row[:1]):
                text += "|".join(map(str, entry)) + "\n"
            link = hashlib.sha256(link + text.encode()).digest()
            if row[0] >= journal:
                db.execute("UPDATE journal SET link = ? WHERE journal = ?", (link, row[0]))

    return damaged(sound, raise_amounts)


def with_nothing(sound):
    copy = sound.copy()
    os.truncate(copy, 0)
    return copy


def without_tables(sound):
    """A file without tables, because they were all in a log that is lost."""
    copy = with_nothing(sound)
    sqlite3.connect(copy).execute("PRAGMA journal_mode = WAL")
    return copy


# Damage that no single statement causes: (check, invariant, description, function), as in DAMAGES.
OTHERS = [("hash chain", "hash_chain", "a raised payment", with_raised_payment),
          ("one record per transactionId", "sqlite_integrity", "twins", with_twins),
          ("cannot be read", "rejected", "an empty file", with_nothing),
          ("cannot be read", "rejected", "no table", without_tables)]


def judge(sound, copy, check, invariant, what):
    faults = audit(copy, sound.client, settled=check == "everything settled")
    if not any(fault.startswith(check + ":") for fault in faults):
        fail(f"damage not detected by {check!r}: {what}\n  reported: {faults[:5]}")
    if invariant is not ONLY_CLIENTS_KNOW:
        names = verify(copy)
        if invariant not in names:
            fail(f"verify does not report {invariant}: {what}\n  reported: {names}")
    remove(copy)


def remove(copy):
    for suffix in ("", "-wal", "-shm", ".lock"):
        if os.path.exists(copy + suffix):
            os.remove(copy + suffix)


def judge_schema(sound, kind, sql):
    """The server, verify and doctor must reject the schema and name the object."""
    copy = with_schema(sound, sql)
    if not any(fault.startswith("schema:") for fault in audit(copy, sound.client)):
        fail(f"the auditor does not detect the schema change: {sql}")
    for command in (["verify", "--db", copy], ["verify", copy], ["serve", "--db", copy, "--listen-http", "127.0.0.1:0"],
                    ["doctor", "--db", copy]):
        done = subprocess.run([binary(), *command], capture_output=True, text=True, check=False, timeout=60)
        if done.returncode == 0 or kind not in done.stdout + done.stderr:
            fail(f"coffer {command[0]} does not report `{kind}`: {sql}\n  exit code {done.returncode}: {done.stdout}"
                 f"{done.stderr}")
    remove(copy)


def settled_file():
    """A file with nothing in progress, which must pass the strictest audit."""
    with tempfile.TemporaryDirectory() as folder:
        gateway = Demo(binary(), folder).start()
        clients = Clients(gateway, count=2).start()
        time.sleep(0.3)
        clients.stop()
        clients.replay_waiting()
        wait_until_settled(gateway)
        gateway.stop()
        return audit(gateway.db, clients.facts(), settled=True) + verify(gateway.db)


def main():
    with tempfile.TemporaryDirectory() as folder:
        sound = Sound(folder)
        copy = sound.copy()
        for fault in [*audit(copy, sound.client), *verify(copy), *settled_file()]:
            fail(f"a fault is reported for the sound file: {fault}")
        for check, invariant, sql in DAMAGES:
            judge(sound, damaged(sound, sql), check, invariant, sql)
        for check, invariant, what, damage in OTHERS:
            judge(sound, damage(sound), check, invariant, what)
        for kind, sql in SCHEMAS:
            judge_schema(sound, kind, sql)
        both = sum(invariant is not ONLY_CLIENTS_KNOW for _, invariant, _ in DAMAGES) + len(OTHERS)
        print(f"count: a sound file of {len(sound.client['acked'])} payments passes both judges")
        print(f"control: {len(SCHEMAS)} changed schemas rejected by verify, serve and doctor, and detected by the"
              " auditor")
        print(f"control: {len(DAMAGES) + len(OTHERS)} damaged copies detected by the auditor, {both} of them by verify"
              " (only clients or the auditor can detect the others), each for the right reason")


main()
