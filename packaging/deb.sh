#!/usr/bin/env bash
# Makes build/package/coffer_<version>_<arch>.deb and has lintian judge it. Prints its name.
#
# By debhelper: its snippets for units, users, debconf and conffiles are the ones that Debian itself
# tests through every upgrade, and lintian knows them. dpkg-deb alone would mean writing them again, and
# CPack knows none of them.
#
# COFFER_MAINTAINER      name <address> of who publishes it
# COFFER_PACKAGE_OUT     another folder than build/package; what was packed there before goes
# COFFER_PACKAGE_ROUGH   hardly compressed and not judged, for tests that only install it
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=${COFFER_PACKAGE_OUT:-$PWD/build/package}
stage=$out/deb
rough=${COFFER_PACKAGE_ROUGH:-}
[ -z "$rough" ] || export DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1
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
# The README installs coffer_*.deb of this folder: no other version is to be there.
rm -f "$out"/coffer_*_"$arch".deb
(cd "$stage" && dpkg-buildpackage -d -us -uc -b -a"$arch") >"$out/deb.log" 2>&1 || {
  tail -n 30 "$out/deb.log" >&2
  exit 1
}
deb=$out/coffer_${version}_$arch.deb
[ -n "$rough" ] || lintian --fail-on error,warning "$deb" >&2
printf '%s\n' "$deb"
