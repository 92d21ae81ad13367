#!/usr/bin/env bash
# The consumers of docs/webhooks.md are programs, so they are run: each takes the deliveries of what ships
# and is then attacked. A language whose runtime is not here is named and left out.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${COFFER_RELEASE_BIN:?the release binary}
docs=${COFFER_SOURCE_DIR:-$here/../..}/docs
[ -x "$bin" ] || { printf 'no binary at %s: ./dev build release-static\n' "$bin"; exit 1; }

exec python3 -B "$here/webhook_consumers.py" "$bin" "$docs"
