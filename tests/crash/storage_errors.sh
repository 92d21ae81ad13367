#!/bin/sh
# The disk fails a commit. Refused synchronisation or write: the commit is neither done nor failed, so
# nobody is told anything, the process ends with 70 at once, and the replay after the restart finds
# exactly one record of every payment. No space: the commit is certainly not there, clients are told to
# try again, and the same process goes on.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/storage_errors.py"
