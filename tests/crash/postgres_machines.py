#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: cost=90 timeout=600
"""Two coffers share a log in PostgreSQL, whose commits wait for one of two standbys. The coffer that leads is paused, and
the primary of the log is lost. No acknowledged payment is lost or doubled if the standby that has received
most is promoted, and the files are equal at the end.

Control: a standby that lags is promoted. Both machines must notice and change nothing, and go on when the better
standby is promoted.

COFFER_TWO_ROUNDS (1): rounds of losses. COFFER_TWO_KINDS=all: also kills the leader, at any time and at each fault
point of the way to the log. COFFER_TWO_SEED: of the delays."""

import os
import random
import tempfile
import time

from harness.clients import Clients
from harness.postgres import Cluster
from harness.report import judge_faults
from two_machines import (CONFIGURATION, LEADS_WITHIN_S, UNCERTAIN, Pair, expect_exit, finish, one_failover,
                          only_transfers, pages, run_kinds, wait_for_payments)

FOLLOWS = "/readyz?role=follower"


def lose_the_primary(pair, cluster, clients, faults):
    """The leader ends, because it does not know the result of its append. The other machine leads when the log is
    available again."""
    old, began = pair.leader, time.monotonic()
    lost = cluster.fail_over()
    promoted_s = time.monotonic() - began
    expect_exit(old, UNCERTAIN, "a leader whose log is lost", faults)
    took = pair.wait_for_takeover()
    acked = len(clients.acked)
    wait_for_payments(clients, 5)
    print(f"  primary of the log lost: promoted after {promoted_s:.1f} s, the other machine leads {took:.1f} s later, "
          f"{acked} acknowledged", flush=True)
    cluster.add_standby(lost)
    pair.start(pair.follower, FOLLOWS)
    wait_for_payments(clients, 20)


def promote_one_that_lags(pair, cluster, clients, folder, faults):
    """The control."""
    first, second = sorted(cluster.running - {cluster.primary})
    cluster.stop(second)
    wait_for_payments(clients, 30)
    machines = {pair.leader: UNCERTAIN, pair.follower: CONFIGURATION}
    lost = cluster.primary
    cluster.stop(lost)
    cluster.stop(first)
    cluster.resume(second)
    control_began = time.monotonic()
    cluster.promote(second)
    cluster.add_standby(lost)
    for machine, code in machines.items():
        expect_exit(machine, code, "a machine that has more than the log", faults)
    before = [pages(machine.db, folder) for machine in machines]
    start_again(pair.leader, faults)
    for machine, content in zip(machines, before):
        if "gone apart" not in machine.said():
            faults.append("control: a machine does not say that file and log have gone apart")
        if pages(machine.db, folder) != content:
            faults.append("control: a machine has changed its file")
    print(f"control: the promotion of a standby that lags was noticed after {time.monotonic() - control_began:.1f} s, "
          "and nothing was changed", flush=True)
    for wrong in (second, lost):
        cluster.stop(wrong)
    cluster.resume(first)
    cluster.promote(first)
    for standby in (lost, second):
        cluster.add_standby(standby)
    pair.start(pair.leader, "/readyz")
    pair.start(pair.follower, FOLLOWS)
    wait_for_payments(clients, 20)


def start_again(machine, faults):
    machine.spawn(["serve", "--db", machine.db, "--listen-http", f"127.0.0.1:{machine.port}"], env=machine.settings)
    expect_exit(machine, CONFIGURATION, "a machine that starts with more than the log has", faults)


def run(folder, cluster, faults):
    dice = random.Random(int(os.environ.get("COFFER_TWO_SEED", "1")))
    pair = Pair(folder, cluster.url()).begin()
    clients = Clients(pair, count=4, make=only_transfers).start()
    wait_for_payments(clients, 20)
    for _ in range(int(os.environ.get("COFFER_TWO_ROUNDS", "1"))):
        if os.environ.get("COFFER_TWO_KINDS") == "all":
            run_kinds(pair, clients, dice, faults)
        else:
            one_failover(pair, clients, "pause", dice, faults)
            pair.start(pair.follower, FOLLOWS)
        lose_the_primary(pair, cluster, clients, faults)
    promote_one_that_lags(pair, cluster, clients, folder, faults)
    finish(pair, clients, folder, faults)


def main():
    faults = []
    with (tempfile.TemporaryDirectory(prefix="coffer-log-", ignore_cleanup_errors=True) as folder,
          Cluster(folder) as cluster):
        run(folder, cluster, faults)
    judge_faults(faults)
    print("0 lost, 0 doubled, files equal")


if __name__ == "__main__":
    main()
