#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: parallel
"""The process is killed at the points where it matters most: before a commit, between commit and answer,
before and after a settlement. What was acknowledged is there once and settles after the restart."""

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
    """The result of one death at the passage-th time of `point`."""
    with tempfile.TemporaryDirectory() as folder:
        gateway = Demo(binary("faults"), folder)
        gateway.start()
        gateway.stop()  # the file is made: from here on only payments pass the point
        try:
            gateway.start(env={"COFFER_FAULT": f"{point}:{passage}"})
        except (RuntimeError, ConnectionError):
            pass  # it died before it was ready, which is as good
        clients = Clients(gateway, prefix=point, seed=passage).start()
        code = gateway.wait(DIES_WITHIN_S)
        if code != SIGKILL:
            fail(f"{point}:{passage} ended the process with {code}")
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
        faults += [f"not answered: {one}" for one in set(clients.sent) - set(clients.acked)]
        judge_faults(faults, f"{point}:{passage}")
        return len(clients.acked), open_before, clients.repeats


def control():
    """A build without the points does not die of them."""
    with tempfile.TemporaryDirectory() as folder:
        gateway = Demo(binary(), folder)
        gateway.start(env={"COFFER_FAULT": "commit.before:5"})
        clients = Clients(gateway, count=2).start()
        try:
            fail(f"a build without points ended with {gateway.wait(1.0)}")
        except subprocess.TimeoutExpired:
            clients.stop()
        gateway.stop()
    print("control: a build without the points goes on")


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
            print(f"  {point}:{passage}: {acked} payments acknowledged once, {waiting} were open at the"
                  f" death, {repeats} had been stored without an answer")
            # Between commit and answer: a client must learn of it by replaying, unless that commit
            # happened to hold settlements only.
            if not passages and point == "commit.after" and learnt[point] == 0 and passage < 80:
                passages.append(passage + 1)
    if learnt["commit.after"] == 0:
        fail("no client met a payment that was stored without a response")
    control()
    print(f"count: {sum(runs.values())} deaths at {len(POINTS)} points, {sum(learnt.values())} payments"
          " stored without an answer, each there once")


main()
