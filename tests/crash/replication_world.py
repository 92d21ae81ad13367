"""Two coffers, a log in three servers of PostgreSQL, a load balancer and clients, each on a host of its own. See
replication_drills.py."""

import collections
import contextlib
import itertools
import os
import random
import subprocess
import sys
import threading
import time

from harness.auditor import audit
from harness.clients import Clients, wait_until_settled
from harness.machine import binary
from harness.postgres import Cluster
from harness.server import Service

os.environ["COFFER_FAULTS_BIN"] = binary("release")
from two_machines import (BINARY, CONFIGURATION, LEADS_WITHIN_S, UNCERTAIN, Pair, expect_exit,  # noqa: E402
                          only_transfers, pages, stop_both)

FOLLOWS, LEADS = "/readyz?role=follower", "/readyz"
PORT = 8080
# A response that a machine sent during its lease may be read this much later.
READ_LATE_S = 1.0
PAUSE_S = 0.012  # of a client between two payments, so that long runs can be audited


class Hosted(Service):
    def __init__(self, host, binary_path, db, settings):
        super().__init__(binary_path, db, host.address, PORT, settings)
        self.wrapper = host.wrapper

    def spawn(self, words, wrapper=(), env=None):
        return super().spawn(words, (*self.wrapper, *wrapper), env)


Seen = collections.namedtuple("Seen", "machine epoch sent received")


class Balancer:
    """Asks each machine whether it leads, as a load balancer does, and remembers what they said."""

    def __init__(self, machines):
        self.machines, self.seen, self.leaders = machines, [], set()
        self.stopping, self.lock = threading.Event(), threading.Lock()
        self.threads = [threading.Thread(target=self.watch, args=(machine,), daemon=True) for machine in machines]
        for thread in self.threads:
            thread.start()

    def watch(self, machine):
        while not self.stopping.wait(0.03):
            sent = time.monotonic()
            try:
                status, body = machine.connect(1.0).call("GET", LEADS)
            except ConnectionError:
                status, body = 0, None
            with self.lock:
                if status == 200:
                    self.leaders.add(machine)
                    self.seen.append(Seen(machine, body["epoch"], sent, time.monotonic()))
                else:
                    self.leaders.discard(machine)

    def leader(self):
        with self.lock:
            return next(iter(self.leaders), None)

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def faults(self):
        """Each machine that said that it leads after another one of a higher epoch did."""
        first = {}
        for one in self.seen:
            first[one.epoch] = min(one.received, first.get(one.epoch, one.received))
        epochs, found = sorted(first), {}
        for one in self.seen:
            later = [first[epoch] for epoch in epochs if epoch > one.epoch]
            if later and one.received > min(later) + READ_LATE_S:
                found[one.epoch] = f"epoch {one.epoch} led {one.received - min(later):.1f} s after a later one did"
        return list(found.values())


