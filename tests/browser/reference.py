#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: cost=40
"""The API reference of the release build in a real browser: in a demo, the page calls operations with the demo's
credentials, which are not stored; other servers do not offer this. reference.mjs is the browser part; this part starts
the demo and the other server. COFFER_SHOTS=folder keeps screenshots."""

import os
import sys
import tempfile

from harness.machine import ROOT, binary, chromium, node_packages
from harness.node import walk_beside_demo
from harness.server import Service, run_command


def main():
    program = binary()
    node_packages("browser")
    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, "production.db")
        run_command(program, database, "init")
        production = Service(program, database, settings={"COFFER_ADMIN_OFF": "true"}).start()
        facts = {"browser": chromium(), "production": f"http://{production.host}:{production.port}"}
        try:
            return walk_beside_demo(os.path.join(ROOT, "tests/browser/reference.mjs"), program, folder, facts)
        finally:
            production.stop()


sys.exit(main())
