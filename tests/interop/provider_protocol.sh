#!/usr/bin/env bash
# The provider protocol as an outsider meets it: its document is valid for a stock linter, its examples
# and its signatures are right, and a simulated provider in a process of its own does what it says,
# also after kill -9.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${COFFER_RELEASE_BIN:?the release binary}
docs=${COFFER_SOURCE_DIR:-$here/../..}/docs
[ -x "$bin" ] || { printf 'no binary at %s: ./dev build release-static\n' "$bin"; exit 1; }
[ -d "$here/node_modules" ] || { printf 'the npm packages are missing: ./dev setup\n'; exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
lint() {
  "$here/node_modules/.bin/redocly" lint --config "$here/redocly.yaml" --format stylish "$1" \
    >"$scratch/lint.txt" 2>&1
}
lint "$docs/provider-openapi.json" || { cat "$scratch/lint.txt"; exit 1; }
printf 'the linter has no complaint\n'

node "$here/provider_protocol.mjs" "$bin" "$docs" "$scratch"
