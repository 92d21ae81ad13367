#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: parallel
"""Replication by another process (as Litestream works): it reads the file and its write-ahead log beside the
server, with a read transaction that keeps the log from starting again, lets go now and then, and copies
anew when the log has started again meanwhile. Whatever our checkpoints do, what it has is a file that
verifies, with every payment that was answered before its last round. COFFER_REPLICA_SECONDS (6)."""

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
        """A read transaction of now; the one before ends after it has begun."""
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
        """Where the log's last commit ends, as its index says (twice, or it is being written)."""
        while True:
            index = read_at(self.source + "-shm", 0, 96)
            if index[:48] == index[48:]:
                return WAL_HEADER + struct.unpack("=I", index[16:20])[0] * FRAME

    def copy_everything(self):
        """The file may be torn by a checkpoint: what is torn is in the log, unless that starts again."""
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
        # Not before the log has what the file lacks: one that was copied just now may lack nothing, for each
        # client's payment may be in it before its answer.
        while time.monotonic() < end or only_in_log <= len(clients.threads):
            known = clients.facts_now()
            replica.follow()
            if replica.generations != generation:
                generation, in_file = replica.generations, len(clients.acked)
            only_in_log = len(known["acked"]) - in_file
            time.sleep(ROUND_S)
        gateway.kill()  # the machine is gone; the replica is what is left
        clients.stopping.set()
        clients.stop()
        known["sent"] = dict(clients.sent)
        replica.let_go()
        shutil.copyfile(replica.path, alone)
        faults = audit(replica.path, known)
        code = subprocess.run([BINARY, "verify", replica.path], capture_output=True, check=False).returncode
        if faults or code != 0:
            fail(f"the replica is faulty ({code}): {faults[:5]}")
        if clients.surprises:
            fail(f"payments suffered: {clients.surprises[:3]}")
        if not audit(alone, known):
            fail("the control, a copy of the file without its log, passes for whole")
        print("control: the copy without its log lacks payments, and the auditor says so")
        print(f"count: {replica.rounds} rounds over {seconds:.0f} s, {replica.generations} times copied from the"
              f" start, {len(known['acked'])} answered payments, all in the replica; the log reached"
              f" {replica.longest_wal >> 20} MiB")


main()
