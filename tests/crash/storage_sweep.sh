#!/bin/sh
# A fixed run of payments, again and again: each time another write, synchronisation, truncation, open or
# accept of the server fails, once or from then on. After a failed write or synchronisation the process is
# gone within a second and nobody was told "failed"; without space everybody is told to try again and the
# process goes on; and always a replay after the restart finds exactly one record of every payment.
# COFFER_SWEEP=full takes every call, one after the other, until none is left; otherwise a sample of them,
# which COFFER_SEED chooses. COFFER_SWEEP_CASES names the cases, COFFER_SWEEP_JOBS (2) how many at a time.
# Shares the machine.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/storage_sweep.py"
