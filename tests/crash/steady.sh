#!/bin/sh
# Nothing creeps at half load: memory, descriptors, threads, the write-ahead log and latency stay where
# they are. COFFER_STEADY_SECONDS (20; a soak: 1200) says how long, COFFER_STEADY_RATE at how many
# payments a second (half of what the machine was just seen to do), COFFER_STEADY_LATENCY=0 that others
# use the machine too and latency is only shown. The judge is fed series that creep before it judges.
set -eu
if ! command -v wrk >/dev/null; then
  echo "steady: needs wrk"
  exit 77
fi
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/steady.py"
