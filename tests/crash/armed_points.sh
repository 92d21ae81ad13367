#!/bin/sh
# The process is killed at the points where it matters most: before a commit, between commit and answer,
# before and after a settlement. What was acknowledged is there once and settles after the restart.
# Shares the machine.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/armed_points.py"
