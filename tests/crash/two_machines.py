#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: cost=170 timeout=900
"""Two coffers share a log (`folder`), and the one that leads is killed or paused, also at each fault point of the
way to the log. The other one takes over. No acknowledged payment is lost or doubled, the files are equal at the end,
and a leader that resumes ends without a response.

A follower responds to reads with its position and to writes with the leader's address. A machine that was away for
longer than the log keeps its entries refuses to lead, until it gets a seed. A ledger can leave its log.

Control: an engine that has lost acknowledged entries. The auditor must find that, and the machine that still has them
must refuse to start.

COFFER_TWO_ROUNDS (1): rounds of all kinds. COFFER_TWO_SEED: of the delays."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from harness.auditor import audit
from harness.clients import Clients, wait_until_settled
from harness.machine import binary
from harness.report import judge_faults
from harness.server import Service
from harness.tenant import Tenant

BINARY = binary("faults")
CONFLICT, UNCERTAIN, CONFIGURATION = 1, 70, 78
CANNOT_SEED = CONFLICT
MARK = ".logged"  # beside the file: what the log has had
POINTS = ("log.before", "log.sent", "log.after")
LEADS_WITHIN_S = 20.0  # three seconds of silence, and a start of the build with sanitizers


class Pair:
    """Two machines. As a gateway of `Clients`, it is whichever responds to payments."""

    def __init__(self, folder, log_url=None, make=Service):
        """`log_url`: of a log that another program keeps. `make`: creates a Service."""
        self.log = os.path.join(folder, "log")
        key = os.urandom(32).hex()
        self.machines = []
        for name in ("a", "b"):
            home = os.path.join(folder, name)
            os.mkdir(home, 0o700)
            with open(os.path.join(home, "master.key"), "w", encoding="ascii",
                      opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                file.write(key)
            settings = {"COFFER_REPLICATE": log_url or "folder:" + self.log, "COFFER_ADMIN_OFF": "true",
                        "COFFER_RATE_LIMIT_SANDBOX_PER_S": "0", "COFFER_RATE_LIMIT_LOGIN_PER_MIN": "0"}
            self.machines.append(make(BINARY, os.path.join(home, "ledger.db"), settings=settings))
        for machine, other in zip(self.machines, reversed(self.machines)):
            machine.settings["COFFER_REPLICAS"] = f"http://{other.host}:{other.port}"
        self.leader, self.follower = self.machines
        self.facts, self.tenant = None, None

    def start(self, machine, ready, fault=None):
        machine.settings.pop("COFFER_FAULT", None)
        if fault:
            machine.settings["COFFER_FAULT"] = fault
        machine.start("--init", ready=ready, ready_within_s=LEADS_WITHIN_S)

    def begin(self):
        self.start(self.leader, "/readyz")
        self.leader.command("asset", "add", "USDC", "--name", "US dollar")
        self.tenant = Tenant.create(self.leader, "Pair", wallets=("Treasury", "Operations", "Euro reserve"))
        self.facts = self.tenant.keys
        self.start(self.follower, "/readyz?role=follower")
        return self

    def wait_for_takeover(self):
        """Returns the seconds until the follower leads."""
        began = time.monotonic()
        while not self.follower.answers("/readyz"):
            if time.monotonic() - began > LEADS_WITHIN_S or self.follower.process.poll() is not None:
                sys.exit("the follower does not lead: " + self.follower.said()[-1500:])
            time.sleep(0.02)
        self.leader, self.follower = self.follower, self.leader
        return time.monotonic() - began

    # A gateway.
    def login(self):
        return self.leader.connect().log_in(self.facts)

    def wallet(self, name):
        names = ("Treasury", "Operations", "Euro reserve")
        return self.tenant.wallets[names.index(name)]


def only_transfers(gateway, transaction_id, number):
    """The wallets hold USDC only."""
    first, second = gateway.wallet("Treasury"), gateway.wallet("Operations")
    if number % 2:
        first, second = second, first
    return "p2p/own", {"transactionId": transaction_id, "sourceWalletId": first, "destinationWalletId": second,
                       "sendingAssetCode": "USDC", "amount": f"{number % 97 + 1}.{number % 1000:03}"}


def wait_for_payments(clients, more, within_s=LEADS_WITHIN_S):
    goal, end = len(clients.acked) + more, time.monotonic() + within_s
    while len(clients.acked) < goal:
        if clients.surprises or time.monotonic() > end:
            sys.exit(f"no payments: {clients.surprises}")
        time.sleep(0.02)


def expect_exit(machine, expected, what, faults):
    code = machine.wait(LEADS_WITHIN_S)
    if code != expected:
        faults.append(f"{what}: exit code {code}, expected {expected}")


def one_failover(pair, clients, kind, dice, faults):
    """The leader ends in this way; the other machine leads; the first one follows it."""
    old = pair.leader
    if kind == "kill":
        time.sleep(dice.uniform(0, 0.5))
        old.process.kill()
        expect_exit(old, -signal.SIGKILL, kind, faults)
    elif kind == "pause":
        time.sleep(dice.uniform(0, 0.5))
        os.kill(old.process.pid, signal.SIGSTOP)
    else:  # a fault point, for which the machine was started
        expect_exit(old, -signal.SIGKILL, kind, faults)
    took = pair.wait_for_takeover()
    wait_for_payments(clients, 5)
    if kind == "pause":
        os.kill(old.process.pid, signal.SIGCONT)
        expect_exit(old, UNCERTAIN, "a leader that resumes", faults)
    print(f"  {kind}: the other machine leads after {took:.1f} s, {len(clients.acked)} acknowledged", flush=True)


def run_kinds(pair, clients, dice, faults):
    for kind in ("kill", "pause", *POINTS):
        if kind in POINTS:
            # The machine that leads next is started with the fault point, which waits for a commit of the load.
            pair.follower.process.kill()
            pair.follower.wait()
            pair.start(pair.follower, "/readyz?role=follower", f"{kind}:{dice.randint(20, 60)}")
            one_failover(pair, clients, "kill", dice, faults)
            pair.start(pair.follower, "/readyz?role=follower")
        one_failover(pair, clients, kind, dice, faults)
        pair.start(pair.follower, "/readyz?role=follower")
        wait_for_payments(clients, 20)


def copy_of(path, folder):
    """A copy of a file with its write-ahead log, because SQLite would change both."""
    copy = os.path.join(folder, "copy.db")
    for ending in ("", "-wal", "-shm"):
        if os.path.exists(copy + ending):
            os.remove(copy + ending)
        if ending != "-shm" and os.path.exists(path + ending):
            shutil.copy(path + ending, copy + ending)
    return copy


def pages(path, folder):
    """The pages of a file with its write-ahead log, without what SQLite writes into page 1 of each file alone: the
    change counter, the cookie of the schema (a backup has another one), and the version of the library."""
    copy = copy_of(path, folder)
    database = sqlite3.connect(copy)
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    database.close()
    with open(copy, "rb") as file:
        content = bytearray(file.read())
    content[24:28] = bytes(4)
    content[40:44] = bytes(4)
    content[92:100] = bytes(8)
    return bytes(content)


def stop_both(pair):
    """The follower stops before it would lead, with everything that the leader has appended."""
    pair.leader.stop(30)
    time.sleep(0.7)
    pair.follower.stop(30)


def check_files(pair, clients, folder, faults):
    for machine in pair.machines:
        faults += [f"{machine.db}: {fault}" for fault in audit(machine.db, clients.facts(), settled=True)]
    if pages(pair.machines[0].db, folder) != pages(pair.machines[1].db, folder):
        faults.append("the files of the two machines differ")


def finish(pair, clients, folder, faults):
    """Stops the load and both machines, and checks their files."""
    clients.stop()
    clients.replay_waiting()
    faults += [f"an unexpected response: {one}" for one in clients.surprises]
    wait_until_settled(pair)
    stop_both(pair)
    check_files(pair, clients, folder, faults)
    print(f"count: {len(clients.acked)} payments acknowledged, {clients.repeats} of them as repetitions")


def failovers(folder, faults):
    dice = random.Random(int(os.environ.get("COFFER_TWO_SEED", "1")))
    pair = Pair(folder).begin()
    clients = Clients(pair, count=4, make=only_transfers).start()
    wait_for_payments(clients, 20)
    for _ in range(int(os.environ.get("COFFER_TWO_ROUNDS", "1"))):
        run_kinds(pair, clients, dice, faults)
    finish(pair, clients, folder, faults)


def replica(machine, word, expected=0):
    """The result of `coffer replica WORD` on a machine."""
    done = subprocess.run([BINARY, "replica", word, "--db", machine.db, "--listen-http",
                           f"{machine.host}:{machine.port}", "--json"], capture_output=True, text=True, check=False,
                          env={**os.environ, **machine.settings})
    if done.returncode != expected:
        sys.exit(f"coffer replica {word}: {done.returncode} {done.stderr}")
    return json.loads(done.stdout) if expected == 0 else None


def promotion(folder, faults):
    """An operator makes the follower the leader, while the other one works."""
    pair = Pair(folder).begin()
    clients = Clients(pair, count=4, make=only_transfers).start()
    wait_for_payments(clients, 20)
    replica(pair.leader, "promote", CONFLICT)
    found = [replica(machine, "status")["role"] for machine in (pair.leader, pair.follower)]
    if found != ["leader", "follower"]:
        faults.append(f"coffer replica status: {found}")
    old, began = pair.leader, time.monotonic()
    if replica(pair.follower, "promote")["role"] != "leader":
        faults.append("coffer replica promote: the follower does not lead")
    pair.leader, pair.follower = pair.follower, pair.leader
    print(f"  promoted after {time.monotonic() - began:.1f} s", flush=True)
    expect_exit(old, UNCERTAIN, "the leader before a promotion", faults)
    wait_for_payments(clients, 20)
    pair.start(pair.follower, "/readyz?role=follower")
    clients.stop()
    clients.replay_waiting()
    faults += [f"an unexpected response: {one}" for one in clients.surprises]
    wait_until_settled(pair)
    stop_both(pair)
    check_files(pair, clients, folder, faults)


def health(machine, role):
    status, body = machine.connect().call("GET", f"/readyz?role={role}")
    return status, {name: body.get(name) for name in ("role", "epoch", "leader")}, body["lagMs"] < 3000


def wait_for(what, holds, within_s=LEADS_WITHIN_S):
    end = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > end:
            sys.exit(f"{what}: not within {within_s} s")
        time.sleep(0.05)


def conditions(machine):
    return [row["condition"] for row in machine.command("overview")["attention"]]


def reads(folder, faults):
    """What clients and load balancers get from a follower."""
    pair = Pair(folder).begin()
    leader, follower = pair.login(), pair.follower.connect()
    address = f"{pair.leader.host}:{pair.leader.port}"
    expected = {"role": "follower", "epoch": 1, "leader": address}
    found = [health(machine, role) for machine in (pair.leader, pair.follower) for role in ("leader", "follower")]
    if found != [(200, {**expected, "role": "leader", "leader": None}, True),
                 (503, {**expected, "role": "leader", "leader": None}, True),
                 (503, expected, True), (200, expected, True)]:
        faults.append(f"health: {found}")
    follower.headers = dict(leader.headers)
    path = "/v1/wallets/" + pair.wallet("Treasury")
    wait_for("reads", lambda: follower.call("GET", path)[0] == 200)
    positions = []
    for number in range(3):
        kind, body = only_transfers(pair, f"read-{number}", 2 * number)
        if leader.call("POST", "/v1/payments/" + kind, body)[0] != 202:
            faults.append("reads: a payment was rejected")
        wait_until_settled(pair)
        here = leader.call("GET", path)[1]
        wait_for("the same on the follower", lambda: follower.call("GET", path)[1] == here)
        positions.append(int(follower.answered["X-Coffer-Position"]))
    wait_for("the follower to log that it is up to date",
             lambda: "this machine is up to date" in pair.follower.said())
    # The leader asks every five seconds, and the follower was started after it.
    wait_for("a pair without conditions", lambda: not {"replica_missing", "replica_lagging", "log_unreachable"}
             & set(conditions(pair.leader)))
    if positions != sorted(set(positions)):
        faults.append(f"positions of reads: {positions}")
    for method, target, body in (("POST", "/v1/payments/" + kind, body), ("POST", "/v1/auth/token", {}),
                                 ("DELETE", "/v1/webhooks/none", None)):
        status, answer = follower.call(method, target, body)
        if (status, answer.get("code"), answer.get("leader")) != (503, "not_leader", address) \
                or int(follower.answered["Retry-After"]) < 1:
            faults.append(f"{method} {target} on a follower: {status} {answer}")
    pair.leader.command("application", "suspend", pair.facts["id"])
    wait_for("a suspension on the follower", lambda: follower.call("GET", path)[0] == 401)
    pair.leader.stop(30)
    pair.wait_for_takeover()
    if health(pair.leader, "leader")[0] != 200:
        faults.append("the follower that leads is not ready")
    pair.leader.stop(30)


def truncation(folder, faults):
    """One machine is away while the log drops what it needs; then both leave the log."""
    pair = Pair(folder).begin()
    clients = Clients(pair, count=2, make=only_transfers).start()
    wait_for_payments(clients, 20)
    away = pair.follower
    away.stop()
    wait_for_payments(clients, 20)
    wait_for("the condition replica_missing", lambda: "replica_missing" in conditions(pair.leader))
    clients.stop()
    clients.replay_waiting()
    wait_until_settled(pair)
    backup = os.path.join(folder, "backup.db")
    pair.leader.command("backup", backup)
    ledger = os.path.join(pair.log, os.listdir(pair.log)[0])
    position = position_of(away.db, folder)
    for name in sorted(name for name in os.listdir(ledger) if int(name[:19]) <= position + 3):
        os.remove(os.path.join(ledger, name))
    away.spawn(["serve", "--db", away.db, "--listen-http", f"127.0.0.1:{away.port}"], env=away.settings)
    expect_exit(away, CONFIGURATION, "a machine behind a truncation", faults)
    if "coffer replica seed" not in away.said():
        faults.append("a machine behind a truncation does not name the command: " + away.said()[-500:])
    old = away.db + ".old"
    for ending in ("", "-wal"):
        if os.path.exists(away.db + ending):
            shutil.move(away.db + ending, old + ending)
    for path, expected in ((old, CANNOT_SEED), (backup, 0)):
        done = subprocess.run([BINARY, "replica", "seed", "--from", path, "--db", away.db],
                              capture_output=True, text=True, check=False, env={**os.environ, **away.settings})
        if done.returncode != expected:
            faults.append(f"coffer replica seed --from {path}: {done.returncode} {done.stderr}")
        if os.path.exists(away.db + MARK) != (path == old):
            faults.append(f"coffer replica seed --from {path}: the mark of the old file")
    pair.start(away, "/readyz?role=follower")
    stop_both(pair)
    check_files(pair, clients, folder, faults)
    leave(pair.leader, faults)


def position_of(path, folder):
    """The entry of the last commit in a closed file."""
    database = sqlite3.connect(copy_of(path, folder))
    position, = database.execute("SELECT value FROM meta WHERE name = 'log_position'").fetchone()
    database.close()
    return int.from_bytes(position[:8], "big")


def leave(machine, faults):
    alone = {name: value for name, value in machine.settings.items() if name != "COFFER_REPLICATE"}
    for settings, words, expected in (
            (machine.settings, ("key", "rotate", "--new-key-file", machine.db + ".key"), CONFLICT),
            (alone, ("asset", "list"), CONFIGURATION), (alone, ("replica", "leave"), 0),
            (alone, ("asset", "list"), 0)):
        done = subprocess.run([BINARY, *words, "--db", machine.db], capture_output=True, text=True, check=False,
                              env={**os.environ, **settings})
        if done.returncode != expected:
            faults.append(f"coffer {' '.join(words)}: {done.returncode}, expected {expected}: {done.stderr}")
        if os.path.exists(machine.db + MARK) != bool(expected):  # gone once it has left
            faults.append(f"coffer {' '.join(words)}: the mark of what the log has had")


def lost_by_the_engine(folder, faults):
    """The control: the judge must find what an engine has lost."""
    pair = Pair(folder).begin()
    pair.follower.stop()
    clients = Clients(pair, count=2, make=only_transfers).start()
    wait_for_payments(clients, 30)
    clients.stop()
    pair.leader.kill()
    ledger = os.path.join(pair.log, os.listdir(pair.log)[0])
    for name in sorted(os.listdir(ledger))[-10:]:
        os.remove(os.path.join(ledger, name))
    before = pages(pair.leader.db, folder)
    pair.start(pair.follower, "/readyz")
    pair.follower.kill()
    if not any("acknowledged and lost" in fault for fault in audit(pair.follower.db, clients.facts())):
        faults.append("control: the auditor does not find payments that the engine has lost")
    pair.leader.spawn(["serve", "--db", pair.leader.db, "--listen-http", f"127.0.0.1:{pair.leader.port}"],
                      env=pair.leader.settings)
    expect_exit(pair.leader, CONFIGURATION, "control: the machine that has more than the log", faults)
    if "gone apart" not in pair.leader.said():
        faults.append("control: the machine does not say that file and log have gone apart")
    if pages(pair.leader.db, folder) != before:
        faults.append("control: the machine has changed its file")


def main():
    faults = []
    for part in (failovers, promotion, reads, truncation, lost_by_the_engine):
        with tempfile.TemporaryDirectory(prefix="coffer-two-", ignore_cleanup_errors=True) as folder:
            part(folder, faults)
    judge_faults(faults)
    print("control: the loss of acknowledged entries was found, and the other machine refused to start")
    print("0 lost, 0 doubled, files equal")


if __name__ == "__main__":
    main()
