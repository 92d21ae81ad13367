"""A statement of 100,000 lines that is imported into a running server whose file has 1,000,000 payments of providers:
time, memory of the server, and payments meanwhile. The lines are chosen with a fixed seed. The file has payments that
stay in progress."""

import contextlib
import datetime
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
import uuid

from harness.process import cpu_s, memory_mib
from lists import kept_file
from machine import Server, say

PAYMENTS, LINES = 1_000_000, 100_000
WITHIN_S = 30
PROVIDER_TYPES = ("5", "6", "7")
CONNECTIONS = 16
# Of 1,000 lines, those without a usable reference: cut at 20 characters, only an amount, unknown.
CUT, BARE, UNKNOWN = 50, 30, 20
SCALE = 10_000_000


def payouts(db):
    """(ID, day, amount) of payouts that were paid, and the connector that has most of them."""
    with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro&immutable=1", uri=True)) as file:
        connector, key = file.execute(
            "SELECT c.id, c.connector FROM payments p JOIN connectors c USING (connector) WHERE p.type = 5"
            " GROUP BY c.connector ORDER BY count(*) DESC LIMIT 1").fetchone()
        total, = file.execute("SELECT count(*) FROM payments WHERE type IN (5, 6, 7)").fetchone()
        rows = file.execute("SELECT id, created_at / 86400000, receiving_amount FROM payments"
                            " WHERE connector = ? AND type = 5 AND status = 2", (key,)).fetchall()
    return str(uuid.UUID(bytes=connector)), total, rows


def statement(path, rows):
    """Writes the file. Returns the number of lines that one payment is certain for."""
    dice, certain = random.Random(40), 0
    chosen = dice.sample(rows, LINES)
    with open(path, "w", encoding="ascii") as file:
        file.write("bookingDate,amount,currency,account,bankReference,reference,text,partyName,partyAccount\n")
        for number, (payment, day, amount) in enumerate(chosen):
            kind = dice.randrange(1_000)
            name = str(uuid.UUID(bytes=payment))
            if kind < CUT:
                name = name[:20]
            elif kind < CUT + BARE:
                name = "Transfer"
            elif kind < CUT + BARE + UNKNOWN:
                name, amount = str(uuid.UUID(int=dice.getrandbits(128))), amount + SCALE
            else:
                certain += 1
            booked = datetime.date(1970, 1, 1) + datetime.timedelta(days=day + dice.randrange(3))
            file.write(f"{booked},-{amount // SCALE}.{amount % SCALE // 100_000:02},KES,KE1,B{number},,Payout {name},,\n")
    return certain


class Import(threading.Thread):
    """`coffer reconcile import` beside a load."""

    def __init__(self, server, path, connector):
        super().__init__()
        self.words = (server.binary, "reconcile", "import", path, "--connector", connector, "--db", server.db, "--json")
        self.took_s, self.result = 0.0, None

    def run(self):
        began = time.monotonic()
        done = subprocess.run(self.words, capture_output=True, text=True, check=False)
        self.took_s = time.monotonic() - began
        self.result = json.loads(done.stdout) if done.returncode == 0 else done.stderr


def imported(server, path, connector, load=None):
    """Seconds, the result, and what `load` returned, which runs meanwhile."""
    work = Import(server, path, connector)
    work.start()
    beside = load() if load else None
    work.join()
    if not isinstance(work.result, dict):
        sys.exit(f"bench: reconcile import: {work.result}")
    return work.took_s, work.result, beside


def reset_peak(pid):
    with open(f"/proc/{pid}/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def run(bench, table):
    kept = kept_file(bench, PAYMENTS, "--tenants", "1", "--wallets", "20", "--beneficiaries", "5000", "--types",
                     *PROVIDER_TYPES)
    folder = bench.path("reconcile")
    path = os.path.join(folder, "statement.csv")
    shutil.copytree(kept, folder)
    db = os.path.join(folder, "large.db")
    connector, total, rows = payouts(db)
    say(f"{LINES:,} lines against {total:,} payments of providers")
    certain = statement(path, rows)
    seconds = max(bench.seconds, WITHIN_S)
    # Twice on the same content: alone first, and then beside payments.
    with served(bench, folder) as server:
        server.load(bench.seconds, CONNECTIONS)
        server.rest()
        alone = server.load(seconds, CONNECTIONS)
        server.rest()
        reset_peak(server.pid)
        idle, before = memory_mib(server.pid), cpu_s(server.pid)
        took_s, result, _ = imported(server, path, connector)
        used_s = cpu_s(server.pid) - before
        peak = memory_mib(server.pid, "VmHWM")
    table.add("an import alone", took_s, "s", goal=WITHIN_S, at_most=True)
    table.add("its processor time in the server", used_s, "s")
    table.add("lines of each 100 that are certain, matched", 100 * min(result["matched"], certain) / certain, "",
              goal=100)
    table.add("resident before it", idle, "MiB")
    table.add("resident at most during it", peak, "MiB", goal=idle + 256, at_most=True)
    shutil.copy(os.path.join(kept, "large.db"), db)
    with served(bench, folder) as server:
        server.load(bench.seconds, CONNECTIONS)
        server.rest()
        took_s, result, beside = imported(server, path, connector, lambda: server.load(seconds, CONNECTIONS))
    bench.errors += alone.errors + beside.errors
    table.add("an import beside payments", took_s, "s", goal=WITHIN_S, at_most=True)
    table.add(f"accepted durably, {CONNECTIONS} connections, alone", alone.rate, "/s")
    table.add("accepted durably, beside the import", beside.rate, "/s")
    table.add("p99 of the 202, alone", alone.p99, "ms")
    table.add("p99 of the 202, beside the import", beside.p99, "ms", goal=2 * alone.p99, at_most=True)


@contextlib.contextmanager
def served(bench, folder):
    server = Server(bench.binary, folder, "large.db").start()
    try:
        yield server
    finally:
        server.stop()
