"""kill -9 under load, again and again: what was acknowledged is there once and settles, the server is
ready at once. See kill_loop.sh."""

import os
import random
import sys
import tempfile
import time

from auditor import audit
from clients import Clients, wait_until_settled
from gateway import Gateway

READY_S = 2.0
AUDIT_EVERY = 4


def check(faults, what):
    for fault in faults[:20]:
        print("  " + str(fault))
    if faults:
        sys.exit(f"kill_loop: {what}: {len(faults)} faults")


def main():
    rounds = int(os.environ.get("COFFER_KILL_ROUNDS", "12"))
    seed = int(os.environ.get("COFFER_SEED", str(time.time_ns() % 1_000_000)))
    dice = random.Random(seed)
    print(f"kill_loop: {rounds} rounds, COFFER_SEED={seed}")
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway(os.environ["COFFER_RELEASE_BIN"], folder).start()
        clients = Clients(gateway, seed=seed).start()
        slowest = 0.0
        for number in range(1, rounds + 1):
            time.sleep(dice.uniform(0.05, 0.4))
            gateway.kill()
            if number % AUDIT_EVERY == 0:
                with clients.lock:
                    facts = {key: dict(value) for key, value in clients.facts().items()}
                check(audit(gateway.db, facts), f"audit after kill {number}")
            gateway.start()
            slowest = max(slowest, gateway.ready_s)
            if gateway.ready_s > READY_S:
                sys.exit(f"kill_loop: ready only after {gateway.ready_s:.2f} s")
        time.sleep(0.3)
        clients.stop()
        clients.replay_waiting()
        check(clients.surprises, "answers that no client should get")
        settled_s = wait_until_settled(gateway)
        code = gateway.stop()
        if code != 0:
            sys.exit(f"kill_loop: a clean stop ended with {code}")
        check(audit(gateway.db, clients.facts(), settled=True), "audit at the end")
        if not clients.acked or set(clients.acked) != set(clients.sent):
            sys.exit("kill_loop: not every payment was answered in the end")
        print(f"kill_loop: {rounds} kills, {len(clients.acked)} payments acknowledged, 0 lost, 0 doubled,"
              f" {clients.repeats} learnt by replay; slowest start {slowest:.2f} s,"
              f" all settled {settled_s:.2f} s after the last answer")


main()
