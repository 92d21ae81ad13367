#!/bin/sh
# Webhooks are no way into the network that coffer stands in: names that answer a public address first and a
# private one later, or both at once, and every way to write an address reach nothing but what is public. Runs
# in a network and a mount namespace of its own, with its own name server.
# Shares the machine.
set -eu
if ! unshare -n -m true 2>/dev/null; then
  echo "webhook_targets: no namespaces here"
  exit 77
fi
exec unshare -n -m python3 -B "${COFFER_SOURCE_DIR:-.}/tests/crash/webhook_targets.py"
