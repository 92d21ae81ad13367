#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Commands on a full disk, without a floor. Each exits with 75 and says what to do. It leaves no file of its own and
changes no other one, so that it succeeds when it is repeated with free space. Needs root; mounts are private to this
process."""

import os
import re
import subprocess
import tempfile

from harness.machine import binary, in_namespaces
from harness.report import fail

BINARY = binary()
DISK_KIB = 16 << 10
BUSY = 75
STEP_KIB = 24
NO_FLOOR = {"COFFER_DISK_FLOOR_MIB": "0"}
FULL = re.compile("disk is full|No space left on device.*Free disk space|not enough disk space")
TEMPORARY = re.compile(r"\.coffer\.partial|\.new: ")


class SmallDisk:
    """A file system in memory, mounted in a new folder."""

    def __init__(self, parent):
        self.path = os.path.join(parent, "disk")
        os.mkdir(self.path)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_KIB}k", "tmpfs", self.path], check=True)
        self.filler = os.path.join(self.path, "filler")

    def fill(self, leave_kib):
        info = os.statvfs(self.path)
        wanted = info.f_bavail * info.f_frsize - (leave_kib << 10)
        with open(self.filler, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, wanted)

    def make_room(self):
        os.remove(self.filler)

    def content(self):
        """Path -> bytes of every file except the filler, and None for every folder."""
        out = {}
        for folder, folders, files in os.walk(self.path):
            out.update({os.path.join(folder, name): None for name in folders})
            for name in files:
                path = os.path.join(folder, name)
                if path != self.filler:
                    with open(path, "rb") as file:
                        out[path] = file.read()
        return out


def coffer(*words):
    """Exit code and errors of a command. A demo is stopped once it responds."""
    process = subprocess.Popen([BINARY, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, **NO_FLOOR})
    if words[0] == "demo" and process.stdout.readline():
        process.terminate()
    said = process.communicate(timeout=120)[1]
    return process.returncode, said


def on_every_amount(parent, what, prepare, words, enough_kib):
    """Runs a command with more and more free space until it succeeds. `prepare` returns the database."""
    rejected = 0
    for leave in range(0, enough_kib, STEP_KIB):
        with tempfile.TemporaryDirectory(dir=parent) as folder:
            disk = SmallDisk(folder)
            try:
                before = prepare(disk)
                line = [word.replace("DISK", disk.path).replace("ELSEWHERE", folder) for word in words]
                disk.fill(leave)
                code, said = coffer(*line)
                left = disk.content()
                disk.make_room()
                if code == 0:
                    continue
                rejected += 1
                here = f"{what} with {leave} KiB left"
                if code != BUSY or not FULL.search(said) or TEMPORARY.search(said):
                    fail(f"{here}: exit code {code}, {said}")
                check_left(here, before, left)
                code, said = coffer(*line)
                if code != 0:
                    fail(f"{here}: the repetition exits with {code}, {said}")
            finally:
                subprocess.run(["umount", disk.path], check=True)
    if not rejected:
        fail(f"{what}: no disk was too small, so nothing was tested")
    print(f"  {what}: {rejected} times on a full disk", flush=True)


def check_left(here, before, left):
    # The key and the log of an existing database may remain: the next command uses them.
    stays = ("master.key", "-wal", "-shm", ".lock")
    new = [path for path in left if path not in before and not (path.endswith(stays) and (before or "key" in path))]
    changed = [path for path in before if path not in left]
    if new or changed:
        fail(f"{here}: left {new}, removed {changed}")


def nothing(_disk):
    return {}


def database(disk):
    code, said = coffer("init", "--db", os.path.join(disk.path, "c.db"))
    if code != 0:
        fail(f"init exits with {code}: {said}")
    return disk.content()


def elsewhere(disk):
    code, said = coffer("init", "--db", os.path.join(os.path.dirname(disk.path), "c.db"))
    if code != 0:
        fail(f"init exits with {code}: {said}")
    return {}


def main():
    in_namespaces("mount")
    with tempfile.TemporaryDirectory() as parent:
        on_every_amount(parent, "init", nothing, ("init", "--db", "DISK/new/folder/c.db"), 1100)
        on_every_amount(parent, "demo", nothing, ("demo", "--db", "DISK/c.db", "--port", "0", "--json"), 1300)
        on_every_amount(parent, "backup", elsewhere, ("backup", "--verify", "DISK/b.db", "--db", "ELSEWHERE/c.db"), 600)
        on_every_amount(parent, "a change", database, ("association", "create", "Acme", "--db", "DISK/c.db"), 200)
        on_every_amount(parent, "key rotate", elsewhere,
                        ("key", "rotate", "--new-key-file", "DISK/new.key", "--db", "ELSEWHERE/c.db"), 48)


main()
