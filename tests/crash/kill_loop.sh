#!/bin/sh
# Process death at any instant loses nothing and doubles nothing: eight clients pay and retry while the
# server is killed at random moments. COFFER_KILL_ROUNDS (12) says how often, COFFER_SEED when.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/kill_loop.py"
