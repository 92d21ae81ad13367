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
[ -x "$next_bin" ] || skip "there is no coffer_next; ./dev build release-static makes it"

COFFER_PACKAGE_BIN=$old_bin packaging/deb.sh
COFFER_PACKAGE_BIN=$next_bin COFFER_PACKAGE_VERSION=99.0.0 packaging/deb.sh
version=$("$old_bin" version --json | sed -n 's/.*"coffer":"\([^"]*\)".*/\1/p')
arch=$(dpkg --print-architecture)
exec python3 -B tests/package/lifecycle.py "build/package/coffer_${version}_$arch.deb" \
  "build/package/coffer_99.0.0_$arch.deb"
