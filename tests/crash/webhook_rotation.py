#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Rotates a secret repeatedly under load. Each delivery is signed with the new secret, and during the grace period, but
no longer, also with the old one. COFFER_ROTATIONS (6): number of rotations."""

import os
import tempfile
import time

from harness.auditor import audit
from harness.machine import binary
from harness.receiver import Receiver, changed, judge_requests, standard_signers
from harness.report import SLOW, fail, judge_faults, until_in_time
from harness.server import Demo
from webhook_world import Member, Payers, judge, wait_until_arrived, when

GRACE_S = 2
PER_SECOND = 60.0
# A delivery in progress at the response of a rotation may still have the earlier signatures, for at most this
# long. If a consumer rejects it, it is redelivered. A busy machine may take longer, but never longer than LATEST_S.
BEGUN_S = 0.5
LATEST_S = 5.0
# The end of a grace period is a time of the ledger, in whole milliseconds; a signature has the time of the machine. A
# time of the ledger is up to 1 ms ahead, and a transaction may have begun before the request.
CLOCK_S = 0.05


class Rotation:
    """One change of the secret, and the interval in which it happened."""

    def __init__(self, member, endpoint, grace_s):
        self.old, self.grace_s = endpoint.secrets[-1], grace_s
        self.asked = time.time()
        answer = member.ask("POST", f"/v1/webhooks/{endpoint.id}/rotate-secret",
                            {"gracePeriodSeconds": grace_s})
        self.answered = time.time()
        self.new = answer["secret"]
        # The response says when the grace period ends. Until then, the old secret must sign too.
        self.ends = when(answer["previousSecretValidUntil"]) if grace_s else self.asked
        if not -CLOCK_S <= self.ends - grace_s - self.asked <= self.answered - self.asked + CLOCK_S:
            fail(f"a grace period of {grace_s} s, requested at {self.asked:.3f}, ends at {self.ends:.3f}")
        endpoint.secrets.append(self.new)


class Strict:
    """A consumer that accepts only the newest secret it knows."""

    def __init__(self):
        self.endpoint = None
        self.rejected = 0

    def __call__(self, delivery):
        newest = self.endpoint.secrets[-1]
        if standard_signers(delivery.headers, delivery.body, [newest])[0]:
            return "ok"
        self.rejected += 1
        return "unauthorized"


def expected(at, first, rotations):
    """The secrets that (must sign, may sign) at this moment. `first` is the secret before all rotations."""
    must, may = {first}, {first}
    for rotation in rotations:
        if at < rotation.asked:
            break
        over = rotation.answered + BEGUN_S
        if at <= over:
            # During the rotation: a client cannot know whether it has happened.
            return set(), may | {rotation.old, rotation.new}
        must, may = {rotation.new}, {rotation.new}
        if rotation.grace_s:
            if at < rotation.ends - CLOCK_S:
                must.add(rotation.old)
            if at < rotation.ends + BEGUN_S:
                may.add(rotation.old)
    return must, may | must


def is_slow(at, signers, rotations):
    """Whether the only fault is that the delivery has the signatures from before the last rotation."""
    past = [rotation for rotation in rotations if rotation.answered < at]
    if not past or at > past[-1].answered + LATEST_S:
        return False
    return set(signers) <= expected(past[-1].asked - 0.001, past[0].old, past[:-1])[1]


def judge_signers(deliveries, secrets, rotations):
    """Returns the faults, and the number of deliveries by number of signatures."""
    faults, kinds = [], {}
    for delivery in deliveries:
        at = int(delivery.headers["x-webhook-ts"]) / 1000
        signers, count = standard_signers(delivery.headers, delivery.body, secrets)
        must, may = expected(at, secrets[0], rotations)
        names = [secrets.index(secret) for secret in signers]
        if not must <= set(signers) or not set(signers) <= may or not signers or count != len(signers):
            slow = SLOW if signers and is_slow(at, signers, rotations) else ""
            since = [round(at - rotation.asked, 3) for rotation in rotations if rotation.asked <= at]
            faults.append(f"{slow}signed by {names} of {count}, seconds after the rotations {since}: {delivery.id}")
        kinds[count] = kinds.get(count, 0) + 1
    return faults, kinds


def longest_lag_s(deliveries, rotations):
    """The longest time after the response of a rotation at which a delivery lacked the new secret's signature."""
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
    """Rotates with a complete grace period, again during a grace period, and without one."""
    rotations = []
    for cycle in range(cycles):
        rotations.append(Rotation(member, endpoint, GRACE_S))
        time.sleep(GRACE_S + 0.6 if cycle % 2 == 0 else 0.8)
        rotations.append(Rotation(member, endpoint, 0 if cycle % 2 == 0 else GRACE_S))
        time.sleep(0.7)
    return rotations


def check_control(deliveries, secrets, rotations):
    """The same deliveries must fail with other times and secrets, and an outdated signature must be detected."""
    shifted = [changed(delivery, headers={**delivery.headers, "x-webhook-ts": str(
        int(delivery.headers["x-webhook-ts"]) + 1500)}) for delivery in deliveries]
    if all(fault.startswith(SLOW) for fault in judge_signers(shifted, secrets, rotations)[0]):
        fail("signatures of another time were not detected")
    if not judge_signers([changed(deliveries[0], headers={
            **deliveries[-1].headers, "webhook-signature": deliveries[0].headers["webhook-signature"]})],
            secrets, rotations)[0]:
        fail("a foreign signature was not detected")
    if not judge_requests(deliveries, secrets[:1]):
        fail("a consumer that never learns the new secrets rejects nothing")
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
            fail(f"deliveries with one and with two signatures are both required: {kinds}")
        gateway.stop()
        client = {"sent": member.sent, "acked": member.acked}
        judge_faults(audit(gateway.db, client, settled=True))
    return [], (f"count: {len(rotations)} rotations, {len(deliveries)} deliveries, {kinds[2]} of them signed with both"
                f" secrets, {consumer.rejected} rejected by a consumer of only the newest secret and"
                f" redelivered; the last without the new one {lag * 1000:.0f} ms after a rotation's response\n"
                f"control: {controls} false records, each detected")


if __name__ == "__main__":
    print(until_in_time(run))
