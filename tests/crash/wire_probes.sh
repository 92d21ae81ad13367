#!/bin/sh
# Bytes that smuggle a request past one reader, that another protocol sends, or that never end: answered
# once with 4xx and closed, never a hang, never a second answer; good requests in between work. At what
# ships and, where it was built, under the address sanitizer. Servers that are wrong must not pass.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/wire_probes.py"
