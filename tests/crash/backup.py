#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Backups under load: the copy verifies, contains every payment that was acknowledged before the backup began, and
its last entry is no older than that. A kill during a backup leaves no incomplete file with the final name. A full
disk stops the backup but no payments. A damaged backup is not restored.
COFFER_BACKUP_ROUNDS (2): number of rounds. The full-disk part needs root and a loop device."""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from decimal import Decimal

from harness.auditor import audit
from harness.clients import Clients, wait_until_settled
from harness.machine import binary, in_namespaces
from harness.report import fail
from harness.server import Demo
from loop_disk import Disk, skip_without_loop_device

BINARY = binary()
PARTIAL = ".coffer.partial"  # until a file is complete
FAULT, BUSY = 3, 75
EXPORTED = (("payment", "payments"), ("paymentLeg", "payment_legs"), ("entry", "entries"), ("wallet", "wallets"),
            ("entrySet", "journal"), ("event", "events"), ("hold", "payment_holds"), ("account", "accounts"))


def coffer(*arguments, db=None):
    """(exit code, standard output, standard error) of one command."""
    command = [BINARY, *arguments] + (["--db", db] if db else [])
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    return done.returncode, done.stdout, done.stderr


def take(gateway, path, *more):
    code, out, err = coffer("backup", path, "--json", *more, db=gateway.db)
    if code != 0:
        fail(f"backup exited with {code}: {err}")
    return json.loads(out)


def remove_backup(path):
    """A backup overwrites none of its three files."""
    for ending in ("", ".sha256", ".checkpoint"):
        if os.path.exists(path + ending):
            os.remove(path + ending)


def newest_entry(path):
    db = sqlite3.connect(path)
    row = db.execute("SELECT journal, at FROM journal ORDER BY journal DESC LIMIT 1").fetchone()
    db.close()
    return row


def accepted(clients, wanted):
    """Waits until `wanted` payments are acknowledged."""
    end = time.monotonic() + 60
    while len(clients.acked) < wanted:
        if clients.surprises or time.monotonic() > end:
            fail(f"payments do not continue: {clients.surprises}")
        time.sleep(0.01)


def judge_backup(backup, known):
    """The backup must pass both judges and contain every payment that was acknowledged before it began."""
    code, out, _ = coffer("verify", backup, "--json")
    if code != 0:
        fail(f"the backup does not verify: {out}")
    return audit(backup, known)


def restored_from(folder, gateway, backup):
    """A server on the restored file in a separate folder, with the key of the first server."""
    os.mkdir(folder)
    again = Demo(BINARY, folder)
    code, _, err = coffer("restore", backup, db=again.db)
    if code != 0:
        fail(f"restore exited with {code}: {err}")
    for name in os.listdir(os.path.dirname(gateway.db)):
        if name.endswith(".key") or name.endswith(".json"):
            shutil.copy(os.path.join(os.path.dirname(gateway.db), name), folder)
    return again


def check_export(gateway, folder):
    """Each row of the main nouns must be one line of the export, and the entries of each asset must sum to zero."""
    path = os.path.join(folder, "everything.ndjson")
    code, _, err = coffer("export", path, db=gateway.db)
    if code != 0:
        fail(f"export exited with {code}: {err}")
    lines, sums, asset_of = {}, {}, {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            lines[row["type"]] = lines.get(row["type"], 0) + 1
            if row["type"] == "account":
                asset_of[row["account"]] = row["assetCode"]
            if row["type"] == "entry":
                asset = asset_of[row["account"]]
                sums[asset] = sums.get(asset, 0) + Decimal(row["amount"])
    db = sqlite3.connect(gateway.db)
    for noun, table in EXPORTED:
        rows = db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        if lines.get(noun, 0) != rows:
            fail(f"the export has {lines.get(noun, 0)} lines of {noun}, but the file has {rows} rows")
    db.close()
    if any(sums.values()):
        fail(f"the exported entries sum to {sums}")


def under_load(folder, rounds):
    by_plan = os.path.join(folder, "by-plan")
    gateway = Demo(BINARY, folder).start(env={"COFFER_BACKUP_DIR": by_plan})
    clients = Clients(gateway).start()
    for number in range(1, rounds + 1):
        accepted(clients, 200 * number)
        known = clients.facts_now()
        before = newest_entry(gateway.db)
        backup = os.path.join(folder, f"backup-{number}.db")
        made = take(gateway, backup, *(["--verify"] if number % 2 else []))
        last = newest_entry(backup)
        if last[0] < before[0] or last[1] < before[1]:
            fail(f"the last entry {last} is older than the start of the backup {before}")
        # The backup may contain payments without a response yet, so include everything sent until now.
        known["sent"] = clients.facts_now()["sent"]
        faults = judge_backup(backup, known)
        if faults:
            fail(f"{len(faults)} faults in the backup: {faults[:5]}")
        if made["bytes"] != os.path.getsize(backup):
            fail("the backup's size differs from the reported size")
    clients.stop()
    clients.replay_waiting()
    wait_until_settled(gateway)
    taken = [name for name in os.listdir(by_plan) if name.endswith(".db")]
    if len(taken) != 1 or coffer("verify", os.path.join(by_plan, taken[0]))[0] != 0:
        fail(f"the schedule made {taken}")
    gateway.stop()
    check_export(gateway, folder)
    again = restored_from(os.path.join(folder, "restored"), gateway, backup)
    again.start()
    wait_until_settled(again)
    again.stop()
    faults = audit(again.db, settled=True) + clients.surprises
    faults += audit(gateway.db, clients.facts(), settled=True)
    if faults:
        fail(f"{len(faults)} faults after the restore: {faults[:5]}")
    return gateway, backup, len(clients.acked)


def killed(folder, rounds):
    """Kills the server at a random moment of a backup: the final file is complete, or it does not exist."""
    gateway = Demo(BINARY, folder).start()
    clients = Clients(gateway, count=4).start()
    accepted(clients, 300)
    whole = halves = 0
    choice = random.Random(1)
    for number in range(rounds * 4):
        backup = os.path.join(folder, "killed.db")
        process = subprocess.Popen([BINARY, "backup", backup, "--verify", "--db", gateway.db],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while not os.path.exists(backup + PARTIAL) and process.poll() is None and time.monotonic() < end:
            pass
        time.sleep(choice.choice((0.003, 0.02, 0.1, 0.5, 2.0)) * choice.random())
        gateway.kill()
        process.kill()
        process.wait(30)
        halves += os.path.exists(backup + PARTIAL)
        if os.path.exists(backup):
            whole += 1
            code, out, _ = coffer("verify", backup, "--json")
            if code != 0 or json.loads(out)["checksum"] != "matches":
                fail(f"a backup has its final name but is incomplete: {out}")
        remove_backup(backup)
        gateway.start()
        accepted(clients, len(clients.acked) + 20)
    if halves == 0:
        fail("no kill interrupted a backup")
    take(gateway, backup)  # over the partial files of the killed backups
    if os.path.exists(backup + PARTIAL):
        fail("the partial file of a killed backup still exists")
    clients.stop()
    clients.replay_waiting()
    wait_until_settled(gateway)
    gateway.stop()
    faults = audit(gateway.db, clients.facts(), settled=True)
    if faults:
        fail(f"{len(faults)} faults after the kills: {faults[:5]}")
    return whole, halves


def full_disk(folder):
    """The disk is full before or during a backup. Payments continue."""
    disk = Disk(folder)
    gateway = Demo(BINARY, os.path.join(folder, "live"))
    os.mkdir(os.path.join(folder, "live"))
    gateway.start()
    clients = Clients(gateway, count=4).start()
    accepted(clients, 200)
    backup = os.path.join(disk.mount_point, "backup.db")
    for leave in (os.path.getsize(gateway.db) // 2, 0):
        disk.fill(leave)
        code, _, err = coffer("backup", backup, db=gateway.db)
        if code != BUSY or "disk space" not in err and "full" not in err:
            fail(f"with {leave} bytes left, the backup exited with {code}: {err}")
        if os.path.exists(backup) or os.path.exists(backup + PARTIAL):
            fail("a backup that failed on a full disk left a file")
        accepted(clients, len(clients.acked) + 50)
        disk.make_room()
    # Fill the disk during the backup, after its check of the free space.
    filler = subprocess.Popen([sys.executable, "-c",
                               "import os,sys\nf=os.open(sys.argv[1],os.O_WRONLY|os.O_CREAT)\n"
                               "try:\n  while True: os.write(f,b'\\0'*65536)\nexcept OSError: pass\n",
                               disk.filler])
    code, _, err = coffer("backup", backup, db=gateway.db)
    filler.wait()
    if code not in (0, BUSY, 1):
        fail(f"while the disk filled up, the backup exited with {code}: {err}")
    if code != 0 and (os.path.exists(backup) or os.path.exists(backup + PARTIAL)):
        fail("a backup that failed on a full disk left a file")
    disk.make_room()
    if code == 0:
        remove_backup(backup)
    take(gateway, backup)
    clients.stop()
    clients.replay_waiting()
    gateway.stop()
    if clients.surprises:
        fail(f"payments failed because of the full disk: {clients.surprises[:3]}")
    disk.unmount()
    return len(clients.acked)


def control(folder, gateway, backup):
    """A damaged backup must fail both judges, and restore must reject it."""
    rejected = 0
    target = os.path.join(folder, "damaged-restored.db")
    size = os.path.getsize(backup)
    choice = random.Random(2)
    with open(backup, "rb") as file:
        content = file.read()
    copy = os.path.join(folder, "damaged.db")
    shutil.copy(backup + ".sha256", copy + ".sha256")
    for number in range(12):
        changed = bytearray(content)
        changed[choice.randrange(size)] ^= 1 << (number % 8)
        with open(copy, "wb") as file:
            file.write(changed if number % 3 else content[:choice.randrange(size)])
        for command in (("verify", copy), ("restore", copy, "--db", target)):
            code, _, _ = coffer(*command)
            if code != FAULT:
                fail(f"damage was not detected: {command[0]} exited with {code}")
        if os.path.exists(target) or os.path.exists(target + PARTIAL):
            fail("a damaged backup was restored")
        rejected += 1
    before = newest_entry(backup)
    db = sqlite3.connect(gateway.db)
    older = db.execute("SELECT journal - 1, at - 1 FROM journal ORDER BY journal LIMIT 1").fetchone()
    db.close()
    if older[0] >= before[0]:
        fail("the comparison of entries accepts an old copy")
    return rejected


def main():
    mounts = in_namespaces("mount", optional=True) and shutil.which("mkfs.ext4")
    rounds = int(os.environ.get("COFFER_BACKUP_ROUNDS", "2"))
    print(f"backup: {rounds} rounds", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        gateway, backup, acked = under_load(folder, rounds)
        rejected = control(folder, gateway, backup)
    with tempfile.TemporaryDirectory() as folder:
        whole, halves = killed(folder, rounds)
    on_full = "not tried"
    if mounts:
        skip_without_loop_device()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            on_full = f"{full_disk(folder)} payments answered"
    print(f"control: {rejected} damaged copies, each detected by verify and rejected by restore")
    print(f"count: {rounds} backups under load, {acked} payments; {rounds * 4} kills during a backup:"
          f" {whole} complete files, {halves} partial files, 0 incomplete final files; full disk: {on_full}")


main()
