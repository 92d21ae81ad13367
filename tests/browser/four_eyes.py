#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Four eyes on the admin page of what ships: one operator asks, a second one approves or rejects, and neither can
decide alone. four_eyes.mjs is the walk; here is the demo."""

import os
import shutil
import sys
import tempfile

from harness.machine import ROOT, binary, node_packages, skip
from harness.node import walk_beside_demo

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main():
    program = binary()
    node_packages("browser")
    browser = os.environ.get("COFFER_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        skip("no chromium")
    with tempfile.TemporaryDirectory() as folder:
        return walk_beside_demo(os.path.join(ROOT, "tests/browser/four_eyes.mjs"), program, folder, {"browser": browser},
                               {"COFFER_FOUR_EYES": "all"})


sys.exit(main())
