#!/bin/sh
# Events go over TLS only to who proves its name: a private authority is believed with --ca-bundle and not
# without, and a certificate that is expired, self-signed, for another name or by a stranger gets nothing.
# Production takes no http. Runs in a network and a mount namespace of its own.
# Shares the machine.
set -eu
if ! unshare -n -m true 2>/dev/null; then
  echo "webhook_https: no namespaces here"
  exit 77
fi
exec unshare -n -m python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/webhook_https.py"
