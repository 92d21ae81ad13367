#!/bin/sh
# No secret that was ever issued or sent is found in the database, the write-ahead log, a backup or the
# log, neither as it is nor decoded, in hex or inside base64; files are 0600 and folders 0700 under any
# umask; exactly one SQLite is in the binary, and a mended one. Each secret has to be found once planted.
# Shares the machine.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/leaked_secrets.py"
