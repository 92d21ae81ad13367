#!/bin/sh
# Bodies that nest, widen or never end, numbers beyond all measure, texts that are none, and headers and
# queries of that kind: each gets a clear 4xx that names the field where there is one, nothing is stored,
# and memory grows by at most 20 MiB. At what ships and, where it was built, under the address sanitizer.
# COFFER_BOMB_ROUNDS (10) says how often. Servers that are wrong must not pass.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/flood_bombs.py"
