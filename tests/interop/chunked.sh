#!/usr/bin/env bash
# Clients that do not know the length of a body when they begin to send it pay like any other: Node's http
# module, and curl.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${COFFER_RELEASE_BIN:?the release binary}
[ -x "$bin" ] || { printf 'no binary at %s: ./dev build release-static\n' "$bin"; exit 1; }

exec node "$here/chunked.mjs" "$bin"
