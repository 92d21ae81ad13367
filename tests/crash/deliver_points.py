#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: parallel
"""The process is killed around a delivery: before it is queued, when it was queued and not sent, when it was
sent and answered and not recorded. After the restart every receiver has every event, and what came twice
came with the same id and the same bytes."""

import sqlite3
import tempfile
import threading
import time

from harness.auditor import audit
from harness.machine import binary, held_port
from harness.receiver import Receiver
from harness.report import fail, judge_faults
from harness.server import Demo
from webhook_world import Member, Payers, check_controls, judge, wait_until_arrived

POINTS = ("deliver.before", "deliver.sent", "deliver.after")
SIGKILL = -9
DIES_WITHIN_S = 20.0
ARRIVED_WITHIN_S = 30.0
PER_SECOND = 40.0


def repeated(receiver):
    """Ids that came more than once, each time with the same bytes."""
    bodies = {}
    for delivery in receiver.snapshot():
        bodies.setdefault(delivery.id, []).append(delivery.body)
    again = {key: all_of_it for key, all_of_it in bodies.items() if len(all_of_it) > 1}
    for key, all_of_it in again.items():
        if len(set(all_of_it)) != 1:
            fail(f"{key} came with different bytes")
    return len(again)


def die(gateway, member, point, passage):
    """Starts it armed, pays until it dies; the payers, who are still at it."""
    gateway.stop()
    try:
        gateway.start(env={"COFFER_FAULT": f"{point}:{passage}"})
    except (RuntimeError, ConnectionError):
        pass  # it died before it was ready, which is as good
    payers = Payers([member] * 100_000, PER_SECOND).start()
    code = gateway.wait(DIES_WITHIN_S)
    if code != SIGKILL:
        fail(f"{point}:{passage} ended the process with {code}")
    return payers


def run(point, passage, losing=False):
    """What is wrong after one death, how many came again, and what is known of the member. `losing`: its
    receiver is down until the death, so that something is pending then, and what is pending is lost."""
    with tempfile.TemporaryDirectory() as folder:
        gateway = Demo(binary("faults"), folder, port=held_port()).start()
        member = Member.create(gateway, "member")
        down = threading.Event()
        receiver = Receiver(lambda delivery: "error" if down.is_set() else "ok")
        if losing:
            down.set()
        member.listen(receiver)
        payers = die(gateway, member, point, passage)
        if losing:
            lose(gateway.db)
            down.clear()
        gateway.start()
        time.sleep(0.5)
        payers.stop()
        payers.join()
        wait_until_arrived([member], 5.0 if losing else ARRIVED_WITHIN_S)
        facts = member.facts()
        gateway.stop()
        faults = judge(facts)
        client = {"sent": member.sent, "acked": member.acked}
        if not faults:
            faults = audit(gateway.db, client, settled=True)
        return faults, repeated(receiver), facts


def lose(path):
    """What a gateway would leave that kept its deliveries in memory only."""
    db = sqlite3.connect(path)
    with db:
        lost = db.execute("DELETE FROM deliveries WHERE state = 0").rowcount
    db.close()
    if lost == 0:
        fail("nothing was pending, the control proves nothing")


def main():
    facts = None
    for point in POINTS:
        for passage in (2, 7):
            faults, again, facts = run(point, passage)
            judge_faults(faults, f"{point}:{passage}")
            if point == "deliver.sent" and again == 0:
                fail(f"{point}:{passage}: nothing came again, which proves nothing")
            print(f"  {point}:{passage}: {len(facts['events'])} events, all there, {again} came again with"
                  " the same bytes", flush=True)
    controls = check_controls(facts)
    faults, _, _ = run("deliver.after", 7, losing=True)
    if not any("every event arrives" in fault for fault in faults):
        fail("lost deliveries are not noticed")
    print(f"control: {controls} false records of what arrived and a file without its deliveries, each"
          " noticed")


main()
