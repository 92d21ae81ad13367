#!/usr/bin/env -S PYTHONPATH=tests python3 -B
"""Passkeys of operators on the admin page of the release build: correct and wrong software passkeys, also checked by
another library, and all steps on the page in a real browser with a virtual authenticator. passkeys.mjs is the browser
part; this part starts the demo."""

import os
import sys
import tempfile

from harness.machine import ROOT, binary, chromium, node_packages
from harness.node import walk_beside_demo


def main():
    program = binary()
    node_packages("browser", "@simplewebauthn/server", "playwright-core")
    with tempfile.TemporaryDirectory() as folder:
        return walk_beside_demo(os.path.join(ROOT, "tests/browser/passkeys.mjs"), program, folder, {"browser": chromium()})


sys.exit(main())
