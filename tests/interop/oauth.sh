#!/usr/bin/env bash
# A stock OAuth 2 client library gets a token from what ships, by client_secret_post and by
# client_secret_basic, and reads wallets with it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${COFFER_RELEASE_BIN:?the release binary}
[ -x "$bin" ] || { printf 'no binary at %s: ./dev build release-static\n' "$bin"; exit 1; }
[ -d "$here/node_modules" ] || { printf 'the npm packages are missing: ./dev setup\n'; exit 1; }

exec node "$here/oauth.mjs" "$bin"
