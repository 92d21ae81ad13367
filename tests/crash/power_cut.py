"""The power fails: only what reached the disk is left. See power_cut.sh."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from auditor import audit
from clients import Clients, wait_until_settled
from gateway import Gateway

SKIPPED = 77


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


class Disk:
    """A file system in an image file, which can be frozen as a power cut would leave it."""

    def __init__(self, folder):
        self.image = os.path.join(folder, "disk.img")
        self.mount_point = os.path.join(folder, "disk")
        os.mkdir(self.mount_point)
        run("truncate", "-s", "640M", self.image)  # above the floor at which writes stop
        run("mkfs.ext4", "-q", "-F", "-m0", self.image)
        self.mount()

    def mount(self):
        run("mount", "-o", "loop", self.image, self.mount_point)

    def unmount(self):
        run("umount", self.mount_point)

    def cut(self):
        """Copies the image as it is: what is only in memory is not in it. Call with writers stopped."""
        run("cp", "--sparse=always", self.image, self.image + ".cut")

    def come_back(self):
        """The machine starts again with what the cut left; the journal of ext4 is replayed."""
        self.unmount()
        os.replace(self.image + ".cut", self.image)
        self.mount()


def cut_under_load(disk, gateway, clients, dice):
    """Stops the server between two instructions; what clients had been told by then."""
    time.sleep(dice.uniform(0.1, 0.6))
    server = gateway.server_pid()
    os.kill(server, signal.SIGSTOP)
    time.sleep(0.05)  # answers on their way arrive
    with clients.lock:
        facts = {key: dict(value) for key, value in clients.facts().items()}
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


def rounds_with_cuts(folder, rounds, dice):
    disk = Disk(folder)
    gateway = Gateway(os.environ["COFFER_RELEASE_BIN"], disk.mount_point)
    gateway.log = os.path.join(folder, "server.log")  # not on the disk: it would keep it busy
    gateway.start()
    clients = Clients(gateway).start()
    acked = 0
    for number in range(1, rounds + 1):
        facts = cut_under_load(disk, gateway, clients, dice)
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
    if faults:
        sys.exit(f"power_cut: {faults[:5]}")
    print(f"power_cut: {rounds} cuts, {acked} payments acknowledged before the last, 0 lost")


def control(folder, dice):
    """The same with a disk that only says it has synchronised: the loss must be seen."""
    if not shutil.which("strace") or os.system("strace -o /dev/null true 2>/dev/null") != 0:
        print("power_cut: no control run without strace")
        return
    disk = Disk(folder)
    gateway = Gateway(os.environ["COFFER_RELEASE_BIN"], disk.mount_point)
    gateway.log = os.path.join(folder, "server.log")
    gateway.start().stop()
    run("sync")
    lying = ("strace", "-f", "-o", "/dev/null", "-e", "trace=fsync,fdatasync",
             "-e", "inject=fsync,fdatasync:retval=0")
    gateway.start(wrapper=lying)
    clients = Clients(gateway).start()
    facts = cut_under_load(disk, gateway, clients, dice)
    clients.stopping.set()
    faults = faults_after(gateway, facts)
    disk.unmount()
    lost = sum(fault.startswith("acknowledged and lost") for fault in faults)
    if not faults:
        sys.exit("power_cut: a disk that never synchronised lost nothing, so this test sees nothing")
    print(f"power_cut: the control without synchronisation lost {lost} of {len(facts['acked'])}")


def main():
    rounds = int(os.environ.get("COFFER_CUT_ROUNDS", "8"))
    seed = int(os.environ.get("COFFER_SEED", str(time.time_ns() % 1_000_000)))
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            disk = Disk(folder)
            disk.unmount()
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"power_cut: no loop device to be had here: {error}")
            sys.exit(SKIPPED)
    print(f"power_cut: {rounds} rounds, COFFER_SEED={seed}")
    for part in (lambda folder: rounds_with_cuts(folder, rounds, dice), lambda folder: control(folder, dice)):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            part(folder)


main()
