#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: cost=150 timeout=900
"""A server with an archive is killed under load, also at each fault point of the way to the archive. What `coffer
restore --from` restores afterwards verifies and has every payment that was acknowledged.

With two machines, the leader is killed. The new one continues the archive without a new snapshot, and a third machine
follows with a file that was restored from it.

Control: a file that was restored to a moment before the last payments. The auditor must find that they are missing.

COFFER_ARCHIVE_ROUNDS (1): rounds of all fault points."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone

from harness.auditor import audit
from harness.clients import Clients, wait_until_settled
from harness.machine import binary
from harness.report import judge_faults, wait_for
from harness.server import Service, command
from harness.tenant import Tenant
from two_machines import Pair, check_files, only_transfers, stop_both, wait_for_payments

BINARY = binary("faults")
POINTS = ("archive.part", "archive.manifest", "archive.before:3", "archive.after:3")
READY_WITHIN_S = 60.0
DIES_WITHIN_S = 120.0  # a snapshot beside the load


class Box:
    """One machine with an archive, as a gateway of `Clients`."""

    def __init__(self, folder):
        os.mkdir(os.path.join(folder, "archive"), 0o700)
        self.archive = "file://" + os.path.join(folder, "archive")
        self.machine = Service(BINARY, os.path.join(folder, "ledger.db"), settings={
            "COFFER_ARCHIVE": self.archive, "COFFER_ARCHIVE_PROVE_EVERY_H": "0", "COFFER_ADMIN_OFF": "true",
            "COFFER_RATE_LIMIT_SANDBOX_PER_S": "0", "COFFER_RATE_LIMIT_LOGIN_PER_MIN": "0"})
        self.facts, self.tenant = None, None

    def start(self, fault=None):
        self.machine.settings.pop("COFFER_FAULT", None)
        if fault:
            self.machine.settings["COFFER_FAULT"] = fault
        self.machine.start("--init", ready="/readyz", ready_within_s=READY_WITHIN_S)

    def begin(self):
        self.start()
        self.machine.command("asset", "add", "USDC", "--name", "US dollar")
        self.tenant = Tenant.create(self.machine, "Box", wallets=("Treasury", "Operations", "Euro reserve"))
        self.facts = self.tenant.keys
        return self

    def login(self):
        return self.machine.connect().log_in(self.facts)

    def wallet(self, name):
        return self.tenant.wallets[("Treasury", "Operations", "Euro reserve").index(name)]


def status(machine):
    return command(BINARY, machine.db, "archive", "status")


def wait_for_snapshots(machine, more_than):
    wait_for("a snapshot", lambda: status(machine)["snapshots"] > more_than, READY_WITHIN_S)


def restore(archive, key_of, target, *more, settings=None):
    """The result of `coffer restore --from`."""
    os.makedirs(os.path.dirname(target), mode=0o700)
    done = subprocess.run([BINARY, "restore", "--from", archive, "--db", target, "--json", "--master-key-file",
                           os.path.join(os.path.dirname(key_of), "master.key"), *more],
                          capture_output=True, text=True, check=False, timeout=300,
                          env={**os.environ, **(settings or {})})
    if done.returncode != 0:
        sys.exit(f"coffer restore --from: {done.returncode} {done.stderr}")
    return json.loads(done.stdout)


def check_restored(box, clients, folder, faults):
    target = os.path.join(folder, "restored", "ledger.db")
    said = restore(box.archive, box.machine.db, target)
    faults += [f"restored: {fault}" for fault in audit(target, clients.facts(), settled=True)]
    print(f"  restored {said['payments']} payments", flush=True)
    return target


def one_box(folder, faults):
    box = Box(folder).begin()
    wait_for_snapshots(box.machine, 0)
    clients = Clients(box, count=4, make=only_transfers).start()
    wait_for_payments(clients, 20)
    for point in POINTS * int(os.environ.get("COFFER_ARCHIVE_ROUNDS", "1")):
        box.machine.process.kill()
        box.machine.wait()
        box.start(point)
        if (code := box.machine.wait(DIES_WITHIN_S)) != -signal.SIGKILL:
            faults.append(f"{point}: exit code {code}")
        began = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        box.start()
        wait_for_payments(clients, 10)
        # What was not archived when the server died is missing until then.
        wait_for("a snapshot", lambda: status(box.machine)["newestSnapshotAt"] > began, READY_WITHIN_S)
        print(f"  {point}: {len(clients.acked)} acknowledged", flush=True)
    time.sleep(1)
    before = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    before_count = len(clients.acked)
    wait_for_payments(clients, 20)
    clients.stop()
    clients.replay_waiting()
    faults += [f"an unexpected response: {one}" for one in clients.surprises]
    wait_until_settled(box)
    proven = box.machine.command("archive", "prove")
    if not (proven[0] if isinstance(proven, list) else proven)["provenAt"]:
        faults.append(f"coffer archive prove: {proven}")
    box.machine.stop(30)
    # A restored server continues in the same archive.
    target = check_restored(box, clients, folder, faults)
    again = os.path.join(folder, "then", "ledger.db")
    said = restore(box.archive, box.machine.db, again, "--at", before)
    lost = [fault for fault in audit(again, clients.facts()) if "acknowledged and lost" in fault]
    if not lost or said["payments"] < before_count:
        faults.append(f"control: {len(lost)} payments after {before} are missing, {said['payments']} are there, "
                      f"{before_count} were acknowledged")
    box.machine.db = target
    os.link(os.path.join(folder, "master.key"), os.path.join(folder, "restored", "master.key"))
    snapshots = len(os.listdir(os.path.join(folder, "archive", os.listdir(os.path.join(folder, "archive"))[0],
                                            "snapshots")))
    box.start()
    wait_for_snapshots(box.machine, snapshots)
    box.machine.stop(30)


def two_machines(folder, faults):
    pair = Pair(folder)
    os.mkdir(os.path.join(folder, "archive"), 0o700)
    archive = "file://" + os.path.join(folder, "archive")
    for machine in pair.machines:
        machine.settings["COFFER_ARCHIVE"] = archive
    pair.begin()
    clients = Clients(pair, count=4, make=only_transfers).start()
    wait_for_snapshots(pair.leader, 0)
    wait_for_payments(clients, 20)
    pair.leader.process.kill()
    pair.leader.wait()
    pair.wait_for_takeover()
    wait_for_payments(clients, 20)
    pair.start(pair.follower, "/readyz?role=follower")
    wait_for("the archive", lambda: (status(pair.leader)["behindSeconds"] or 0) < 5, READY_WITHIN_S)
    if status(pair.leader)["snapshots"] != 1:
        faults.append(f"the new leader does not continue the archive: {status(pair.leader)}")
    # A third machine takes the place of the follower.
    third = pair.follower
    third.stop(30)
    third.db = os.path.join(folder, "c", "ledger.db")
    restore(archive, pair.leader.db, third.db, settings=third.settings)
    os.link(os.path.join(os.path.dirname(pair.leader.db), "master.key"), os.path.join(folder, "c", "master.key"))
    pair.start(third, "/readyz?role=follower")
    clients.stop()
    clients.replay_waiting()
    faults += [f"an unexpected response: {one}" for one in clients.surprises]
    wait_until_settled(pair)
    stop_both(pair)
    check_files(pair, clients, folder, faults)
    target = os.path.join(folder, "restored", "ledger.db")
    restore(archive, pair.leader.db, target)
    faults += [f"restored: {fault}" for fault in audit(target, clients.facts(), settled=True)]


def main():
    faults = []
    for part in (one_box, two_machines):
        with tempfile.TemporaryDirectory(prefix="coffer-archive-", ignore_cleanup_errors=True) as folder:
            part(folder, faults)
    judge_faults(faults)
    print("control: a restore to an earlier moment lacks the later payments")
    print("0 lost")


if __name__ == "__main__":
    main()
