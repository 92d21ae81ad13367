#!/usr/bin/env bash
# Clients that stock generators make from the document compile under the strictest TypeScript, need no
# narrowing of a success, and pay against a running demo.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${COFFER_DEV_BIN:?the binary of the dev build}
[ -x "$bin" ] || { printf 'no binary at %s: ./dev build dev\n' "$bin"; exit 1; }
for package in openapi-typescript openapi-fetch @hey-api/openapi-ts typescript; do
  [ -d "$here/node_modules/$package" ] || { printf 'the npm packages are missing: ./dev setup\n'; exit 1; }
done

exec node "$here/openapi_clients.mjs" "$bin"
