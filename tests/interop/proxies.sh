#!/usr/bin/env bash
# coffer behind nginx and behind Caddy, each Debian's own, with the configuration files that are shipped and
# what docs/tls.md says of them.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${COFFER_RELEASE_BIN:?the release binary}
[ -x "$bin" ] || { printf 'no binary at %s: ./dev build release-static\n' "$bin"; exit 1; }

cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/coffer
export PATH=$PATH:/usr/sbin:$cache/nginx:$cache/caddy
for program in nginx caddy; do
  case $program in nginx) tell=-v ;; *) tell=version ;; esac
  "$program" "$tell" >/dev/null 2>&1 && continue
  printf '%s is not here and could not be had: ./dev setup\n' "$program"
  exit 77
done
exec python3 -B "$here/proxies.py" "$bin"
