#!/bin/sh
# kill -9 during deliveries under load loses no event; what comes twice has the same id and the same bytes,
# and the sequence is complete. COFFER_KILL_ROUNDS (8) says how often, COFFER_SEED when.
# Shares the machine.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/webhook_kills.py"
