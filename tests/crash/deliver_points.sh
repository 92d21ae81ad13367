#!/bin/sh
# The process is killed around a delivery: before it is queued, when it was queued and not sent, when it was
# sent and answered and not recorded. After the restart every receiver has every event, and what came twice
# came with the same id and the same bytes.
# Shares the machine.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/deliver_points.py"
