#!/usr/bin/env bash
# The admin page of what ships, in a real browser: every screen and every action, by keyboard, in light
# and dark, wide and narrow, judged by axe; scripts in every free text stay text; who may not does not.
# COFFER_SHOTS=folder keeps a picture of every screen.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${COFFER_RELEASE_BIN:?the release binary}
[ -x "$bin" ] || { printf 'no binary at %s: ./dev build release-static\n' "$bin"; exit 1; }
[ -d "$here/node_modules" ] || { printf 'the npm packages are missing: ./dev setup\n'; exit 1; }
chromium=${COFFER_CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
[ -n "$chromium" ] || { printf 'no chromium here\n'; exit 77; }

exec node "$here/admin.mjs" "$bin" "$chromium"
