#!/usr/bin/env bash
# A newcomer with the README and nothing else: from the demo to the first settled payment, the admin page,
# events on their own machine, and a gateway by hand. Every command is taken from the README.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${COFFER_RELEASE_BIN:?the release binary}
[ -x "$bin" ] || { printf 'no binary at %s: ./dev build release-static\n' "$bin"; exit 1; }
exec python3 -B "$here/readme.py" "$bin"
