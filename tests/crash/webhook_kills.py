#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""kill -9 during deliveries under load loses no event. Repeated deliveries have the same id and bytes, and the sequence
is complete. COFFER_KILL_ROUNDS (8): number of kills. COFFER_SEED: their moments."""

import os
import random
import tempfile
import time

from harness.auditor import audit
from harness.auditor_webhooks import check_damages
from harness.machine import binary, held_port
from harness.receiver import Receiver
from harness.report import fail, judge_faults
from harness.server import Demo
from webhook_world import Member, Payers, check_controls, judge, judge_bytes, wait_until_arrived

TYPES = (("payment.initiated",), ("payment.processing",), ("payment.succeeded", "payment.failed"))
ARRIVED_WITHIN_S = 90.0
PER_SECOND = 60.0


def flaky(delivery):
    """Fails for some ids, and only at the first attempt."""
    mark = int(delivery.id[-2:], 16)
    if delivery.number == 0 and mark < 32:
        return ("error", "reset", "garbage", "early")[mark % 4]
    return "body"


def slow(delivery):
    """Responds late, so that a kill often finds a request that arrived but is not recorded."""
    time.sleep(0.02)
    return "ok"


def make_members(gateway):
    split, late, bad = (Member.create(gateway, name) for name in ("split", "late", "bad"))
    for types in TYPES:
        split.listen(Receiver(), types=types)
    late.listen(Receiver(slow))
    bad.listen(Receiver(flaky))
    return [split, late, bad]


def repeated(facts):
    """Requests that were repeated although the first one succeeded."""
    out = 0
    for endpoint in facts["endpoints"]:
        answered = set()
        for delivery in endpoint["deliveries"]:
            out += delivery.id in answered
            if delivery.behaviour in ("ok", "body"):
                answered.add(delivery.id)
    return out


def kill_again_and_again(gateway, rounds, dice, payers, settings):
    done = 0
    while done < rounds:
        time.sleep(dice.uniform(0.1, 0.6))
        if payers.is_over():
            fail(f"the payments ended after {done} kills")
        gateway.kill()
        gateway.start(env=settings)
        done += 1


def main():
    rounds = int(os.environ.get("COFFER_KILL_ROUNDS", "8"))
    seed = int(os.environ.get("COFFER_SEED", str(time.time_ns() % 1_000_000)))
    dice = random.Random(seed)
    print(f"webhook_kills: {rounds} kills, COFFER_SEED={seed}", flush=True)
    settings = {"COFFER_WEBHOOK_SANDBOX_RETRY_S": "1"}
    with tempfile.TemporaryDirectory() as folder:
        gateway = Demo(binary(), folder, port=held_port()).start(env=settings)
        members = make_members(gateway)
        payers = Payers(dice.choices(members, k=100_000), PER_SECOND).start()
        kill_again_and_again(gateway, rounds, dice, payers, settings)
        time.sleep(0.3)
        payers.stop()
        payers.join()
        took = wait_until_arrived(members, ARRIVED_WITHIN_S)
        every = [member.facts() for member in members]
        judge_faults([fault for facts in every for fault in judge(facts)])
        controls = check_controls(every[0])
        if gateway.stop() != 0:
            fail("a clean stop did not exit with 0")
        client = {"sent": {}, "acked": {}}
        for member in members:
            client["sent"] |= member.sent
            client["acked"] |= member.acked
        judge_faults(audit(gateway.db, client, settled=True) + judge_bytes(gateway.db, every))
        damages = check_damages(gateway.db, audit, client)
    again = sum(repeated(facts) for facts in every)
    events = sum(len(facts["events"]) for facts in every)
    if again == 0 and rounds > 20:
        fail("no kill came between a response and its record, so the kills prove nothing")
    print(f"count: {rounds} kills, {len(client['acked'])} payments, {events} events, 0 lost, {again} came again"
          f" after a 2xx response with the same id and bytes, all delivered {took:.1f} s after the last payment")
    print(f"control: {controls} false delivery records and {damages} damaged copies of the file, each"
          " detected")


main()
