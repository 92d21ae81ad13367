#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Kills the process at the most critical points: before a commit, between commit and response, and before and
after a settlement. After the restart, every acknowledged payment exists once and settles."""

import os
import random
import subprocess
import tempfile
import time

from harness.auditor import audit
from harness.clients import Clients, wait_until_settled
from harness.machine import binary
from harness.report import fail, judge_faults
from harness.server import Demo

POINTS = ("commit.before", "commit.after", "settle.before", "settle.after")
SIGKILL = -9
DIES_WITHIN_S = 20.0


def run(point, passage):
    """Kills the process at the passage-th pass of `point`. Returns the numbers of acknowledged payments, of payments
    without a response, and of replays."""
    with tempfile.TemporaryDirectory() as folder:
        gateway = Demo(binary("faults"), folder)
        gateway.start()
        gateway.stop()  # the file exists; from now on, only payments pass the point
        try:
            gateway.start(env={"COFFER_FAULT": f"{point}:{passage}"})
        except (RuntimeError, ConnectionError):
            pass  # a kill before the process is ready is also valid
        clients = Clients(gateway, prefix=point, seed=passage).start()
        code = gateway.wait(DIES_WITHIN_S)
        if code != SIGKILL:
            fail(f"{point}:{passage}: the process exited with {code}")
        with clients.lock:
            facts = {key: dict(value) for key, value in clients.facts().items()}
        faults = audit(gateway.db, facts)
        open_before = len(clients.waiting)
        gateway.start()
        time.sleep(0.2)
        clients.stop()
        clients.replay_waiting()
        wait_until_settled(gateway)
        gateway.stop()
        faults += clients.surprises + audit(gateway.db, clients.facts(), settled=True)
        faults += [f"no response: {one}" for one in set(clients.sent) - set(clients.acked)]
        judge_faults(faults, f"{point}:{passage}")
        return len(clients.acked), open_before, clients.repeats


def control():
    """A build without fault points ignores COFFER_FAULT."""
    with tempfile.TemporaryDirectory() as folder:
        gateway = Demo(binary(), folder)
        gateway.start(env={"COFFER_FAULT": "commit.before:5"})
        clients = Clients(gateway, count=2).start()
        try:
            fail(f"a build without fault points exited with {gateway.wait(1.0)}")
        except subprocess.TimeoutExpired:
            clients.stop()
        gateway.stop()
    print("control: a build without fault points keeps running")


def main():
    seed = int(os.environ.get("COFFER_SEED", str(time.time_ns() % 1_000_000)))
    dice = random.Random(seed)
    print(f"armed_points: COFFER_SEED={seed}")
    learnt, runs = {}, {}
    for point in POINTS:
        passages = [1, dice.randint(2, 12), dice.randint(20, 60)]
        while passages:
            passage = passages.pop(0)
            acked, waiting, repeats = run(point, passage)
            learnt[point] = learnt.get(point, 0) + repeats
            runs[point] = runs.get(point, 0) + 1
            print(f"  {point}:{passage}: {acked} payments acknowledged once, {waiting} in progress at the"
                  f" kill, {repeats} stored without a response")
            # After a kill between commit and response, a client learns the result by a replay, unless the
            # commit happened to contain only settlements.
            if not passages and point == "commit.after" and learnt[point] == 0 and passage < 80:
                passages.append(passage + 1)
    if learnt["commit.after"] == 0:
        fail("no payment was stored without a response")
    control()
    print(f"count: {sum(runs.values())} kills at {len(POINTS)} points, {sum(learnt.values())} payments"
          " stored without a response, each exactly once")


main()
