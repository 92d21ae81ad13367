"""PostgreSQL servers that keep a replicated log: a primary and standbys, of which each commit waits for any one.
tests/support/postgres.sh creates and controls them."""

import os
import shutil
import subprocess
import sys
import time

from harness.machine import ROOT, SKIPPED, skip

SCRIPT = os.path.join(ROOT, "tests", "support", "postgres.sh")


def control(verb, folder, *words, wrapper=()):
    done = subprocess.run([*wrapper, SCRIPT, verb, folder, *words], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode == SKIPPED:
        skip(done.stderr.strip())
    if done.returncode:
        sys.exit(f"postgres.sh {verb} {folder}: {done.stderr}")
    return done.stdout.splitlines()


# So that servers notice within seconds that they are cut off, and that they no longer are.
IMPATIENT = ("wal_receiver_timeout=3s", "wal_sender_timeout=3s", "wal_retrieve_retry_interval=500ms",
             "tcp_user_timeout=3s")


class Cluster:
    """As a context, it runs."""

    def __init__(self, folder, count=3, hosts=(), waits=True):
        """`hosts`: of a Network (harness/network.py), one for each server; without them, the servers are reached by
        sockets in their folders. `waits`: whether a commit waits for a standby."""
        self.folders = [os.path.join(folder, f"n{number}") for number in range(count)]
        self.hosts, self.waits = dict(zip(self.folders, hosts)), waits
        self.authority = os.path.join(folder, "log.crt")
        self.running, self.primary = set(), self.folders[0]

    def url(self, *folders):
        """Of these servers, or of all."""
        folders = folders or self.folders
        if not self.hosts:
            return "postgres://coffer@/postgres?host=" + ",".join(folders)
        names = ",".join(self.hosts[folder].address for folder in folders)
        return f"postgres://coffer@{names}/postgres?sslmode=verify-ca&sslrootcert={self.authority}"

    def control(self, verb, folder, *words):
        host = self.hosts.get(folder)
        return control(verb, folder, *words, wrapper=host.wrapper if host else ())

    def give_address(self, folder):
        if folder in self.hosts:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, "address"), "w", encoding="ascii") as file:
                file.write(self.hosts[folder].address)

    def __enter__(self):
        names = ", ".join(map(os.path.basename, self.folders))
        waits = f"synchronous_standby_names={f'ANY 1 ({names})' if self.waits else ''}"
        self.give_address(self.primary)
        self.control("primary", self.primary, waits, *(IMPATIENT if self.hosts else ()))
        if self.hosts:
            shutil.copy(os.path.join(self.primary, "data", "server.crt"), self.authority)
        self.running.add(self.primary)
        for folder in self.folders[1:]:
            self.add_standby(folder)
        return self

    def add_standby(self, folder):
        """Replaces what the folder has by a copy of the primary."""
        self.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)
        self.give_address(folder)
        self.control("standby", folder, self.primary)
        self.running.add(folder)
        self.wait_for_standbys()

    def wait_for_standbys(self):
        count, wanted = (f"SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND"
                         f" sync_state = '{'quorum' if self.waits else 'async'}'", len(self.running) - 1)
        while self.sql(self.primary, count) != [str(wanted)]:
            time.sleep(0.02)

    def sql(self, folder, *statements):
        return self.control("sql", folder, *statements)

    def stop(self, folder):
        """As a crash does."""
        if folder in self.running:
            self.control("stop", folder)
            self.running.remove(folder)

    def __exit__(self, *_):
        for folder in list(self.running):
            self.stop(folder)

    def resume(self, folder):
        self.control("start", folder)
        self.running.add(folder)

    def promote(self, folder):
        self.control("promote", folder)
        self.primary = folder
        for other in self.running - {folder}:
            self.control("follow", other, folder)
        self.wait_for_standbys()

    def fail_over(self):
        """Loses the primary and promotes the standby that has received most. Returns the lost one."""
        lost = self.primary
        self.stop(lost)
        received = "SELECT pg_last_wal_receive_lsn() - '0/0'"
        self.promote(max(self.running, key=lambda folder: int(self.sql(folder, received)[0])))
        return lost
