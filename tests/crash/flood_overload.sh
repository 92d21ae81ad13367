#!/bin/sh
# Overload is shed, not suffered: 400 clients pay in a closed loop, as it comes and with little room for
# them. Only 202, 429 and 503; each refusal says Retry-After; the accepted have a p99 of 500 ms; full
# speed again 2 s after; nothing acknowledged is lost. COFFER_OVERLOAD_SECONDS (3) says how long. Servers
# that shed badly must not pass.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/flood_overload.py"
