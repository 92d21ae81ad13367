#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: waits
"""./dev demo --replicated: PostgreSQL with two standbys, two coffers and a small load, in a scratch folder. Kills the
leader and prints what was acknowledged, what was lost, and how long it took."""

import os
import sys
import tempfile
import time

from harness.clients import Clients, wait_until_settled
from harness.machine import binary
from harness.postgres import Cluster

os.environ["COFFER_FAULTS_BIN"] = binary("release")
import two_machines  # noqa: E402


def say(text):
    print(text, flush=True)


def name_of(pair, machine):
    return f"machine {'ab'[pair.machines.index(machine)]} ({machine.host}:{machine.port})"


def show(folder, cluster):
    say("Starting two coffers with a file each.")
    pair = two_machines.Pair(folder, cluster.url()).begin()
    say(f"{name_of(pair, pair.leader)} leads, {name_of(pair, pair.follower)} follows.")
    clients = Clients(pair, count=8, make=two_machines.only_transfers).start()
    time.sleep(5)
    before = len(clients.acked)
    say(f"{before} payments acknowledged in 5 s by 8 clients, one payment at a time each. Killing the leader.")
    pair.leader.kill()
    killed = time.monotonic()
    leads_s = pair.wait_for_takeover()
    two_machines.wait_for_payments(clients, 1)
    say(f"{name_of(pair, pair.leader)} leads after {leads_s:.1f} s, and the next payment was acknowledged "
        f"{time.monotonic() - killed:.1f} s after the kill.")
    pair.start(pair.follower, "/readyz?role=follower")
    say(f"{name_of(pair, pair.follower)} starts again and follows.")
    time.sleep(3)
    clients.stop()
    clients.replay_waiting()
    wait_until_settled(pair)
    two_machines.stop_both(pair)
    faults = [f"an unexpected response: {one}" for one in clients.surprises]
    two_machines.check_files(pair, clients, folder, faults)
    lost = sum("acknowledged and lost" in fault for fault in faults)
    say(f"{len(clients.acked)} payments acknowledged, {lost} lost" + ("." if faults else "; the files are equal."))
    return faults


def main():
    with tempfile.TemporaryDirectory(prefix="coffer-demo-", ignore_cleanup_errors=True) as folder:
        say("Starting PostgreSQL: a primary and two standbys. Each commit waits for one of the standbys.")
        with Cluster(folder) as cluster:
            faults = show(folder, cluster)
    for fault in faults:
        say(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
