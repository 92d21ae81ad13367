#!/bin/sh
# A 202 survives a power cut. The file lies on a disk image; the server is frozen, the image copied as
# it is (what was never synchronised is not in it), mounted, and judged. COFFER_CUT_ROUNDS (8) says how
# often, COFFER_CUT_PAYMENTS (0) how many payments must be acknowledged by the last cut, COFFER_SEED when.
# The control is the same with synchronous=NORMAL, and on a disk that only says it has synchronised. Needs
# root and a loop device; the mounts are this process's own.
# Shares the machine.
set -eu
if [ "$(id -u)" -ne 0 ] || ! unshare --mount true 2>/dev/null || ! command -v mkfs.ext4 >/dev/null; then
  echo "power_cut: needs root, mount namespaces and mkfs.ext4"
  exit 77
fi
exec unshare --mount python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/power_cut.py"
