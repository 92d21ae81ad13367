"""The power fails: only what reached the disk is left. See power_cut.sh."""

import os
import random
import shutil
import signal
import sys
import tempfile
import time

from auditor import audit
from clients import Clients, wait_until_settled
from gateway import Gateway
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
    gateway = Gateway(binary, disk.mount_point)
    gateway.log = os.path.join(folder, "server.log")  # not on the disk: it would keep it busy
    return gateway


def rounds_with_cuts(folder, rounds, dice):
    disk = Disk(folder)
    gateway = gateway_on(disk, folder, os.environ["COFFER_RELEASE_BIN"]).start()
    clients = Clients(gateway).start()
    acked, wanted = 0, int(os.environ.get("COFFER_CUT_PAYMENTS", "0"))
    for number in range(1, rounds + 1):
        facts = cut_under_load(disk, gateway, clients, dice, wanted * number // rounds)
        acked = len(facts["acked"])
        faults = faults_after(gateway, facts)
        for fault in faults[:20]:
            print("  " + str(fault))
        if faults:
            sys.exit(f"power_cut: {len(faults)} faults after cut {number}")
        gateway.start()
    clients.stop()
    clients.replay_waiting()
    wait_until_settled(gateway)
    gateway.stop()
    faults = clients.surprises + audit(gateway.db, clients.facts(), settled=True)
    disk.unmount()
    if faults or set(clients.acked) != set(clients.sent):
        sys.exit(f"power_cut: {faults[:5]}")
    if acked < wanted:
        sys.exit(f"power_cut: only {acked} payments were acknowledged, not {wanted}")
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
        sys.exit(f"power_cut: {what} lost nothing in {cuts} cuts, so this test sees nothing")
    print(f"control: {what}: {lost} faults over {acked} acknowledged payments after {cuts} cuts")


def main():
    rounds = int(os.environ.get("COFFER_CUT_ROUNDS", "8"))
    seed = int(os.environ.get("COFFER_SEED", str(time.time_ns() % 1_000_000)))
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        skip_without_loop_device("power_cut", folder)
    print(f"power_cut: {rounds} rounds, COFFER_SEED={seed}")
    parts = [lambda folder: rounds_with_cuts(folder, rounds, dice),
             lambda folder: control(folder, dice, "synchronous=NORMAL", os.environ["COFFER_FAULTS_BIN"],
                                    env=NORMAL)]
    if shutil.which("strace") and os.system("strace -o /dev/null true 2>/dev/null") == 0:
        parts.append(lambda folder: control(folder, dice, "a disk that only says it synchronised",
                                            os.environ["COFFER_RELEASE_BIN"], wrapper=LYING))
    for part in parts:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            part(folder)


main()
