#!/usr/bin/env bash
# What `coffer completion` prints, in real shells: a shell at a terminal, a Tab, and what it offers.
# bash always; zsh and fish where they are installed.
set -euo pipefail

coffer=${COFFER_RELEASE_BIN:-}
[ -x "$coffer" ] || coffer=${COFFER_DEV_BIN:?the development binary}
exec python3 "$(dirname "$0")/completion.py" "$coffer"
