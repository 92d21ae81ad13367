#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""A 202 survives a power cut. The file is on a disk image. The test stops the server, copies the image, which has only
synced data, mounts the copy, and audits the file. COFFER_CUT_ROUNDS (8): number of cuts. COFFER_CUT_PAYMENTS (0):
payments to be acknowledged by the last cut. COFFER_SEED: the moments of the cuts. Controls: the same with
synchronous=NORMAL, and with a disk that ignores sync. Needs root and a loop device; mounts are private to this
process."""

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
CONTROL_CUTS = 6  # maximum until a loss is detected
NORMAL = {"COFFER_FAULT": "sync.normal=fail"}
LYING = ("strace", "-f", "-o", "/dev/null", "-e", "trace=fsync,fdatasync",
         "-e", "inject=fsync,fdatasync:retval=0")


def cut_under_load(disk, gateway, clients, dice, at_least=0):
    """Stops the server between two instructions, once `at_least` payments in total are acknowledged. Returns the
    clients' facts at that moment."""
    deadline = time.monotonic() + SLOW_S
    while len(clients.acked) < at_least and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(dice.uniform(0.1, 0.6))
    server = gateway.server_pid()
    os.kill(server, signal.SIGSTOP)
    time.sleep(0.05)  # lets sent responses arrive
    facts = clients.facts_now()
    disk.cut()
    os.kill(server, signal.SIGKILL)
    gateway.wait()
    disk.come_back()
    return facts


def faults_after(gateway, facts):
    try:
        return audit(gateway.db, facts)
    except Exception as error:  # the file cannot even be read
        return [f"unreadable: {error}"]


def gateway_on(disk, folder, binary):
    gateway = Demo(binary, disk.mount_point)
    gateway.log = os.path.join(folder, "server.log")  # not on the disk image, to reduce its load
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
        fail(f"only {acked} payments were acknowledged, expected {wanted}")
    print(f"count: {rounds} cuts, {acked} payments acknowledged before the last, 0 lost, 0 duplicated,"
          f" {clients.repeats} found by replay")


def control(folder, dice, what, binary, wrapper=(), env=None):
    """The same when responses do not wait for the disk: the loss must be detected."""
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
            break  # the file does not even open after the cut
        if cuts == 1:
            clients.start()
        facts = cut_under_load(disk, gateway, clients, dice, len(clients.acked) + 10)
        acked = len(facts["acked"])
        lost = len(faults_after(gateway, facts))
    clients.stopping.set()
    disk.unmount()
    if not lost:
        fail(f"{what} lost nothing in {cuts} cuts, so this test detects nothing")
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
        parts.append(lambda folder: control(folder, dice, "a disk that ignores sync",
                                            machine.binary(), wrapper=LYING))
    for part in parts:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            part(folder)


main()
