#!/bin/sh
# Cash-outs through a provider that is killed, hangs, lies and repeats itself, while coffer is killed too:
# in the end each is succeeded, failed or refunded exactly once, and the provider's own list agrees line
# by line. COFFER_CASHOUTS (60) says how many, COFFER_SEED which faults.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/provider_chaos.py"
