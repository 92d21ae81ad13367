#!/bin/sh
# Replication by another process (as Litestream works): it reads the file and its write-ahead log beside the
# server, with a read transaction that keeps the log from starting again, lets go now and then, and copies
# anew when the log has started again meanwhile. Whatever our checkpoints do, what it has is a file that
# verifies, with every payment that was answered before its last round. COFFER_REPLICA_SECONDS (6).
# Shares the machine.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/replication.py"
