#!/bin/sh
# The judges of the other crash tests on trial, the auditor and `coffer verify`: both must pass a sound file
# and fail every damaged copy, each for its reason.
# Shares the machine.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/auditor_control.py"
