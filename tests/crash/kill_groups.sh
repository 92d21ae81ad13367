#!/bin/sh
# kill_loop with multi-transfers only: all legs of a group are there, or none.
set -eu
export COFFER_KILL_MIX=groups
: "${COFFER_KILL_ROUNDS:=6}"
export COFFER_KILL_ROUNDS
exec "${COFFER_SOURCE_DIR:-.}/tests/crash/kill_loop.sh"
