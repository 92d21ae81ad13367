#!/bin/sh
# A full disk refuses every write with `storage-full` and a time to come back, goes on reading, says so on
# /healthz, and takes payments again within two seconds of space returning, in the same process. A file that
# may not grow (a limit of the process, not of the disk) is another matter: the write is uncertain, so the
# process ends with 70 and nothing is lost. COFFER_FULL_ROUNDS (1) says how often of each kind. Needs root
# and a loop device; the mounts are this process's own.
set -eu
if [ "$(id -u)" -ne 0 ] || ! unshare --mount true 2>/dev/null || ! command -v mkfs.ext4 >/dev/null; then
  echo "disk_full: needs root, mount namespaces and mkfs.ext4"
  exit 77
fi
exec unshare --mount python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/disk_full.py"
