"""The auditor must find what is wrong: a sound file passes, and each damaged copy fails; see
auditor_control.sh."""

import os
import shutil
import sqlite3
import sys
import tempfile
import time

from auditor import audit
from clients import Clients, wait_until_settled
from gateway import Gateway

TRIGGERS = ("journal_is_final", "journal_is_kept", "entries_are_final", "entries_are_kept",
            "holds_close_once", "holds_are_kept")
ENTRY = "(SELECT entry FROM entries ORDER BY entry LIMIT 1 OFFSET 30)"
DONE = "(SELECT payment FROM payments WHERE status = 2 AND type = 0 LIMIT 1 OFFSET 3)"
# (the check that must report it, what is done by hand)
DAMAGES = [
    ("hash chain", f"UPDATE entries SET amount = amount + 1 WHERE entry = {ENTRY}"),
    ("hash chain", "UPDATE journal SET at = at - 1 WHERE journal = 20"),
    ("hash chain", "UPDATE journal SET link = zeroblob(32) WHERE journal = 20"),
    ("running balance", f"UPDATE entries SET balance_after = balance_after + 1 WHERE entry = {ENTRY}"),
    ("stored balance", "UPDATE accounts SET balance = balance + 1 WHERE kind = 0 AND balance > 0"),
    ("value is conserved", "UPDATE accounts SET balance = balance + 1 WHERE account ="
                           " (SELECT min(account) FROM accounts WHERE kind = 0)"),
    ("stored held", "UPDATE accounts SET held = 1 WHERE kind = 0 AND balance > 0"),
    ("entry without journal", "DELETE FROM journal WHERE journal = (SELECT max(journal) FROM journal)"),
    ("journal without entries", "DELETE FROM entries WHERE entry / 1024 = 12"),
    ("moved once", f"UPDATE journal SET payment = NULL WHERE payment = {DONE}"),
    ("entries follow the record", f"UPDATE payments SET sending_amount = sending_amount + 1 WHERE payment = {DONE}"),
    ("entries follow the record", "UPDATE payment_legs SET amount = amount + 1 WHERE leg = 1"),
    ("no entries before success", f"UPDATE payments SET status = 1 WHERE payment = {DONE}"),
    ("holds follow the status", f"UPDATE holds SET state = 2 WHERE payment = {DONE}"),
    ("one event per version", f"DELETE FROM events WHERE payment = {DONE} AND version = 2"),
    ("every ending has its event", f"UPDATE events SET type = 1 WHERE payment = {DONE} AND version = 3"),
    ("a job while under way", f"INSERT INTO settlement_jobs (due_at, payment) SELECT 1, {DONE}"),
    ("everything settled", f"UPDATE payments SET status = 0 WHERE payment = {DONE}"),
    ("event sequence without a gap", "DELETE FROM events WHERE sequence = 9"),
    ("acknowledged and lost", f"UPDATE payments SET transaction_id = 'other' WHERE payment = {DONE}"),
    ("acknowledged under another id", f"UPDATE payments SET id = zeroblob(16) WHERE payment = {DONE}"),
    ("refunded once", f"UPDATE journal SET kind = 3 WHERE payment = {DONE}"),
    ("never sent", f"UPDATE payments SET transaction_id = 'other' WHERE payment = {DONE}"),
    ("another amount than sent", f"UPDATE payments SET sending_amount = 1 WHERE payment = {DONE}"),
    ("foreign key", f"UPDATE holds SET account = 99999 WHERE payment = {DONE}"),
]


def damaged(path, sql, client):
    copy = path + ".damaged"
    shutil.copy(path, copy)
    db = sqlite3.connect(copy, isolation_level=None)
    db.execute("PRAGMA ignore_check_constraints = ON")
    for trigger in TRIGGERS:
        db.execute("DROP TRIGGER " + trigger)
    changed = db.execute(sql).rowcount
    db.close()
    if changed < 1:
        sys.exit(f"auditor_control: this changes nothing: {sql}")
    faults = audit(copy, client, settled=True)
    os.remove(copy)
    return faults


def main():
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway(os.environ["COFFER_RELEASE_BIN"], folder).start()
        clients = Clients(gateway, count=2).start()
        time.sleep(0.5)
        clients.stop()
        clients.replay_waiting()
        wait_until_settled(gateway)
        gateway.stop()
        for fault in audit(gateway.db, clients.facts(), settled=True):
            sys.exit(f"auditor_control: the sound file is said to be wrong: {fault}")
        for check, sql in DAMAGES:
            faults = damaged(gateway.db, sql, clients.facts())
            if not any(fault.startswith(check + ":") for fault in faults):
                sys.exit(f"auditor_control: not found ({check}): {sql}\n  found instead: {faults[:5]}")
        print(f"auditor_control: a sound file of {len(clients.acked)} payments passes,"
              f" {len(DAMAGES)} damaged copies are found, each for its reason")


main()
