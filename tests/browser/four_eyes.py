#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Four eyes on the admin page of the release build: one operator requests, a second one approves or rejects, and
neither can decide alone. four_eyes.mjs is the browser part; this part starts the demo."""

import os
import sys
import tempfile

from harness.machine import ROOT, binary, chromium, node_packages
from harness.node import walk_beside_demo


def main():
    program = binary()
    node_packages("browser")
    with tempfile.TemporaryDirectory() as folder:
        return walk_beside_demo(os.path.join(ROOT, "tests/browser/four_eyes.mjs"), program, folder, {"browser": chromium()},
                               {"COFFER_FOUR_EYES": "all"})


sys.exit(main())
