"""PostgreSQL servers that keep a replicated log: a primary and standbys, of which each commit waits for any one.
tests/support/postgres.sh creates and controls them."""

import os
import shutil
import subprocess
import sys
import time

from harness.machine import ROOT, SKIPPED, skip

SCRIPT = os.path.join(ROOT, "tests", "support", "postgres.sh")


def control(verb, folder, *words):
    done = subprocess.run([SCRIPT, verb, folder, *words], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode == SKIPPED:
        skip(done.stderr.strip())
    if done.returncode:
        sys.exit(f"postgres.sh {verb} {folder}: {done.stderr}")
    return done.stdout.splitlines()


class Cluster:
    """As a context, it runs."""

    def __init__(self, folder, count=3):
        self.folders = [os.path.join(folder, f"n{number}") for number in range(count)]
        self.running, self.primary = set(), self.folders[0]

    def url(self):
        return "postgres://coffer@/postgres?host=" + ",".join(self.folders)

    def __enter__(self):
        names = ", ".join(map(os.path.basename, self.folders))
        control("primary", self.primary, f"synchronous_standby_names=ANY 1 ({names})")
        self.running.add(self.primary)
        for folder in self.folders[1:]:
            self.add_standby(folder)
        return self

    def add_standby(self, folder):
        """Replaces what the folder has by a copy of the primary."""
        self.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)
        control("standby", folder, self.primary)
        self.running.add(folder)
        self.wait_for_standbys()

    def wait_for_standbys(self):
        count, wanted = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'", len(self.running) - 1
        while self.sql(self.primary, count) != [str(wanted)]:
            time.sleep(0.02)

    def sql(self, folder, *statements):
        return control("sql", folder, *statements)

    def stop(self, folder):
        """As a crash does."""
        if folder in self.running:
            control("stop", folder)
            self.running.remove(folder)

    def __exit__(self, *_):
        for folder in list(self.running):
            self.stop(folder)

    def resume(self, folder):
        control("start", folder)
        self.running.add(folder)

    def promote(self, folder):
        control("promote", folder)
        self.primary = folder
        for other in self.running - {folder}:
            control("follow", other, folder)
        self.wait_for_standbys()

    def fail_over(self):
        """Loses the primary and promotes the standby that has received most. Returns the lost one."""
        lost = self.primary
        self.stop(lost)
        received = "SELECT pg_last_wal_receive_lsn() - '0/0'"
        self.promote(max(self.running, key=lambda folder: int(self.sql(folder, received)[0])))
        return lost
