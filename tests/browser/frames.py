#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""A list of 1,000 rows on the admin page, scrolled and filtered. Judged is the work, against the same rows as a plain
table in the same browser; frames are printed only, because they depend on the machine. frames.mjs is the walk."""

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
        return walk_beside_demo(os.path.join(ROOT, "tests/browser/frames.mjs"), program, folder, {"browser": browser})


sys.exit(main())
