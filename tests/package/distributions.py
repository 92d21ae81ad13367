#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""The binary on other distributions: roots of an older and a newer release, with their own libraries, name services
and certificates.

    tests/package/distributions.py [RELEASE ...]

The roots take minutes to create: without COFFER_PACKAGE_ROOTS=make, the test is skipped if they do not exist.
"""

import json
import os
import subprocess
import sys

import roots
from harness.machine import binary, skip
from harness.report import check
from harness.server import Elsewhere
from harness.tenant import Tenant


PORT = 8080


def try_on(release, folder):
    root = roots.Root(release, folder)
    coffer = root.bring(binary())
    name = (root.path / "etc/debian_version").read_text().strip()
    done = root.run(coffer, "version", "--json")
    check(f"Debian {name}: version", done.returncode == 0, done.stderr)
    server = subprocess.Popen(["chroot", root.path, coffer, "demo", "--json", "--port", str(PORT), "--db",
                               "/root/demo.db"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        facts = json.loads(server.stdout.readline())
        own = [wallet["id"] for wallet in facts["wallets"] if wallet["name"] in ("Treasury", "Operations")]
        tenant = Tenant(Elsewhere("127.0.0.1", PORT, None), facts, own)
        tenant.pay("first", "12.50")
        tenant.wait_settled("first")
        check(f"Debian {name}: a payment settles", True)
        done = root.run(coffer, "verify", "--db", "/root/demo.db")
        check(f"Debian {name}: the file verifies", done.returncode == 0, done.stderr)
    finally:
        server.terminate()
        server.communicate(timeout=30)
    check(f"Debian {name}: the server exits with 0", server.returncode == 0, server.returncode)


def main(*releases):
    releases = releases or ("bullseye", "trixie")
    if os.environ.get("COFFER_PACKAGE_ROOTS") != "make" and not all(map(roots.kept, releases)):
        skip("the roots do not exist; COFFER_PACKAGE_ROOTS=make creates them")
    roots.alone(*releases)
    for release in releases:
        with roots.memory() as folder:
            try_on(release, folder)


main(*sys.argv[1:])
