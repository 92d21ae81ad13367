#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: cost=5
"""Tests the auditor's checks of limits, closed months and bank lines: a file with all of them passes, after payments,
reversals, an import, matches by rules and by hand, and the ends of months. Control: every damaged copy is detected by
the right check, and by `coffer verify`."""

import os
import shutil
import sqlite3
import subprocess
import tempfile
import uuid

from harness.auditor import audit
from harness.machine import binary
from harness.report import check, fail, wait_for
from harness.server import Demo
from harness.tenant import Tenant

SCALE = 10_000_000
HEAD = "bookingDate,amount,currency,account,bankReference,reference,text,partyName,partyAccount\n"
MATCH = ("(SELECT min(bank_match) FROM bank_matches WHERE rule = 1 AND bank_match NOT IN"
         " (SELECT undoes FROM bank_matches WHERE undoes IS NOT NULL))")
LINE = f"(SELECT bank_line FROM bank_matches WHERE bank_match = {MATCH})"
ANY = ""
# (check of the auditor, invariant of `coffer verify`, SQL)
DAMAGES = [
    ("limit counters", "limits_count_payments", "UPDATE limit_use SET day_amount = day_amount + 1"),
    ("limit counters", "limits_count_payments", "UPDATE limit_use SET month_payments = month_payments + 1"),
    ("limit counters", ANY, "UPDATE payment_limits SET since = (SELECT max(payment) FROM payments)"),
    ("limit counters", ANY, "DELETE FROM limit_use"),
    ("limit period", "limits_count_payments", "UPDATE limit_use SET day = day + 1"),
    ("limit period", "limits_count_payments", "UPDATE limit_use SET day = day - 86400000"),
    ("limit period", "limits_count_payments", "UPDATE limit_use SET day = day + 86400000"),
    ("closed month has its balances", "closed_periods",
     "UPDATE closed_periods SET digest = zeroblob(32) WHERE period = (SELECT min(period) FROM closed_periods)"),
    ("closed month has its balances", "closed_periods",
     "UPDATE closed_periods SET accounts = accounts + 1"),
    ("closed month ends with its last entry set", "closed_periods", "UPDATE closed_periods SET journal = journal - 1"),
    ("closed months follow each other", "closed_periods",
     "UPDATE closed_periods SET period = period + 1 WHERE period = (SELECT max(period) FROM closed_periods)"),
    ("closed after it had ended", ANY, "UPDATE closed_periods SET closed_at = 1"),
    ("bank line has its mark", ANY, f"UPDATE bank_lines SET amount = amount + 1 WHERE bank_line = {LINE}"),
    ("bank line has its mark", ANY, "UPDATE bank_lines SET text = text || '!' WHERE bank_reference = ''"),
    ("bank line of its file", "lines_follow_matches", "UPDATE statement_files SET lines = 1"),
    ("state of a bank line", ANY, f"UPDATE bank_lines SET state = 0 WHERE bank_line = {LINE}"),
    ("state of a bank line", ANY, f"DELETE FROM bank_matches WHERE bank_match = {MATCH}"),
    ("a match follows its rule", ANY,
     f"UPDATE bank_matches SET payment = (SELECT payment FROM bank_matches WHERE bank_line <> {LINE} AND undoes IS NULL"
     f" AND rule = 1 ORDER BY 1 DESC LIMIT 1) WHERE bank_match = {MATCH}"),
    ("a payment is matched once", ANY,
     f"INSERT INTO bank_matches (bank_line, kind, payment, rule, actor, at) SELECT (SELECT bank_line FROM bank_lines"
     f" WHERE state <> 2 LIMIT 1), kind, payment, rule, actor, at FROM bank_matches WHERE bank_match = {MATCH}"),
    ("a match names what a bank shows", ANY,
     f"UPDATE bank_matches SET payment = (SELECT payment FROM payments WHERE type = 0 LIMIT 1) WHERE bank_match = {MATCH}"),
    ("an undone match is that of the line", ANY,
     "UPDATE bank_matches SET payment = payment + 1 WHERE undoes IS NOT NULL"),
    ("a match stays in its environment", ANY, "UPDATE bank_lines SET environment = 1"),
]


def rows(path, sql):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    found = db.execute(sql).fetchall()
    db.close()
    return found


def shown(amount):
    sign, amount = ("-", -amount) if amount < 0 else ("", amount)
    return f"{sign}{amount // SCALE}.{amount % SCALE // 100_000:02}"


