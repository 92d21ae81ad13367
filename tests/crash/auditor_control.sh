#!/bin/sh
# The judge of the other crash tests on trial: it must pass a sound file and fail every damaged copy.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/auditor_control.py"
