#!/usr/bin/env bash
# Builds build/package/coffer_<version>_<arch>.deb, checks it with lintian and prints its name.
#
# The script uses debhelper because Debian tests debhelper's snippets for units, users, debconf and conffiles in every
# upgrade, and lintian recognises them. dpkg-deb and CPack have no such snippets.
#
# COFFER_MAINTAINER      publisher, as name <address>
# COFFER_PACKAGE_OUT     a folder other than build/package; previous packages in it are removed
# COFFER_PACKAGE_ROUGH   fast compression and no lintian, for tests that only install the package
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

# The settings of the service contain its database, so that manual commands use the same one.
sed -i 's|^#db = .*|db = "/var/lib/coffer/coffer.db"|' "$stage/coffer.toml"
grep -q '^db = ' "$stage/coffer.toml"

cp -r packaging/debian "$stage/debian"
if [ -n "${COFFER_MAINTAINER:-}" ]; then
  sed -i "s|^Maintainer: .*|Maintainer: $COFFER_MAINTAINER|" "$stage/debian/control"
fi
cp "$stage/copyright" "$stage/debian/copyright"
cat >"$stage/debian/changelog" <<TEXT
coffer ($version) unstable; urgency=medium

  * See /usr/share/doc/coffer/changelog.gz for the changes.

 -- $(sed -n 's/^Maintainer: //p' "$stage/debian/control")  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
TEXT
arch=${COFFER_PACKAGE_ARCH:-$(dpkg --print-architecture)}
# The README installs coffer_*.deb of this folder, so it must contain no other version.
rm -f "$out"/coffer_*_"$arch".deb
(cd "$stage" && dpkg-buildpackage -d -us -uc -b -a"$arch") >"$out/deb.log" 2>&1 || {
  tail -n 30 "$out/deb.log" >&2
  exit 1
}
deb=$out/coffer_${version}_$arch.deb
[ -n "$rough" ] || lintian --fail-on error,warning "$deb" >&2
printf '%s\n' "$deb"
