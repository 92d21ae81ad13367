"""Backups, one at a time, under a full load of payments."""

import itertools
import json
import os
import sqlite3
import subprocess
import sys

from machine import Repeated, say


class Backups:
    def __init__(self, bench, server):
        self.bench, self.server, self.numbers = bench, server, itertools.count()

    def take(self):
        """The command's result, and how much newer the backup's last entry is than the live file's at the start."""
        path = self.bench.path(f"backup-{next(self.numbers)}.db")
        before = newest_entry(self.server.db)
        done = subprocess.run([self.bench.binary, "backup", path, "--db", self.server.db, "--json"],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"bench: backup: {done.stderr}")
        made = json.loads(done.stdout)
        made["newer_ms"] = newest_entry(path) - before
        if made["newer_ms"] < 0:
            sys.exit("bench: a backup lacks entries from before its start")
        os.remove(path)
        os.remove(path + ".sha256")
        return made


def newest_entry(path):
    db = sqlite3.connect(path, timeout=10)
    at = db.execute("SELECT at FROM journal ORDER BY journal DESC LIMIT 1").fetchone()[0]
    db.close()
    return at


def run(bench, table):
    say(f"payments, {bench.seconds} s alone and {bench.seconds} s with backups")
    with bench.server("backups") as server:
        server.load(bench.seconds, bench.connections)
        server.wait_until_settled()
        alone = server.load(bench.seconds, bench.connections)
        server.wait_until_settled()
        with Repeated(Backups(bench, server).take) as backups:
            beside = server.load(bench.seconds, bench.connections)
        bench.errors += alone.errors + beside.errors
        made = backups.results
        slowest = max(made, key=lambda one: one["tookMs"])
        table.add("accepted durably, alone", alone.rate, "/s")
        table.add("accepted durably, beside one backup after the other", beside.rate, "/s")
        table.add("of that", beside.rate / alone.rate, "")
        table.add("p99 of the 202, alone", alone.p99, "ms")
        table.add("p99 of the 202, beside backups", beside.p99, "ms", goal=100, at_most=True)
        table.add("backups taken meanwhile", len(made), "")
        table.add("size of the largest", max(one["bytes"] for one in made) / 2**20, "MiB")
        table.add("the slowest, for each 100 MiB", slowest["tookMs"] / 1000 / (slowest["bytes"] / 2**20) * 100,
                  "s", goal=5, at_most=True)
        table.add("last entry of a copy, newer than the file's before it, at least",
                  min(one["newer_ms"] for one in made), "ms")
