#!/bin/sh
# A secret is rotated under load, again and again: each delivery is signed by the new secret, and as long as
# the grace period lasts by the old one too, never longer. COFFER_ROTATIONS (6) says how often.
set -eu
exec python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/webhook_rotation.py"
