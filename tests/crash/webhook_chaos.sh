#!/bin/sh
# Receivers answer 500, hang, reset, send garbage, redirect to a trap, break off, never end, or are gone:
# every event reaches every healthy receiver, with the same id and bytes at each repetition and not a second
# late, and payments, events and what arrived agree line by line. COFFER_PAYMENTS (400) says how many,
# COFFER_HANGING_ENDPOINTS (6) how many endpoints hang beside them, COFFER_SEED what goes wrong where.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/webhook_chaos.py"
