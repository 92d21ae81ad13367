#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""The generator of large files (tests/bench/large_file.py), with a small file: every row, balance and chain link must
be as the product would write it. Control: a payment with a changed amount is detected."""

import os
import sqlite3
import subprocess
import sys
import tempfile

from harness.machine import ROOT, binary
from harness.report import check

SIZE = ("--payments", "4000", "--beneficiaries", "300", "--wallets", "9", "--tenants", "3", "--verify")
KINDS_MIN = 14  # combinations of payment type and status


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "large.db")
        subprocess.run([sys.executable, "-B", os.path.join(ROOT, "tests/bench/large_file.py"), binary(), path, *SIZE],
                       check=True)
        with sqlite3.connect(path) as db:
            kinds = db.execute("SELECT count(DISTINCT type * 8 + status) FROM payments WHERE payment > 1000").fetchone()[0]
            check(f"{kinds} kinds of payment and status", kinds >= KINDS_MIN)
            db.execute("UPDATE payments SET sending_amount = sending_amount + 1 WHERE payment = 2000")
        db.close()
        done = subprocess.run([binary(), "verify", "--db", path], capture_output=True, text=True, check=False)
        check("control: a changed payment is detected", done.returncode != 0, done.stdout)


main()
