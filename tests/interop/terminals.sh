#!/usr/bin/env bash
# The command line at the other end of pipes, full disks and pseudo-terminals: see terminals.py.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${COFFER_DEV_BIN:?the development binary}
[ -x "$bin" ] || { printf 'no binary at %s: ./dev build dev\n' "$bin"; exit 1; }
exec python3 -B "$here/terminals.py" "$bin"
