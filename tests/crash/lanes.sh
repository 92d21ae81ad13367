#!/bin/sh
# Nothing that a stranger, a neighbour or a slow machine does stops payments: under each of 21 attacks the good
# clients of another tenant pay, settle and read as before (p99 at most three times that of the quiet phase, or
# 100 ms), /livez and /healthz respond within 250 ms, nothing is refused or lost, and memory grows by at most
# 64 MiB. COFFER_LANES_SECONDS (1.2) says how long each phase is; COFFER_LANES which attacks are made: names with
# commas between, `all`, or none for the shorter part of them; COFFER_LANES_FIGURES=1 only measures. The judge has
# to find fault with what was measured without lanes, and with a server that has one lane.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/lanes.py"
