#!/usr/bin/env bash
# Deliveries of what ships verify with the stock Standard Webhooks library, and with a consumer that was
# written from the contract alone.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${COFFER_RELEASE_BIN:?the release binary}
[ -x "$bin" ] || { printf 'no binary at %s: ./dev build release-static\n' "$bin"; exit 1; }
[ -d "$here/node_modules" ] || { printf 'the npm packages are missing: ./dev setup\n'; exit 1; }

exec node "$here/webhooks.mjs" "$bin"
