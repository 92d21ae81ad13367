#!/bin/sh
# `coffer verify FILE` reads files of other processes and changes nothing. It begins on a closed file, a server
# opens the file meanwhile, and every payment that the server answers survives a kill. The log that a killed
# server left counts in the verdict and stays; a file on a read-only medium is judged; no reader leaves a file
# behind. The part with the medium needs root.
# Shares the machine.
set -eu
if [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then
  exec unshare --mount python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/foreign_reader.py" --mount
fi
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/foreign_reader.py"