def statement(demo, folder):
    """Imports lines of payouts: by reference, in two parts, and one that is unknown. Returns the connector."""
    payouts = rows(demo.db, "SELECT p.id, p.created_at / 86400000, p.receiving_amount, c.id, c.currency FROM payments p"
                            " JOIN connectors c USING (connector) WHERE p.type = 5 AND p.status = 2 ORDER BY p.payment")
    connector, currency = payouts[0][3:]
    mine = [row for row in payouts if row[3] == connector]
    check(f"the demo has {len(mine)} payouts of one connector", len(mine) >= 4)
    text, number = HEAD, 0

    def line(day, amount, what, reference=True):
        nonlocal text, number
        number += 1
        date = rows(demo.db, f"SELECT date({day} * 86400, 'unixepoch')")[0][0]
        text += f"{date},{shown(amount)},{currency},KE1,{f'B{number}' if reference else ''},,{what},,\n"

    for payment, day, amount, *_ in mine[:-1]:
        line(day, -amount, f"Payout {uuid.UUID(bytes=payment)}")
    payment, day, amount, *_ = mine[-1]
    part = amount // 3 // SCALE * SCALE
    line(day, -part, f"Part of {uuid.UUID(bytes=payment)}", reference=False)
    line(day, part - amount, f"Rest of {uuid.UUID(bytes=payment)}")
    line(day, -12 * SCALE, "Account fee", reference=False)
    line(day, -12 * SCALE, "Account fee", reference=False)
    path = os.path.join(folder, "statement.csv")
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    done = demo.command("reconcile", "import", path, "--connector", str(uuid.UUID(bytes=connector)))
    check("the lines are matched", done["matched"] == len(mine) + 1 and done["stored"] == len(mine) + 3, done)


def match_by_hand(demo):
    line, payment = rows(demo.db, "SELECT l.id, p.id FROM bank_matches m JOIN bank_lines l USING (bank_line) JOIN payments p"
                                  " USING (payment) ORDER BY bank_match DESC LIMIT 1 OFFSET 2")[0]
    line, payment = str(uuid.UUID(bytes=line)), str(uuid.UUID(bytes=payment))
    demo.command("reconcile", "unmatch", line, "--reason", "test")
    demo.command("reconcile", "match", line, payment, "--reason", "test")
    other, = rows(demo.db, "SELECT id FROM bank_lines WHERE state = 0 LIMIT 1")[0]
    demo.command("reconcile", "match", str(uuid.UUID(bytes=other)), payment, "--reason", "test",
                 "--although-it-differs")
    demo.command("reconcile", "unmatch", str(uuid.UUID(bytes=other)), "--reason", "test")


def pay(demo, tenant, name, amount, back=None):
    tenant.login()
    record = tenant.pay(name, amount)
    wait_for("the payment settles", lambda: tenant.status_of(name) == "succeeded", 20.0)
    if back:
        tenant.ask("POST", f"/v1/payments/{record}/reversals",
                   {"transactionId": name + "-back", "amount": back, "reason": "test"})


def sound_file(folder):
    demo = Demo(binary(), folder, options=("--seed", "150")).start()
    tenant = Tenant.of_demo(demo)
    for words in (("--association", tenant.association, "--per-day", "5000"),
                  ("--wallet", tenant.wallets[0], "--count-per-month", "9", "--per-month", "9000"),
                  ("--application", demo.facts["applicationId"], "--per-payment", "800")):
        demo.command("limit", "set", *words, "--asset", "USDC")
    pay(demo, tenant, "one", "100")
    pay(demo, tenant, "two", "200", back="50.5")
    pay(demo, tenant, "three", "300", back="300")
    statement(demo, folder)
    match_by_hand(demo)
    for fault in audit(demo.db):
        check("the file of the first month is sound", False, fault)
    month = rows(demo.db, "SELECT strftime('%Y-%m', min(at) / 1000, 'unixepoch') FROM journal")[0][0]
    demo.command("sandbox", "advance", "62d")
    demo.command("period", "close", month)
    year, number = divmod(int(month[:4]) * 12 + int(month[5:]), 12)
    demo.command("period", "close", f"{year}-{number + 1:02}")
    pay(demo, tenant, "four", "40")
    pay(demo, tenant, "five", "50", back="10")
    demo.stop()
    return demo.db


def verify(path):
    done = subprocess.run([binary(), "verify", "--db", path, "--json"], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def damaged(path, sql):
    copy = path + ".damaged"
    shutil.copy(path, copy)
    db = sqlite3.connect(copy, isolation_level=None)
    db.execute("PRAGMA ignore_check_constraints = ON")
    triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        db.execute("DROP TRIGGER " + name)
    changed = db.execute(sql).rowcount
    for _, create in triggers:
        db.execute(create)
    db.close()
    if changed < 1:
        fail(f"the statement changes no row: {sql}")
    return copy


def main():
    with tempfile.TemporaryDirectory(prefix="coffer-auditor-") as folder:
        path = sound_file(folder)
        faults = audit(path)
        check("the auditor finds no fault in the sound file", not faults, faults[:5])
        check("verify finds none", verify(path)[0] == 0, verify(path)[1])
        for name, invariant, sql in DAMAGES:
            copy = damaged(path, sql)
            faults = audit(copy)
            check(f"the auditor finds: {name}", any(fault.startswith(name + ":") for fault in faults), (sql, faults[:5]))
            code, said = verify(copy)
            check("verify rejects it too", code == 3 and invariant in said, (sql, said[:500]))
            os.remove(copy)


if __name__ == "__main__":
    main()
