#!/usr/bin/env bash
# Operating a gateway by docs/operating.md, and every command that a sentence of a document names: run as
# they are written, on a gateway with payments in it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${COFFER_RELEASE_BIN:?the release binary}
[ -x "$bin" ] || { printf 'no binary at %s: ./dev build release-static\n' "$bin"; exit 1; }
command -v jq >/dev/null || { printf 'there is no jq: ./dev setup\n'; exit 77; }
exec python3 -B "$here/operating.py" "$bin"
