#!/usr/bin/env bash
# An installation's whole life in a clean Debian root: see lifecycle.py. The packages are made from the
# release binary, and from one whose schema is a step further.
set -euo pipefail
cd "${COFFER_SOURCE_DIR:?}"
old_bin=${COFFER_RELEASE_BIN:?} next_bin=${COFFER_NEXT_BIN:-}
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "not root"
for tool in debootstrap dh lintian unshare ip systemd-analyze; do
  command -v "$tool" >/dev/null || skip "there is no $tool"
done
[ -x "$next_bin" ] || skip "there is no coffer_next; ./dev test builds it"

arch=$(dpkg --print-architecture)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Both packages and the root at once.
python3 -B tests/package/roots.py bookworm &
root=$!
# As the README makes it; what is packed is built already.
mkdir "$scratch/bin"
printf '#!/bin/sh\n' >"$scratch/bin/cmake"
chmod +x "$scratch/bin/cmake"
COFFER_PACKAGE_OUT=$scratch COFFER_PACKAGE_BIN=$next_bin COFFER_PACKAGE_VERSION=99.0.0 \
  COFFER_PACKAGE_ROUGH=yes packaging/deb.sh >/dev/null &
next=$!
PATH=$scratch/bin:$PATH COFFER_PACKAGE_BIN=$old_bin ./dev package
wait "$next"
wait "$root"
python3 -B tests/package/lifecycle.py build/package/coffer_*_"$arch".deb "$scratch"/coffer_99.0.0_"$arch".deb
