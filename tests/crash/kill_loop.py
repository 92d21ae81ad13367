#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""A kill at any moment neither loses nor duplicates payments: eight clients pay and retry while the server is killed
at random moments, sometimes again during its start, and settles with random delays. COFFER_KILL_ROUNDS (12): number
of kills. COFFER_KILL_MIX: `payments` of every kind, or `groups`, only multi-transfers, which must never be stored in
part. COFFER_SEED: the random moments."""

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
# Every fourth kill is followed by another during the start.
SECOND_KILL_EVERY, SECOND_KILL_WITHIN_S = 4, 0.06
LONGEST_DELAY_MS = 50


def settling_late(dice):
    """Delays settlement, so that a kill finds accepted payments that are not settled."""
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
            fail(f"the server was ready only after {self.starts[-TRIES:]} s")

    def finish(self, mix):
        time.sleep(0.3)
        self.clients.stop()
        self.clients.replay_waiting()
        judge_faults(self.clients.surprises, "responses that no client should get")
        settled_s = wait_until_settled(self.gateway)
        value, held = value_in(self.gateway)
        if held != 0 or (mix == "groups" and value != self.value[0]):
            fail(f"the wallets have {value} ({held} held), but had {self.value[0]} at the start")
        code = self.gateway.stop()
        if code != 0:
            fail(f"a clean stop exited with {code}")
        judge_faults(audit(self.gateway.db, self.clients.facts(), settled=True), "audit at the end")
        if not self.clients.acked or set(self.clients.acked) != set(self.clients.sent):
            fail("not every payment was acknowledged in the end")
        return settled_s


def control():
    """The server restarts with an older copy of the file, so acknowledged payments are missing; and a client retries
    with another ID, so it pays twice. The audit must detect both."""
    with tempfile.TemporaryDirectory() as folder:
        gateway = Demo(binary(), folder).start()
        clients = Clients(gateway, count=4).start()
        while len(clients.acked) < 40:
            time.sleep(0.01)
        old = {}
        for suffix in ("-wal", ""):  # the database must not be newer than its log
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
        del twice["sent"][transaction_id]  # as if the client had sent it with another ID
        doubled = audit(gateway.db, twice)
        for suffix, path in old.items():
            shutil.copy(path, gateway.db + suffix)
        lost = audit(gateway.db, facts)
    found = {fault.split(":")[0] for fault in lost}, {fault.split(":")[0] for fault in doubled}
    if "acknowledged and lost" not in found[0] or "never sent" not in found[1]:
        fail(f"an older copy of the file passes: {found}")
    print(f"control: {len(lost)} payments missing in an older copy of the file, all detected;"
          " a payment that was never sent, detected")


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
        print(f"count: {rounds} kills and {loop.killed_early} more during the start, {len(clients.acked)}"
              f" payments ({legs} legs in groups) acknowledged, 0 lost, 0 duplicated, 0 holds left,"
              f" {clients.repeats} of {loop.open_at_kill} without a response found by replay; slowest start"
              f" {max(loop.starts):.2f} s, all settled {settled_s:.2f} s after the last response")
    control()


if __name__ == "__main__":
    main()
