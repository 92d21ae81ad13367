#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Process death at any instant loses nothing and doubles nothing: eight clients pay and retry while the
server is killed at random moments, now and then once more while it comes up, and settles late at random.
COFFER_KILL_ROUNDS (12) says how often, COFFER_KILL_MIX what is paid (`payments`: of every kind; `groups`:
only multi-transfers, of which no part may ever stand alone), COFFER_SEED when."""

import os
import random
import shutil
import tempfile
import time

from harness.auditor import audit
from harness.clients import Clients, group, payment, value_in, wait_until_settled
from harness.machine import binary
from harness.report import TRIES, fail, judge_faults
from harness.server import Demo

READY_S = 2.0
AUDITS = 10
MIXES = {"payments": payment, "groups": group}
# Every fourth time it is killed again while it comes up.
SECOND_KILL_EVERY, SECOND_KILL_WITHIN_S = 4, 0.06
LONGEST_DELAY_MS = 50


def settling_late(dice):
    """So that a kill finds payments accepted, and not settled."""
    return {"COFFER_SETTLE_DELAY_MS": str(dice.choice((0, dice.randint(1, LONGEST_DELAY_MS))))}


class Loop:
    def __init__(self, folder, dice, mix):
        self.dice = dice
        self.gateway = Demo(binary(), folder).start()
        self.value = value_in(self.gateway)
        self.clients = Clients(self.gateway, seed=dice.random(), make=MIXES[mix]).start()
        self.starts, self.open_at_kill, self.killed_early = [], 0, 0

    def kill_once(self, number, audited):
        time.sleep(self.dice.uniform(0.05, 0.4))
        self.gateway.kill()
        if number % SECOND_KILL_EVERY == 0:
            self.killed_early += self.gateway.start_and_kill(
                self.dice.uniform(0, SECOND_KILL_WITHIN_S), settling_late(self.dice))
        if audited:
            judge_faults(audit(self.gateway.db, self.clients.facts_now()), f"audit after kill {number}")
        self.open_at_kill += len(self.clients.waiting)
        self.gateway.start(env=settling_late(self.dice))
        self.starts.append(self.gateway.ready_s)
        if min(self.starts[-TRIES:]) > READY_S and len(self.starts) >= TRIES:
            fail(f"ready only after {self.starts[-TRIES:]} s")

    def finish(self, mix):
        time.sleep(0.3)
        self.clients.stop()
        self.clients.replay_waiting()
        judge_faults(self.clients.surprises, "answers that no client should get")
        settled_s = wait_until_settled(self.gateway)
        value, held = value_in(self.gateway)
        if held != 0 or (mix == "groups" and value != self.value[0]):
            fail(f"{value} with {held} held, it began with {self.value[0]}")
        code = self.gateway.stop()
        if code != 0:
            fail(f"a clean stop ended with {code}")
        judge_faults(audit(self.gateway.db, self.clients.facts(), settled=True), "audit at the end")
        if not self.clients.acked or set(self.clients.acked) != set(self.clients.sent):
            fail("not every payment was answered in the end")
        return settled_s


def control():
    """The machine comes back with the file of a moment before, so acknowledgements are missing; and a
    client that repeats under another id pays twice. The audit must see both."""
    with tempfile.TemporaryDirectory() as folder:
        gateway = Demo(binary(), folder).start()
        clients = Clients(gateway, count=4).start()
        while len(clients.acked) < 40:
            time.sleep(0.01)
        old = {}
        for suffix in ("-wal", ""):  # a database newer than its log is not what is tried here
            old[suffix] = gateway.db + suffix + ".old"
            shutil.copy(gateway.db + suffix, old[suffix])
        before = len(clients.acked)
        while len(clients.acked) < before + 40:
            time.sleep(0.01)
        gateway.kill()
        clients.stopping.set()
        facts = clients.facts_now()
        transaction_id = next(iter(facts["acked"]))
        twice = {"sent": dict(facts["sent"]), "acked": facts["acked"]}
        del twice["sent"][transaction_id]  # sent once; here, under a name that its client does not know
        doubled = audit(gateway.db, twice)
        for suffix, path in old.items():
            shutil.copy(path, gateway.db + suffix)
        lost = audit(gateway.db, facts)
    found = {fault.split(":")[0] for fault in lost}, {fault.split(":")[0] for fault in doubled}
    if "acknowledged and lost" not in found[0] or "never sent" not in found[1]:
        fail(f"a file of a moment before passes: {found}")
    print(f"control: {len(lost)} payments missing in the file of a moment before, all found;"
          " a payment that was never sent, found")


def main():
    rounds = int(os.environ.get("COFFER_KILL_ROUNDS", "12"))
    mix = os.environ.get("COFFER_KILL_MIX", "payments")
    seed = int(os.environ.get("COFFER_SEED", str(time.time_ns() % 1_000_000)))
    print(f"kill_loop: {rounds} rounds of {mix}, COFFER_SEED={seed}")
    with tempfile.TemporaryDirectory() as folder:
        loop = Loop(folder, random.Random(seed), mix)
        for number in range(1, rounds + 1):
            loop.kill_once(number, number % max(4, rounds // AUDITS) == 0)
        settled_s = loop.finish(mix)
        clients = loop.clients
        legs = sum(len(body.get("transfers", ())) for body in clients.sent.values())
        print(f"count: {rounds} kills and {loop.killed_early} more before it was ready, {len(clients.acked)}"
              f" payments ({legs} legs in groups) acknowledged, 0 lost, 0 doubled, 0 holds left,"
              f" {clients.repeats} of {loop.open_at_kill} unanswered were learnt by replay; slowest start"
              f" {max(loop.starts):.2f} s, all settled {settled_s:.2f} s after the last answer")
    control()


if __name__ == "__main__":
    main()
