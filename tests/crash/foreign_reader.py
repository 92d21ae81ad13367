#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""`coffer verify FILE` reads files of other processes and changes nothing. If a server opens a closed file while
verify reads it, every payment that the server acknowledges survives a kill. Verify reads the log that a killed
server left, and keeps it. It can check a file on a read-only file system, and never leaves a file behind. The
read-only part needs root."""

import json
import os
import shutil
import subprocess
import tempfile

from harness.clients import payment, wait_until_settled
from harness.machine import binary, in_namespaces
from harness.process import open_files
from harness.report import fail, wait_for
from harness.server import Demo, Service

BINARY = binary("faults")
PAYMENTS = 20
TRIES = 5
READINGS = []  # the verified files


def companions(path):
    """The files next to a file, with properties that change when they are written or replaced."""
    out = {}
    for suffix in ("", "-wal", "-shm", "-journal"):
        if os.path.exists(path + suffix):
            found = os.stat(path + suffix)
            out[suffix] = (found.st_ino, found.st_size, found.st_mtime_ns)
    return out


def verify(path, **environment):
    return subprocess.Popen([BINARY, "verify", path, "--json"], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})


def verdict(process):
    out, err = process.communicate(timeout=120)
    READINGS.append(process.args[2])
    if process.returncode != 0:
        fail(f"verify exited with {process.returncode}: {out}{err}")
    return json.loads(out)


def opened(process, path):
    """Waits until a process has the file open."""
    wait_for(f"verify opens {path}", lambda: process.poll() is not None or path in open_files(process.pid), 30, 0.002)
    if process.poll() is not None:
        fail(f"verify did not open {path}")


def serve(gateway):
    """`coffer serve` on the demo's file, with a disk that is too full for the initial write: the log stays empty
    until the first payment."""
    service = Service(BINARY, gateway.db, settings={"COFFER_FAULT": "disk.full=fail"})
    service.start("--admin-off", "--rate-limit-sandbox-per-s", "0", ready="/livez")
    gateway.process, gateway.port = service.process, service.port


def pay(gateway, prefix):
    """Transaction IDs of payments that got a 202."""
    connection, out = gateway.login(), []
    for number in range(PAYMENTS):
        route, body = payment(gateway, f"{prefix}-{number}", number)
        status, answer = connection.call("POST", "/v1/payments/" + route, body)
        if status != 202:
            fail(f"payment: {status} {answer}")
        out.append(body["transactionId"])
    return out


def stored(gateway):
    return {row["transactionId"] for row in gateway.login().list_transactions("")}


def opened_meanwhile(gateway):
    """A server opens the file while it is read."""
    if any(suffix in companions(gateway.db) for suffix in ("-wal", "-shm")):
        fail("the stopped server left a log")
    for _ in range(TRIES):
        # The fault point delays verify for 3 s after it opens the file.
        reader = verify(gateway.db, COFFER_FAULT="foreign.open=stall")
        opened(reader, gateway.db)
        serve(gateway)
        if os.path.getsize(gateway.db + "-wal") == 0 and reader.poll() is None:
            break
        # On a slow machine, the server's test write may come first, or verify may finish early. Repeat the sequence.
        verdict(reader)
        gateway.stop()
    else:
        fail(f"in {TRIES} tries, no idle server had the file open while verify was reading it")
    log = os.stat(gateway.db + "-wal").st_ino
    verdict(reader)
    if not os.path.exists(gateway.db + "-wal") or os.stat(gateway.db + "-wal").st_ino != log:
        fail("verify removed the log of a server")
    acknowledged = pay(gateway, "meanwhile")
    gateway.kill()
    return acknowledged


def left_by_a_kill(gateway, folder, least):
    """Verify reads the log, with and without its shared-memory file, and changes nothing."""
    before = companions(gateway.db)
    if before["-wal"][1] == 0:
        fail("the killed server left no log")
    found = verdict(verify(gateway.db))
    if found["payments"] < least:
        fail(f"verify counts {found['payments']} payments, expected at least {least}: it did not read the log")
    after = companions(gateway.db)
    # Verify rebuilds the log's index in the shared-memory file that the killed server left.
    before.pop("-shm"), after.pop("-shm")
    if after != before:
        fail(f"verify changed {before} into {after}")
    moved = os.path.join(folder, "moved.db")
    for suffix in ("", "-wal"):
        shutil.copy(gateway.db + suffix, moved + suffix)
    before = companions(moved)
    if verdict(verify(moved))["payments"] != found["payments"]:
        fail("without its shared-memory file, the log gives another result")
    if companions(moved) != before:
        fail(f"verify changed {before} into {companions(moved)}")
    return moved, found["payments"]


def on_read_only_medium(folder, moved, payments):
    """A closed file and one with a log on a read-only file system, because file modes do not restrict root."""
    medium = os.path.join(folder, "medium")
    os.mkdir(medium)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", medium], check=True)
    for suffix in ("", "-wal"):
        shutil.copy(moved + suffix, os.path.join(medium, "left.db" + suffix))
    closed = os.path.join(folder, "closed.db")
    for suffix in ("", "-wal"):
        shutil.copy(moved + suffix, closed + suffix)
    subprocess.run(["python3", "-c", "import sqlite3,sys; d=sqlite3.connect(sys.argv[1]);"
                    "d.execute('PRAGMA user_version').fetchone(); d.close()", closed], check=True)
    if os.path.exists(closed + "-wal"):
        fail("SQLite did not close the copy")
    shutil.copy(closed, os.path.join(medium, "closed.db"))
    subprocess.run(["mount", "-o", "remount,ro", medium], check=True)
    for name in ("left.db", "closed.db"):
        found = verdict(verify(os.path.join(medium, name)))["payments"]
        if found != payments:
            fail(f"{name} on a read-only file system: {found} payments of {payments}")
    subprocess.run(["umount", medium], check=True)
    return "judged"


def beside_a_server(gateway):
    """Verify does not change the log or shared memory of a running server."""
    acknowledged = pay(gateway, "before")
    kept = {suffix: companions(gateway.db)[suffix][0] for suffix in ("-wal", "-shm")}
    for _ in range(3):
        verdict(verify(gateway.db))
        now = companions(gateway.db)
        if any(now.get(suffix, (0,))[0] != inode for suffix, inode in kept.items()):
            fail("verify replaced a file that the server has open")
    acknowledged += pay(gateway, "after")
    gateway.kill()
    return acknowledged


def main():
    mounts, medium = in_namespaces("mount", optional=True), "not tried"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        gateway = Demo(BINARY, folder).start()
        known = pay(gateway, "first")
        wait_until_settled(gateway)
        gateway.stop()
        known += opened_meanwhile(gateway)
        moved, payments = left_by_a_kill(gateway, folder, len(known))
        if mounts:
            medium = on_read_only_medium(folder, moved, payments)
        gateway.start()
        lost = set(known) - stored(gateway)
        if lost:
            fail(f"{len(lost)} of {len(known)} acknowledged payments are lost: {sorted(lost)[:3]}")
        known += beside_a_server(gateway)
        gateway.start()
        lost = set(known) - stored(gateway)
        if lost:
            fail(f"{len(lost)} of {len(known)} acknowledged payments are lost: {sorted(lost)[:3]}")
        gateway.stop()
    print(f"count: {len(known)} payments acknowledged around {len(READINGS)} verifications, 0 lost;"
          f" read-only file system: {medium}")


main()