class World(Pair):
    """As a context, it runs. `network` has six hosts: this one, two coffers and three servers of the log."""

    def __init__(self, folder, network, dice, waits=True, unsafe=False, own_servers=False):
        """`waits`: commits of the log wait for a standby. `own_servers`: each coffer knows a server of its own, and
        both know the first one."""
        self.folder, self.network, self.dice = folder, network, dice
        self.me, first, second, *servers = network.hosts
        self.host_of, self.taken = {}, itertools.cycle((first, second))
        self.cluster = Cluster(folder, len(servers), servers, waits)
        super().__init__(folder, self.cluster.url(), self.make)
        self.coffers = [first, second]
        for number, machine in enumerate(self.machines):
            if unsafe:
                machine.settings["COFFER_REPLICATE_UNSAFE"] = "true"
            if own_servers:
                known = self.cluster.folders[:1] if number == 0 else self.cluster.folders[1::-1]
                machine.settings["COFFER_REPLICATE"] = self.cluster.url(*known)
        self.faults, self.counts, self.to_202 = [], collections.Counter(), {}
        self.balancer = self.clients = None
        self.kind = ""

    def make(self, path, db, settings):
        host = next(self.taken)
        machine = Hosted(host, path, db, settings)
        self.host_of[machine] = host
        return machine

    def __enter__(self):
        self.cluster.__enter__()
        return self

    def __exit__(self, *_):
        if self.clients:
            self.clients.stopping.set()
        if self.balancer:
            self.balancer.stop()
        for machine in self.machines:
            if machine.process and machine.process.poll() is None:
                machine.kill()
        self.cluster.__exit__()

    def run(self):
        """Starts both machines and the load."""
        self.begin()
        self.balancer = Balancer(self.machines)
        count = int(os.environ.get("COFFER_DRILLS_CLIENTS", "4"))
        self.clients = Clients(self, count=count, make=self.slowly).start()
        self.wait_for_payments(20)
        return self

    @staticmethod
    def slowly(gateway, transaction_id, number):
        time.sleep(PAUSE_S)
        return only_transfers(gateway, transaction_id, number)

    # A gateway.
    def login(self):
        machine = self.balancer.leader() if self.balancer else self.leader
        if not machine:
            raise ConnectionError("no machine leads")
        return machine.connect(2.0).log_in(self.facts)

    def fault(self, what):
        self.faults.append(f"{self.kind}: {what}")
        print(f"  {'found' if self.kind == 'control' else 'FAULT'}: {self.faults[-1]}", flush=True)

    def expect_exit(self, machine, code, what):
        found = []
        expect_exit(machine, code, what, found)
        for one in found:
            self.fault(one)

    def wait_for(self, what, holds, within_s=LEADS_WITHIN_S):
        end = time.monotonic() + within_s
        while not holds():
            if self.clients and self.clients.surprises:
                sys.exit(f"{self.kind}: {self.clients.surprises}")
            if time.monotonic() > end:
                sys.exit(f"{self.kind}: not within {within_s:.0f} s: {what}; "
                         + "; ".join(machine.said()[-600:] for machine in self.machines))
            time.sleep(0.01)

    def wait_for_payments(self, more, within_s=LEADS_WITHIN_S):
        goal = len(self.clients.acked) + more
        self.wait_for(f"{more} payments", lambda: len(self.clients.acked) >= goal, within_s)

    def leads(self):
        """The machine that leads, and the other one."""
        self.wait_for("a leader", self.balancer.leader)
        leader = self.balancer.leader()
        return leader, self.other(leader)

    def other(self, machine):
        return self.machines[1 - self.machines.index(machine)]

    def next_202(self, began, within_s=LEADS_WITHIN_S):
        """Waits for the next acknowledged payment, and remembers how long it took."""
        before = len(self.clients.acked)
        self.wait_for("the next payment", lambda: len(self.clients.acked) > before, within_s)
        self.to_202.setdefault(self.kind.split()[0], []).append(time.monotonic() - began)

    def expect_no_202(self, for_s, what):
        """No payment is acknowledged meanwhile."""
        before = len(self.clients.acked)
        time.sleep(for_s)
        if len(self.clients.acked) != before:
            self.fault(f"{len(self.clients.acked) - before} payments were acknowledged {what}")

    def spawn(self, machine):
        """Starts it, and does not wait."""
        machine.spawn(["serve", "--db", machine.db, "--listen-http", f"{machine.host}:{machine.port}"],
                      env=machine.settings)

    def settle(self, may_need_seed=False, within_s=60.0):
        """Does what a supervisor and, with `may_need_seed`, an operator do, until one machine leads, the other one
        follows, and payments are acknowledged."""
        end, seeded = time.monotonic() + within_s, False
        while True:
            for machine in self.machines:
                code = machine.process.poll()
                if code is None:
                    continue
                machine.wait()
                if code == CONFIGURATION and may_need_seed and not seeded:
                    self.seed(machine)
                    seeded = True
                elif code != UNCERTAIN and code >= 0:
                    sys.exit(f"{self.kind}: exit code {code}: {machine.said()[-1500:]}")
                self.spawn(machine)
            if self.balancer.leader() and self.other(self.balancer.leader()).answers(FOLLOWS):
                break
            if time.monotonic() > end:
                sys.exit(f"{self.kind}: the machines do not settle: "
                         + "; ".join(machine.said()[-900:] for machine in self.machines))
            time.sleep(0.05)
        self.wait_for_payments(5)
        return seeded

    def seed(self, machine):
        """As docs/operating.md says."""
        self.wait_for("a leader", self.balancer.leader)
        self.counts["seeds"] += 1
        backup = os.path.join(self.folder, f"backup-{self.counts['seeds']}.db")
        self.balancer.leader().command("backup", backup)
        for ending in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(machine.db + ending)
        done = subprocess.run([BINARY, "replica", "seed", "--from", backup, "--db", machine.db], capture_output=True,
                              text=True, check=False, env={**os.environ, **machine.settings})
        if done.returncode:
            sys.exit(f"coffer replica seed: {done.returncode} {done.stderr}")

    def promote(self, machine):
        """`coffer replica promote`. Returns whether it worked."""
        return subprocess.run([BINARY, "replica", "promote", "--db", machine.db, "--listen-http",
                               f"{machine.host}:{machine.port}"], capture_output=True, text=True, check=False,
                              env={**os.environ, **machine.settings}).returncode == 0

    def sql(self, *statements):
        return self.cluster.sql(self.cluster.primary, *statements)

    def standbys(self):
        return [self.cluster.hosts[folder] for folder in sorted(self.cluster.running - {self.cluster.primary})]

    def log_faults(self):
        """The log itself: one takeover begins each epoch, and nothing is missing."""
        query = ("WITH one AS (SELECT seq, epoch, kind, lag(seq) OVER w AS before, lag(epoch) OVER w AS last"
                 " FROM coffer_log WINDOW w AS (ORDER BY seq)) SELECT count(*) FROM one WHERE seq <> before + 1 OR"
                 " epoch < last OR (kind = 2) <> (epoch > last)")
        found, = self.sql(query)
        return [f"{found} entries of the log do not continue it"] if found != "0" else []

    def finish(self):
        """Stops the load and both machines, and checks everything."""
        self.kind = "the end"
        self.clients.stop()
        self.clients.replay_waiting()
        self.faults += [f"an unexpected response: {one}" for one in self.clients.surprises]
        wait_until_settled(self)
        self.leader, self.follower = self.leads()
        self.balancer.stop()
        self.faults += self.balancer.faults() + self.log_faults()
        stop_both(self)
        self.check_files()

    def check_files(self):
        for machine in self.machines:
            self.faults += [f"{machine.db}: {fault}" for fault in audit(machine.db, self.clients.facts(), settled=True)]
        if pages(self.machines[0].db, self.folder) != pages(self.machines[1].db, self.folder):
            self.faults.append("the files of the two machines differ")


def seeded(seed):
    return random.Random(seed)


__all__ = ["CONFIGURATION", "FOLLOWS", "UNCERTAIN", "World", "only_transfers", "pages", "seeded"]
