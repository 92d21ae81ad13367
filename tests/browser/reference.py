#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""The API reference of what ships, in a real browser: in a demo, operations are called from the page with the demo's
credentials, which are stored nowhere; a server that is no demo offers nothing of this. reference.mjs is the walk; here
are the demo and the other server. COFFER_SHOTS=folder keeps pictures."""

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
