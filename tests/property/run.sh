#!/usr/bin/env bash
# The property test of the ledger at full size and full speed: COFFER_SEEDS (2000) seeds starting at
# COFFER_SEED (1), COFFER_OPERATIONS (500) operations each, distributed over the cores.
# Builds without sanitizers in build/property (another folder: COFFER_PROPERTY_BUILD).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${COFFER_PROPERTY_BUILD:-build/property}
seeds=${COFFER_SEEDS:-2000} first=${COFFER_SEED:-1} operations=${COFFER_OPERATIONS:-500}
parts=$(nproc)
cmake --preset property -B "$build" --log-level=NOTICE >/dev/null
cmake --build "$build" --target property_tests >&2
[ ! -d /dev/shm ] || export TMPDIR=/dev/shm # where a sync takes no time
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

each=$(((seeds + parts - 1) / parts)) pids=()
for ((part = 0; part < parts; ++part)); do
  count=$((seeds - part * each < each ? seeds - part * each : each))
  [ "$count" -gt 0 ] || continue
  COFFER_SEED=$((first + part * each)) COFFER_SEEDS=$count COFFER_OPERATIONS=$operations \
    "$build/tests/property_tests" "property: the ledger matches*" >"$logs/ledger.$part" 2>&1 &
  pids+=($!)
done
began=$SECONDS failed=0
for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
took=$((SECONDS - began > 0 ? SECONDS - began : 1))
for part in "$logs"/ledger.*; do
  grep -q "^ledger: [0-9]* operations" "$part" || { cat "$part"; failed=1; }
done
[ "$failed" -eq 0 ] || exit 1
COFFER_OPERATIONS=$operations "$build/tests/property_tests" "property: the same seed*" >"$logs/same" 2>&1 || {
  cat "$logs/same"
  exit 1
}
"$build/tests/property_tests" "property control:*" >"$logs/control" 2>&1 || {
  cat "$logs/control"
  exit 1
}
awk -v seeds="$seeds" -v took="$took" '
  /^ledger: [0-9]+ operations/ { operations += $2 }
  /^ledger: [0-9]+ ended / { ended += $2 }
  END { printf "count: %d seeds, %d operations, %d final payments compared, %d operations a second\n",
               seeds, operations, ended, operations / took }' "$logs"/ledger.*
awk '/^control: wrong rule/ { if ($7 > most) most = $7; ++rules }
  END { printf "control: %d wrong rules detected, the last after %d operations; damage to the file detected at once\n",
               rules, most }' "$logs/control"
