#!/usr/bin/env bash
# The API reference at /docs draws every operation of the document that what ships carries.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${COFFER_RELEASE_BIN:?the release binary}
web=${COFFER_SOURCE_DIR:-$here/../..}/web
[ -x "$bin" ] || { printf 'no binary at %s: ./dev build release-static\n' "$bin"; exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$bin" openapi >"$scratch/openapi.json"
node "$here/docs.mjs" "$scratch/openapi.json" "$web/docs"
