#!/usr/bin/env bash
# What Prometheus reads of the binary that ships: promtool judges the page, the alert rules and their own
# tests; every metric that a rule or the dashboard asks for is on the page; who may read it, over the wire;
# the log file is rotated and reopened without a line lost.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${COFFER_RELEASE_BIN:?the release binary}
[ -x "$bin" ] || { printf 'no binary at %s: ./dev build release-static\n' "$bin"; exit 1; }

promtool=$(command -v promtool || true)
[ -n "$promtool" ] || promtool=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/coffer/promtool/promtool
if ! [ -x "$promtool" ]; then
  printf 'promtool is not here and could not be had: ./dev setup\n'
  exit 77
fi

COFFER_PROMTOOL=$promtool PYTHONPATH=$here/../crash exec python3 -B "$here/metrics.py"
