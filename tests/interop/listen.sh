#!/usr/bin/env bash
# coffer listen beside a running demo, with what a developer has: a consumer that uses the stock Standard
# Webhooks library, trigger, events, webhook verify, and Ctrl-C.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${COFFER_RELEASE_BIN:?the release binary}
[ -x "$bin" ] || { printf 'no binary at %s: ./dev build release-static\n' "$bin"; exit 1; }
[ -d "$here/node_modules" ] || { printf 'the npm packages are missing: ./dev setup\n'; exit 77; }

exec node "$here/listen.mjs" "$bin"
