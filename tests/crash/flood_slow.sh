#!/bin/sh
# Who is slow costs nobody anything: 800 connections that drip headers and bodies (and come back when
# they are closed) and 2,000 idle ones, while good clients pay and read with a p99 of 100 ms; each
# attacker is closed within 12 s. COFFER_SLOW_SECONDS (15) says how long. The same judge has to find
# fault with a server without deadlines, which is attacked at the same time.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/flood_slow.py"
