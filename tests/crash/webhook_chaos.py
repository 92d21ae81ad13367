#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Receivers return 500, hang, reset, send garbage, redirect to a trap, break off, never end, or return 410. Every event
reaches every healthy receiver within a second, with the same id and bytes in each attempt; and payments, events and
deliveries match line by line. COFFER_PAYMENTS (400): number of payments. COFFER_HANGING_ENDPOINTS (6): number of
hanging endpoints. COFFER_SEED: the faults."""

import hashlib
import os
import random
import tempfile
import threading
import time

from harness.auditor import audit
from harness.machine import binary
from harness.receiver import Receiver, changed
from harness.report import Slow, fail, judge_faults, until_in_time
from harness.server import Demo
from webhook_world import Member, Payers, check_controls, judge, judge_bytes, wait_until_arrived, worst_delay_s

TIMEOUT_MS = 2000     # of an attempt; longer than any delivery may be delayed
DELAY_S = 1.0
SYNCHRONISED_EVERY_S = 0.1
ARRIVED_WITHIN_S = 120.0
TYPES = (("payment.initiated",), ("payment.processing",), ("payment.succeeded", "payment.failed"))
HANGING = ("hang", "dribble")
QUICK = ("error", "redirect", "reset", "garbage", "early", "headers")
ATTEMPTS = 3


class Stalls:
    """Measures how long this process did not run or waited for the disk. An arrival may seem this late without a fault
    of coffer."""

    def __init__(self, folder):
        self.file = open(os.path.join(folder, "stalls"), "wb", buffering=0)
        self.worst_s = 0.0
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        synchronise_at = 0.0
        while not self.stopping.is_set():
            began = time.monotonic()
            time.sleep(0.01)
            slept = time.monotonic()
            self.worst_s = max(self.worst_s, slept - began - 0.01)
            if slept >= synchronise_at:
                synchronise_at = slept + SYNCHRONISED_EVERY_S
                self.file.write(b".")
                os.fsync(self.file.fileno())
                self.worst_s = max(self.worst_s, time.monotonic() - slept)


def flaky(seed):
    """Fails at most twice, then succeeds, always within the permitted attempts."""
    def behave(delivery):
        dice = random.Random(hashlib.sha256(f"{seed}{delivery.id}".encode()).digest())
        kinds = list(QUICK) * 50 + ["hang", "dribble", "unavailable"]
        plan = dice.choices(kinds, k=dice.randrange(ATTEMPTS))
        return plan[delivery.number] if delivery.number < len(plan) else dice.choice(("ok", "body"))
    return behave


def well_in_every_way(delivery):
    return ("slow", "huge", "body", "ok", "ok")[min(4, int(delivery.id[-1], 16))]


class World:
    def __init__(self, gateway, hanging, seed):
        self.trap = Receiver()
        self.gateway = gateway
        split, whole, varied = (Member.create(gateway, f"healthy-{number}") for number in range(3))
        for types in TYPES:
            split.listen(Receiver(), types=types)
        whole.listen(Receiver())
        varied.listen(Receiver(well_in_every_way))
        self.healthy = [split, whole, varied]
        self.flaky = [Member.create(gateway, f"flaky-{number}") for number in range(2)]
        for number, member in enumerate(self.flaky):
            member.listen(Receiver(flaky(f"{seed}/{number}"), redirect=self.trap.url()))
        kinds = [HANGING[number % 2] for number in range(hanging)] + list(QUICK)
        self.dead = [Member.create(gateway, f"{kind}-{number}") for number, kind in enumerate(kinds)]
        for member, kind in zip(self.dead, kinds):
            member.listen(Receiver(lambda delivery, kind=kind: kind, redirect=self.trap.url()), healthy=False)
        self.gone = Member.create(gateway, "gone")
        self.gone.listen(Receiver(lambda delivery: "gone"), healthy=False)
        self.members = [*self.healthy, *self.flaky, *self.dead, self.gone]

    def work(self, count, dice):
        """The members that pay. Dead endpoints get their first event immediately, so that they affect all others."""
        few = [member for member in (*self.dead, self.gone) for _ in range(max(2, count // 200))]
        rest = max(count - len(few), 30)
        many = dice.choices(self.healthy + self.flaky, k=rest)
        mixed = few[::2] + many
        for member in few[1::2]:
            mixed.insert(dice.randrange(len(mixed)), member)
        return mixed


def judge_dead(member, facts):
    """The faults of a dead endpoint, whose deliveries end after three requests with the same bytes."""
    faults = []
    endpoint = facts["endpoints"][0]
    for row in endpoint["log"]:
        arrived = sum(1 for delivery in endpoint["deliveries"] if delivery.id == row["id"])
        if row["status"] == "delivered":
            faults.append(f"{member.name}: delivered to a dead endpoint: {row['id']}")
        if row["status"] == "dead" and (row["attempts"], arrived) != (ATTEMPTS, ATTEMPTS):
            faults.append(f"{member.name}: three requests, then dead: {arrived} arrived, log {row['attempts']}")
    return faults


def judge_gone(member):
    """The faults of an endpoint that returns 410: the first one must disable it."""
    endpoint = member.endpoints[0]
    webhook = member.ask("GET", "/v1/webhooks/" + endpoint.id)
    said = (webhook["status"], webhook.get("disabledReason"), len(endpoint.receiver.snapshot()))
    return [] if said == ("disabled", "endpoint_gone", 1) else [f"410 disables permanently: {said}"]


def wait_until_dead(members, within_s):
    """Waits until the endpoints that fail quickly have used all attempts."""
    began = time.monotonic()
    while time.monotonic() - began < within_s:
        if not any(member.endpoints[0].pending() for member in members):
            return
        time.sleep(0.2)
    fail("attempts at dead endpoints do not end")


def late(facts, by_s):
    """The control of the measurement: one event reaches a receiver `by_s` late."""
    rows = facts["endpoints"][0]["deliveries"]
    other = [changed(row, arrived=row.arrived + by_s) if row.id == rows[0].id else row for row in rows]
    return {**facts, "endpoints": [{**facts["endpoints"][0], "deliveries": other}]}


def check_trap(world):
    """The redirect trap must be unreached, but reachable."""
    if world.trap.accepted:
        fail(f"a redirect was followed {len(world.trap.accepted)} times")
    probe = world.healthy[1]
    webhook = probe.endpoints[0]
    probe.ask("PATCH", f"/v1/webhooks/{webhook.id}", {"url": world.trap.url()})
    probe.ask("POST", f"/v1/webhooks/{webhook.id}/test")
    deadline = time.monotonic() + 10
    while not world.trap.accepted and time.monotonic() < deadline:
        time.sleep(0.02)
    if not world.trap.accepted:
        fail("the trap is not reachable, so the test proves nothing")


def check_delays(healthy, stalls):
    delay = max(worst_delay_s(facts) for facts in healthy)
    limit = DELAY_S + stalls.worst_s
    if delay > limit:
        raise Slow(f"a healthy receiver waited {delay:.2f} s, limit {limit:.2f} s")
    if worst_delay_s(late(healthy[1], 2 * limit)) < limit:
        fail("the measurement does not detect a late arrival")
    return delay


def run():
    count = int(os.environ.get("COFFER_PAYMENTS", "400"))
    hanging = int(os.environ.get("COFFER_HANGING_ENDPOINTS", "6"))
    per_second = float(os.environ.get("COFFER_PAYMENTS_PER_S", "40"))
    seed = int(os.environ.get("COFFER_SEED", str(time.time_ns() % 1_000_000)))
    dice = random.Random(seed)
    print(f"webhook_chaos: {count} payments, {hanging} hanging endpoints, COFFER_SEED={seed}", flush=True)
    settings = {"COFFER_WEBHOOK_TIMEOUT_MS": str(TIMEOUT_MS), "COFFER_WEBHOOK_SANDBOX_RETRY_S": "1,3"}
    with tempfile.TemporaryDirectory() as folder:
        gateway = Demo(binary(), folder).start(env=settings)
        world = World(gateway, hanging, seed)
        stalls = Stalls(folder)
        Payers(world.work(count, dice), per_second).start().join()
        took = wait_until_arrived(world.members, ARRIVED_WITHIN_S)
        stalls.stopping.set()
        wait_until_dead(world.dead[hanging:], 60.0)
        every = {member: member.facts() for member in world.members}
        faults = [fault for facts in every.values() for fault in judge(facts)]
        for member in world.dead:
            faults += judge_dead(member, every[member])
        faults += judge_gone(world.gone)
        judge_faults(faults)
        # The third receiver responds slowly.
        healthy = [every[member] for member in world.healthy[:2]]
        delay = check_delays(healthy, stalls)
        controls = check_controls(healthy[1]) + 1
        check_trap(world)
        if gateway.stop() != 0:
            fail("a clean stop did not exit with 0")
        client = {"sent": {}, "acked": {}}
        for member in world.members:
            client["sent"] |= member.sent
            client["acked"] |= member.acked
        judge_faults(audit(gateway.db, client, settled=True)
               + judge_bytes(gateway.db, every.values()))
    requests = sum(len(endpoint["deliveries"]) for facts in every.values() for endpoint in facts["endpoints"])
    events = sum(len(facts["events"]) for facts in every.values())
    return [], (f"count: {len(client['acked'])} payments, {events} events, {requests} requests,"
                f" {len(world.dead)} dead endpoints, {hanging} of them hanging; slowest delivery to a healthy receiver"
                f" {delay:.2f} s (this process stalled for up to {stalls.worst_s:.2f} s), all delivered"
                f" {took:.1f} s after the last payment\n"
                f"control: {controls} false delivery records, each detected; the trap is reachable without a"
                " redirect")


if __name__ == "__main__":
    print(until_in_time(run))
