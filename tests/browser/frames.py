#!/usr/bin/env -S PYTHONPATH=tests python3 -B
# ctest: cost=50
"""A list of 1,000 rows on the admin page, scrolled and filtered. Compares the browser's work with that for the same
rows in a plain table. Frame times are only printed, because they depend on the machine. frames.mjs is the browser
part."""

import os
import sys
import tempfile

from harness.machine import ROOT, binary, chromium, node_packages
from harness.node import walk_beside_demo


def main():
    program = binary()
    node_packages("browser")
    with tempfile.TemporaryDirectory() as folder:
        return walk_beside_demo(os.path.join(ROOT, "tests/browser/frames.mjs"), program, folder, {"browser": chromium()})


sys.exit(main())
