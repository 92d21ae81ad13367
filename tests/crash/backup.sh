#!/bin/sh
# Backups under load: the copy verifies, holds every payment that was answered before it was begun, and its
# last entry is no older than that; a kill in the middle leaves no half file under the final name; a disk
# that is full stops the backup and not the payments; what is damaged is not restored.
# COFFER_BACKUP_ROUNDS (2) says how often. The part with the full disk needs root and a loop device.
# Shares the machine.
set -eu
if [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null && command -v mkfs.ext4 >/dev/null; then
  exec unshare --mount python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/backup.py" --disk
fi
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/backup.py"
