#!/usr/bin/env bash
# The Stellar SDK, as it comes, logs in to what ships by SEP-10; and forged, late, replayed and
# otherwise wrong challenges get nowhere.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${COFFER_RELEASE_BIN:?the release binary}
[ -x "$bin" ] || { printf 'no binary at %s: ./dev build release-static\n' "$bin"; exit 1; }
[ -d "$here/node_modules/@stellar/stellar-sdk" ] || { printf 'the npm packages are missing: ./dev setup\n'; exit 1; }

exec node "$here/stellar.mjs" "$bin"
