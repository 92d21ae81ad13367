"""The stock linter for OpenAPI documents."""

import os
import subprocess

from harness.machine import ROOT

FOLDER = os.path.join(ROOT, "tests", "interop")


def complaints(document):
    """The linter's complaints about a document, or an empty text."""
    # Without this, the linter also warns about the version of node.
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    done = subprocess.run([os.path.join(FOLDER, "node_modules/.bin/redocly"), "lint", "--config",
                           os.path.join(FOLDER, "redocly.yaml"), "--format", "stylish", document],
                          env={**os.environ, **quiet}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout if done.returncode else ""
