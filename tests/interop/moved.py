#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""A database file that is moved or deleted while its server runs: nothing is stored meanwhile, everything continues
when the same file is back, and a deleted file is recovered by the steps of docs/operating.md."""

import os
import subprocess
import tempfile

import documents
from harness.calls import fetch
from harness.machine import binary
from harness.report import check, wait_for
from harness.server import Demo
from harness.tenant import Tenant

WITHIN_S = 60.0  # limit for every wait, on a machine under load


def pay(tenant, name):
    """The status of the response."""
    return tenant.call("POST", *tenant.payment(name))[0]


def knows(demo, name):
    return Tenant.of_demo(demo).status_of(name) is not None


def health(demo):
    return fetch(demo.facts["baseUrl"] + "/healthz").status


def rejects(demo, tenant, name, what):
    status = pay(tenant, name)
    check(f"{what}: a payment is rejected", status == 503, status)
    check(f"{what}: the server is not ready", health(demo) == 503)


def moved(demo):
    tenant = Tenant.of_demo(demo)
    check("a payment is accepted", pay(tenant, "before") == 202)
    for part in ("", "-wal"):
        os.rename(demo.db + part, demo.db + part + ".away")
        rejects(demo, tenant, "again", f"moved {part or 'database'}")
        os.symlink(demo.db + part + ".away", demo.db + part)
        rejects(demo, tenant, "again", f"linked {part or 'database'}")
        os.remove(demo.db + part)
        os.rename(demo.db + part + ".away", demo.db + part)
        check("with the file back, the server is ready", health(demo) == 200)
    check("it accepts the payment", pay(tenant, "again") == 202)


def shell(line):
    return subprocess.run(line, shell=True, check=True, capture_output=True, text=True).stdout


def deleted(demo, folder):
    """Runs the block of the document line by line."""
    mine = documents.Mine("interop/moved")
    show, copy = mine.take("docs/operating.md", "ls -l /proc/PID/fd").splitlines()
    mine.end()
    wait_for("the payments are settled", lambda: knows(demo, "again"), WITHIN_S)
    for part in ("", "-wal"):
        os.remove(demo.db + part)
    check("deleted: the server is not ready", health(demo) == 503)
    listed = shell(show.replace("PID", str(demo.server_pid()))).splitlines()
    saved = os.path.join(folder, "saved")
    os.mkdir(saved)
    for part in ("", "-wal"):
        number = next(line.split()[8] for line in listed if line.endswith(f"{demo.db}{part} (deleted)"))
        line = copy.replace("PID", str(demo.server_pid())).replace("NUMBER", number)
        shell(line.replace("/srv/saved/coffer.db", os.path.join(saved, "coffer.db") + part))
    check("the server stops", demo.stop(60) == 0)
    verified = subprocess.run([demo.binary, "verify", os.path.join(saved, "coffer.db")], check=False)
    check("the copy verifies", verified.returncode == 0)
    for part in ("", "-wal"):
        os.rename(os.path.join(saved, "coffer.db") + part, demo.db + part)
    demo.start()
    check("the copy has the payments", knows(demo, "before") and knows(demo, "again"))


def main():
    with tempfile.TemporaryDirectory() as folder:
        demo = Demo(binary(), os.path.realpath(folder)).start()
        moved(demo)
        deleted(demo, os.path.realpath(folder))
        check("the demo exits with status 0", demo.stop(60) == 0)


main()
