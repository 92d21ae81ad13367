#!/bin/sh
# A commit whose synchronisation fails is neither done nor failed: nobody is told anything, the process
# ends with 70 at once, and the replay after the restart finds exactly one record of every payment.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/fsync_failure.py"
