#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""A secret is rotated under load, again and again: each delivery is signed by the new secret, and as long as
the grace period lasts by the old one too, never longer. COFFER_ROTATIONS (6) says how often."""

import os
import tempfile
import time

from harness.auditor import audit
from harness.machine import binary
from harness.receiver import Receiver, changed, judge_requests, standard_signers
from harness.report import SLOW, fail, judge_faults, until_in_time
from harness.server import Demo
from webhook_world import Member, Payers, judge, wait_until_arrived

GRACE_S = 2
PER_SECOND = 60.0
# What was on its way when a rotation was answered may still carry the signatures of before; no longer than
# this. A consumer that refuses it gets it again. On a machine that is busy it may take longer, but no run
# has to accept it later than LATEST_S.
BEGUN_S = 0.5
LATEST_S = 5.0


class Rotation:
    """One change of the secret, and between which two moments it happened."""

    def __init__(self, member, endpoint, grace_s):
        self.old, self.grace_s = endpoint.secrets[-1], grace_s
        self.asked = time.time()
        answer = member.ask("POST", f"/v1/webhooks/{endpoint.id}/rotate-secret",
                            {"gracePeriodSeconds": grace_s})
        self.answered = time.time()
        self.new = answer["secret"]
        endpoint.secrets.append(self.new)


class Strict:
    """A consumer that believes only the newest secret it knows."""

    def __init__(self):
        self.endpoint = None
        self.refused = 0

    def __call__(self, delivery):
        newest = self.endpoint.secrets[-1]
        if standard_signers(delivery.headers, delivery.body, [newest])[0]:
            return "ok"
        self.refused += 1
        return "unauthorized"


def expected(at, first, rotations):
    """(must sign, may sign) at this moment. `first` is the secret before all rotations."""
    must, may = {first}, {first}
    for rotation in rotations:
        if at < rotation.asked:
            break
        over = rotation.answered + BEGUN_S
        if at <= over:
            # Before or after: a client cannot tell which.
            return set(), may | {rotation.old, rotation.new}
        must, may = {rotation.new}, {rotation.new}
        if rotation.grace_s:
            if at < rotation.asked + rotation.grace_s:
                must.add(rotation.old)
            if at < rotation.answered + rotation.grace_s + BEGUN_S:
                may.add(rotation.old)
    return must, may | must


def is_slow(at, signers, rotations):
    """Whether the one fault is that it still was signed as before the last rotation."""
    past = [rotation for rotation in rotations if rotation.answered < at]
    if not past or at > past[-1].answered + LATEST_S:
        return False
    return set(signers) <= expected(past[-1].asked - 0.001, past[0].old, past[:-1])[1]


def judge_signers(deliveries, secrets, rotations):
    """ValidationErrors, and how many deliveries had how many signatures."""
    faults, kinds = [], {}
    for delivery in deliveries:
        at = int(delivery.headers["x-webhook-ts"]) / 1000
        signers, count = standard_signers(delivery.headers, delivery.body, secrets)
        must, may = expected(at, secrets[0], rotations)
        names = [secrets.index(secret) for secret in signers]
        if not must <= set(signers) or not set(signers) <= may or not signers or count != len(signers):
            slow = SLOW if signers and is_slow(at, signers, rotations) else ""
            faults.append(f"{slow}signed by {names} of {count} at {at:.3f}: {delivery.id}")
        kinds[count] = kinds.get(count, 0) + 1
    return faults, kinds


def longest_lag_s(deliveries, rotations):
    """How long after the answer of a rotation something was still signed without the new secret."""
    worst = 0.0
    for rotation in rotations:
        for delivery in deliveries:
            at = int(delivery.headers["x-webhook-ts"]) / 1000
            if at <= rotation.answered or any(other.asked > rotation.asked and at >= other.asked
                                              for other in rotations):
                continue
            if not standard_signers(delivery.headers, delivery.body, [rotation.new])[0]:
                worst = max(worst, at - rotation.answered)
    return worst


def rotate_all(member, endpoint, cycles):
    """With grace to its end, with a second one in the grace of the first, and without grace."""
    rotations = []
    for cycle in range(cycles):
        rotations.append(Rotation(member, endpoint, GRACE_S))
        time.sleep(GRACE_S + 0.6 if cycle % 2 == 0 else 0.8)
        rotations.append(Rotation(member, endpoint, 0 if cycle % 2 == 0 else GRACE_S))
        time.sleep(0.7)
    return rotations


def check_control(deliveries, secrets, rotations):
    """The same deliveries must not fit other promises, and an old signature must be noticed."""
    shifted = [changed(delivery, headers={**delivery.headers, "x-webhook-ts": str(
        int(delivery.headers["x-webhook-ts"]) + 1500)}) for delivery in deliveries]
    if all(fault.startswith(SLOW) for fault in judge_signers(shifted, secrets, rotations)[0]):
        fail("signatures of another moment are not noticed")
    if not judge_signers([changed(deliveries[0], headers={
            **deliveries[-1].headers, "webhook-signature": deliveries[0].headers["webhook-signature"]})],
            secrets, rotations)[0]:
        fail("a foreign signature is not noticed")
    if not judge_requests(deliveries, secrets[:1]):
        fail("a consumer that never learns the new secrets notices nothing")
    return 3


def run():
    cycles = int(os.environ.get("COFFER_ROTATIONS", "6")) // 2
    with tempfile.TemporaryDirectory() as folder:
        gateway = Demo(binary(), folder)
        gateway.start(env={"COFFER_WEBHOOK_SANDBOX_RETRY_S": "1"})
        member, consumer = Member.create(gateway, "rotating"), Strict()
        consumer.endpoint = endpoint = member.listen(Receiver(consumer))
        payers = Payers([member] * 100_000, PER_SECOND).start()
        time.sleep(0.5)
        rotations = rotate_all(member, endpoint, cycles)
        payers.stop()
        payers.join()
        wait_until_arrived([member], 30.0)
        facts = member.facts()
        deliveries = facts["endpoints"][0]["deliveries"]
        faults, kinds = judge_signers(deliveries, endpoint.secrets, rotations)
        lag = longest_lag_s(deliveries, rotations)
        faults += judge(facts)
        if faults:
            return faults, None
        controls = check_control(deliveries, endpoint.secrets, rotations)
        if set(kinds) != {1, 2}:
            fail(f"not both kinds of moments were seen: {kinds}")
        gateway.stop()
        client = {"sent": member.sent, "acked": member.acked}
        judge_faults(audit(gateway.db, client, settled=True))
    return [], (f"count: {len(rotations)} rotations, {len(deliveries)} deliveries, {kinds[2]} of them signed by both"
                f" secrets, {consumer.refused} refused by a consumer of the newest secret only and delivered"
                f" again; the last without the new one {lag * 1000:.0f} ms after a rotation was answered\n"
                f"control: {controls} false records, each noticed")


if __name__ == "__main__":
    print(until_in_time(run))
