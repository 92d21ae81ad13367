#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Kills the process around a delivery: before it is queued, before it is sent, and between its response and its
record. After the restart, every receiver has every event, and repeated deliveries have the same id and bytes."""

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
    """Number of ids that were delivered more than once, which must have the same bytes each time."""
    bodies = {}
    for delivery in receiver.snapshot():
        bodies.setdefault(delivery.id, []).append(delivery.body)
    again = {key: all_of_it for key, all_of_it in bodies.items() if len(all_of_it) > 1}
    for key, all_of_it in again.items():
        if len(set(all_of_it)) != 1:
            fail(f"{key} was delivered with different bytes")
    return len(again)


def die(gateway, member, point, passage):
    """Starts the server with an active fault point and pays until it dies. Returns the clients, still running."""
    gateway.stop()
    try:
        gateway.start(env={"COFFER_FAULT": f"{point}:{passage}"})
    except (RuntimeError, ConnectionError):
        pass  # a kill before the process is ready is also valid
    payers = Payers([member] * 100_000, PER_SECOND).start()
    code = gateway.wait(DIES_WITHIN_S)
    if code != SIGKILL:
        fail(f"{point}:{passage}: the process exited with {code}")
    return payers


def run(point, passage, losing=False):
    """Returns the faults after one kill, the number of repeated deliveries, and the facts of the member. `losing`:
    the receiver is down until the kill, so that deliveries are pending, and those are then deleted."""
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
    """Leaves the file of a gateway that kept its deliveries only in memory."""
    db = sqlite3.connect(path)
    with db:
        lost = db.execute("DELETE FROM deliveries WHERE state = 0").rowcount
    db.close()
    if lost == 0:
        fail("no delivery was pending, so the control proves nothing")


def main():
    facts = None
    for point in POINTS:
        for passage in (2, 7):
            faults, again, facts = run(point, passage)
            judge_faults(faults, f"{point}:{passage}")
            if point == "deliver.sent" and again == 0:
                fail(f"{point}:{passage}: no delivery was repeated, so the test proves nothing")
            print(f"  {point}:{passage}: {len(facts['events'])} events, all delivered, {again} repeated with"
                  " the same bytes", flush=True)
    controls = check_controls(facts)
    faults, _, _ = run("deliver.after", 7, losing=True)
    if not any("every event arrives" in fault for fault in faults):
        fail("lost deliveries were not detected")
    print(f"control: {controls} false delivery records and a file without its deliveries, each"
          " detected")


main()
