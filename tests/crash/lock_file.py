#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""What the lock file says is true after a power cut at any moment: each of its states is synchronised before the next
change of the files of which it speaks, and after their names are synchronised."""

import os
import re
import subprocess
import tempfile

from harness.machine import binary
from harness.report import check, fail
from injection import skip_without_strace

CALLS = "pwrite64,write,fsync,fdatasync,ftruncate,unlink,unlinkat,openat"
WRITE = re.compile(r"\b(?:pwrite64|write|ftruncate)\(\d+<([^>]+)>")
SYNC = re.compile(r"\bf(?:data)?sync\(\d+<([^>]+)>\)\s+= 0")
GONE = re.compile(r"\bunlink(?:at)?\((?:AT_FDCWD[^,]*, )?\"([^\"]+)\".*\)\s+= 0")


def changes(trace, db):
    """(kind, file) of each write, synchronisation and removal beside the database, in order."""
    folder = os.path.dirname(db)
    for line in trace.splitlines():
        for kind, pattern in (("write", WRITE), ("sync", SYNC), ("gone", GONE)):
            found = pattern.search(line)
            if found and (found[1] == folder or found[1].startswith(db)):
                yield kind, found[1]


def faults(events, db):
    """Changes that a power cut could keep although it loses the state of the lock file before them, or the reverse."""
    lock, folder = db + ".lock", os.path.dirname(db)
    unsaid, unnamed, out = False, False, []
    for kind, path in events:
        if (kind, path) == ("write", lock):
            if unnamed:
                out.append("the lock file speaks of a file whose removal is not synchronised")
            unsaid = True
        elif (kind, path) == ("sync", lock):
            unsaid = False
        elif kind == "sync" and path == folder:
            unnamed = False
        elif kind == "sync":
            continue
        elif unsaid:
            out.append(f"{kind} of {os.path.basename(path)} after a state of the lock file that is not synchronised")
        if kind == "gone" and path == db + "-wal":
            unnamed = True
    if unsaid:
        out.append("the last state of the lock file is not synchronised")
    return out


def main():
    skip_without_strace()
    lock, wal = "/x/a.db.lock", "/x/a.db-wal"
    sound = [("write", lock), ("sync", lock), ("write", wal), ("gone", wal), ("sync", "/x"), ("write", lock),
             ("sync", lock)]
    if faults(sound, "/x/a.db"):
        fail("a fault is found in a sound order")
    for without in (1, 4, 6):
        if not faults(sound[:without] + sound[without + 1:], "/x/a.db"):
            fail(f"control: no fault is found without {sound[without]}")
    with tempfile.TemporaryDirectory() as folder:
        db, log = os.path.join(folder, "data", "own.db"), os.path.join(folder, "trace")
        for words in (["init"], ["association", "create", "Acme"], ["association", "list"]):
            subprocess.run(["strace", "-f", "-y", "-s", "0", "-o", log, "-e", "trace=" + CALLS, binary("dev"), *words,
                            "--db", db], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           env={**os.environ, "COFFER_DISK_FLOOR_MIB": "0", "ASAN_OPTIONS": "detect_leaks=0"})
            with open(log, encoding="utf-8", errors="replace") as file:
                events = list(changes(file.read(), db))
            states = sum(event == ("write", db + ".lock") for event in events)
            check(f"{' '.join(words)}: each of {states} writes of the lock file is synchronised in time",
                  states >= 4 and not faults(events, db), sorted(set(faults(events, db))))


main()
