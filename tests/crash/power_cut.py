#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: parallel
"""A 202 survives a power cut. The file lies on a disk image; the server is frozen, the image copied as
it is (what was never synchronised is not in it), mounted, and judged. COFFER_CUT_ROUNDS (8) says how
often, COFFER_CUT_PAYMENTS (0) how many payments must be acknowledged by the last cut, COFFER_SEED when.
The control is the same with synchronous=NORMAL, and on a disk that only says it has synchronised. Needs
root and a loop device; the mounts are this process's own."""

import os
import random
import signal
import tempfile
import time

from harness import machine
from harness.auditor import audit
from harness.clients import Clients, wait_until_settled
from harness.machine import in_namespaces, program
from harness.report import fail, judge_faults
from harness.server import Demo
from injection import may_trace
from loop_disk import Disk, run, skip_without_loop_device

SLOW_S = 30.0
CONTROL_CUTS = 6  # at most, until the loss is seen
NORMAL = {"COFFER_FAULT": "sync.normal=fail"}
LYING = ("strace", "-f", "-o", "/dev/null", "-e", "trace=fsync,fdatasync",
         "-e", "inject=fsync,fdatasync:retval=0")


def cut_under_load(disk, gateway, clients, dice, at_least=0):
    """Stops the server between two instructions; what clients had been told by then. Not before
    `at_least` payments are acknowledged in all."""
    deadline = time.monotonic() + SLOW_S
    while len(clients.acked) < at_least and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(dice.uniform(0.1, 0.6))
    server = gateway.server_pid()
    os.kill(server, signal.SIGSTOP)
    time.sleep(0.05)  # answers on their way arrive
    facts = clients.facts_now()
    disk.cut()
    os.kill(server, signal.SIGKILL)
    gateway.wait()
    disk.come_back()
    return facts


def faults_after(gateway, facts):
    try:
        return audit(gateway.db, facts)
    except Exception as error:  # a file that cannot even be read
        return [f"unreadable: {error}"]


def gateway_on(disk, folder, binary):
    gateway = Demo(binary, disk.mount_point)
    gateway.log = os.path.join(folder, "server.log")  # not on the disk: it would keep it busy
    return gateway


def rounds_with_cuts(folder, rounds, dice):
    disk = Disk(folder)
    gateway = gateway_on(disk, folder, machine.binary()).start()
    clients = Clients(gateway).start()
    acked, wanted = 0, int(os.environ.get("COFFER_CUT_PAYMENTS", "0"))
    for number in range(1, rounds + 1):
        facts = cut_under_load(disk, gateway, clients, dice, wanted * number // rounds)
        acked = len(facts["acked"])
        faults = faults_after(gateway, facts)
        judge_faults(faults, f"after cut {number}")
        gateway.start()
    clients.stop()
    clients.replay_waiting()
    wait_until_settled(gateway)
    gateway.stop()
    faults = clients.surprises + audit(gateway.db, clients.facts(), settled=True)
    disk.unmount()
    if faults or set(clients.acked) != set(clients.sent):
        fail(f"{faults[:5]}")
    if acked < wanted:
        fail(f"only {acked} payments were acknowledged, not {wanted}")
    print(f"count: {rounds} cuts, {acked} payments acknowledged before the last, 0 lost, 0 doubled,"
          f" {clients.repeats} learnt by replay")


def control(folder, dice, what, binary, wrapper=(), env=None):
    """The same where an acknowledgement does not wait for the disk: the loss must be seen."""
    disk = Disk(folder)
    gateway = gateway_on(disk, folder, binary)
    gateway.start().stop()
    run("sync")
    lost = acked = cuts = 0
    clients = Clients(gateway)
    while not lost and cuts < CONTROL_CUTS:
        cuts += 1
        try:
            gateway.start(wrapper=wrapper, env=env)
        except (RuntimeError, ConnectionError):
            break  # what the cut left does not even open
        if cuts == 1:
            clients.start()
        facts = cut_under_load(disk, gateway, clients, dice, len(clients.acked) + 10)
        acked = len(facts["acked"])
        lost = len(faults_after(gateway, facts))
    clients.stopping.set()
    disk.unmount()
    if not lost:
        fail(f"{what} lost nothing in {cuts} cuts, so this test sees nothing")
    print(f"control: {what}: {lost} faults over {acked} acknowledged payments after {cuts} cuts")


def main():
    in_namespaces("mount")
    program("mkfs.ext4")
    skip_without_loop_device()
    rounds = int(os.environ.get("COFFER_CUT_ROUNDS", "8"))
    seed = int(os.environ.get("COFFER_SEED", str(time.time_ns() % 1_000_000)))
    dice = random.Random(seed)
    print(f"power_cut: {rounds} rounds, COFFER_SEED={seed}")
    parts = [lambda folder: rounds_with_cuts(folder, rounds, dice),
             lambda folder: control(folder, dice, "synchronous=NORMAL", machine.binary("faults"),
                                    env=NORMAL)]
    if may_trace():
        parts.append(lambda folder: control(folder, dice, "a disk that only says it synchronised",
                                            machine.binary(), wrapper=LYING))
    for part in parts:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            part(folder)


main()
