#!/bin/sh
# Process death at any instant loses nothing and doubles nothing: eight clients pay and retry while the
# server is killed at random moments, now and then once more while it comes up, and settles late at random.
# COFFER_KILL_ROUNDS (12) says how often, COFFER_KILL_MIX what is paid (`payments`: of every kind; `groups`:
# only multi-transfers, of which no part may ever stand alone), COFFER_SEED when.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/kill_loop.py"
