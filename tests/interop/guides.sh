#!/usr/bin/env bash
# The guides are run as they are written: every command against a fresh demo of what ships, every output
# compared with what the page says.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${COFFER_RELEASE_BIN:?the release binary}
[ -x "$bin" ] || { printf 'no binary at %s: ./dev build release-static\n' "$bin"; exit 1; }

exec python3 -B "$here/guides.py" "$bin"
