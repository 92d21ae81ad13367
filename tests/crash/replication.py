#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Replication by another process (as Litestream works): it reads the file and its write-ahead log while the server
runs. Its read transaction keeps the log from restarting. It releases the transaction at times, and starts a new copy if
the log restarted meanwhile. Whatever coffer's checkpoints do, the replica verifies and contains every payment that was
acknowledged before its last round. COFFER_REPLICA_SECONDS (6): length."""

import os
import shutil
import sqlite3
import struct
import subprocess
import tempfile
import time

from harness.auditor import audit
from harness.clients import Clients
from harness.machine import binary
from harness.report import fail
from harness.server import Demo

BINARY = binary()
WAL_HEADER, FRAME = 32, 24 + 2048
ROUND_S, LET_GO_EVERY = 0.05, 10


def read_at(path, offset, size):
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read(size)


class Replica:
    """Reads only: it never writes to the database and never checkpoints."""

    def __init__(self, source, path):
        self.source, self.path = source, path
        self.reader = None
        self.generations = self.rounds = 0
        self.longest_wal = 0
        self.hold()
        self.copy_everything()

    def hold(self):
        """Begins a new read transaction before ending the previous one."""
        fresh = sqlite3.connect(f"file:{self.source}?mode=ro", uri=True, isolation_level=None)
        fresh.execute("BEGIN")
        fresh.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        self.let_go()
        self.reader = fresh

    def let_go(self):
        if self.reader:
            self.reader.execute("ROLLBACK")
            self.reader.close()
            self.reader = None

    def log_header(self):
        return read_at(self.source + "-wal", 0, WAL_HEADER)

    def committed_bytes(self):
        """The end of the log's last commit, from its index (read twice, to detect a write in progress)."""
        while True:
            index = read_at(self.source + "-shm", 0, 96)
            if index[:48] == index[48:]:
                return WAL_HEADER + struct.unpack("=I", index[16:20])[0] * FRAME

    def copy_everything(self):
        """Copies the file. A checkpoint may tear the copy; the log then has the torn pages, unless it restarts."""
        while True:
            self.hold()
            self.header = self.log_header()
            shutil.copyfile(self.source, self.path)
            self.copied = 0
            self.copy_log()
            if self.log_header() == self.header:
                break
        self.generations += 1

    def copy_log(self):
        end = self.committed_bytes()
        with open(self.path + "-wal", "r+b" if self.copied else "wb") as log:
            log.seek(self.copied)
            log.write(read_at(self.source + "-wal", self.copied, max(0, end - self.copied)))
        self.copied = max(self.copied, end)
        self.longest_wal = max(self.longest_wal, end)

    def follow(self):
        self.rounds += 1
        if self.rounds % LET_GO_EVERY == 0:
            self.let_go()
            time.sleep(ROUND_S)
        self.hold()
        if self.log_header() != self.header:
            return self.copy_everything()
        self.copy_log()
        if self.log_header() != self.header:
            self.copy_everything()
        return None


def main():
    seconds = float(os.environ.get("COFFER_REPLICA_SECONDS", "6"))
    with tempfile.TemporaryDirectory() as folder:
        gateway = Demo(BINARY, folder).start()
        clients = Clients(gateway).start()
        while len(clients.acked) < 100:
            time.sleep(0.02)
        replica = Replica(gateway.db, os.path.join(folder, "replica.db"))
        alone = os.path.join(folder, "alone.db")
        end = time.monotonic() + seconds
        generation = only_in_log = 0
        # Wait until the log contains payments that the file lacks: a new copy of the file may already contain
        # payments that have no response yet.
        while time.monotonic() < end or only_in_log <= len(clients.threads):
            known = clients.facts_now()
            replica.follow()
            if replica.generations != generation:
                generation, in_file = replica.generations, len(clients.acked)
            only_in_log = len(known["acked"]) - in_file
            time.sleep(ROUND_S)
        gateway.kill()  # the machine is lost; only the replica remains
        clients.stopping.set()
        clients.stop()
        known["sent"] = dict(clients.sent)
        replica.let_go()
        shutil.copyfile(replica.path, alone)
        faults = audit(replica.path, known)
        code = subprocess.run([BINARY, "verify", replica.path], capture_output=True, check=False).returncode
        if faults or code != 0:
            fail(f"the replica has faults ({code}): {faults[:5]}")
        if clients.surprises:
            fail(f"payments suffered: {clients.surprises[:3]}")
        if not audit(alone, known):
            fail("the control, a copy of the file without its log, passes the audit")
        print("control: the auditor detects that the copy without its log lacks payments")
        print(f"count: {replica.rounds} rounds over {seconds:.0f} s, {replica.generations} full copies,"
              f" {len(known['acked'])} acknowledged payments, all in the replica; the log reached"
              f" {replica.longest_wal >> 20} MiB")


main()
