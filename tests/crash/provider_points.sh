#!/bin/sh
# coffer dies exactly before, between and after a provider's call and what it answered: each cash-out is
# still carried out once.
# Shares the machine.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/provider_points.py"
