#!/usr/bin/env bash
# Makes build/package/coffer_<version>_<arch>.deb and has lintian judge it. Prints its name.
#
# By debhelper: its snippets for units, users, debconf and conffiles are the ones that Debian itself
# tests through every upgrade, and lintian knows them. dpkg-deb alone would mean writing them again, and
# CPack knows none of them.
#
# COFFER_MAINTAINER: name <address> of who publishes it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=$PWD/build/package
stage=$out/deb
packaging/stage.sh "$stage"
version=$(cat "$stage/version")
SOURCE_DATE_EPOCH=$(cat "$stage/epoch")
export SOURCE_DATE_EPOCH

# The service's file names its database, so that commands run by hand find the same one.
sed -i 's|^#db = .*|db = "/var/lib/coffer/coffer.db"|' "$stage/coffer.toml"
grep -q '^db = ' "$stage/coffer.toml"

cp -r packaging/debian "$stage/debian"
if [ -n "${COFFER_MAINTAINER:-}" ]; then
  sed -i "s|^Maintainer: .*|Maintainer: $COFFER_MAINTAINER|" "$stage/debian/control"
fi
cp "$stage/copyright" "$stage/debian/copyright"
cat >"$stage/debian/changelog" <<TEXT
coffer ($version) unstable; urgency=medium

  * What changed is in /usr/share/doc/coffer/changelog.gz.

 -- $(sed -n 's/^Maintainer: //p' "$stage/debian/control")  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
TEXT
arch=${COFFER_PACKAGE_ARCH:-$(dpkg --print-architecture)}
(cd "$stage" && dpkg-buildpackage -d -us -uc -b -a"$arch") >"$out/deb.log" 2>&1 || {
  tail -n 30 "$out/deb.log" >&2
  exit 1
}
deb=$out/coffer_${version}_$arch.deb
lintian --fail-on error,warning "$deb" >&2
printf '%s\n' "$deb"
