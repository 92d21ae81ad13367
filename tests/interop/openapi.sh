#!/usr/bin/env bash
# The document that coffer serves is true: valid OpenAPI 3.1 for a stock linter, and every exchange of
# the api tests is what it says, both ways. Reads what a whole run of api_tests wrote beside its binary.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tests=$(dirname "${COFFER_DEV_BIN:?the binary of the dev build}")/tests
log=$tests/api_tests_exchanges.ndjson

# ctest runs api_tests first; by hand, an older log than the binary would be judged.
if [ ! -f "$log" ] || [ "$tests/api_tests" -nt "$log" ]; then
  "$tests/api_tests" >/dev/null || { printf 'api_tests failed: nothing to judge\n'; exit 1; }
fi
[ -d "$here/node_modules" ] || { printf 'the npm packages are missing: ./dev setup\n'; exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

node "$here/openapi.mjs" "$log" "$scratch/openapi.json"

# The linter says how old node is, and what it thinks of this.
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
lint() {
  "$here/node_modules/.bin/redocly" lint --config "$here/redocly.yaml" --format stylish "$1" \
    >"$scratch/lint.txt" 2>&1
}
lint "$scratch/openapi.json" || { cat "$scratch/lint.txt"; exit 1; }
# The linter itself must be able to fail.
sed 's/"operationId": "listWallets"/"operationId": "getWallet"/' "$scratch/openapi.json" \
  >"$scratch/broken.json"
if lint "$scratch/broken.json"; then
  printf 'the linter overlooks an operationId that is there twice\n'
  exit 1
fi
printf 'the linter has no complaint\n'
