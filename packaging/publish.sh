#!/usr/bin/env bash
# Builds all artefacts of a release in build/publish, checks them with an isolated apt, and copies them to the web
# server:
#
#   coffer-<version>-linux-<arch>.tar.gz, its software bill of materials, coffer-<version>-linux-<arch>.oci.tar
#   (container image), coffer-<version>.tar.gz (sources), coffer.rb (formula), the archives of the client libraries
#   (packaging/clients.py), SHA256SUMS and its signature, and apt/ (repository with the Debian packages)
#
#   packaging/publish.sh --dry-run     everything except the copy
#   packaging/publish.sh               also the copy; HEAD must be the tag v<version>, without local changes
#
# COFFER_RELEASE_KEY  signs SHA256SUMS (packaging/sign.sh); required
# COFFER_APT_KEY      signs the repository (packaging/apt.sh); required
# COFFER_PUBLISH_TO   rsync destination, such as www@example.com:/srv/coffer; required without --dry-run. Its folder
#                     apt/ keeps the packages of earlier versions.
# COFFER_PUBLISH_URL  public address of that folder, for the formula; required without --dry-run
# COFFER_PUBLISH_OUT  a folder other than build/publish
# The settings of packaging/stage.sh and packaging/deb.sh apply as well.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
say() { printf '>> %s\n' "$*" >&2; }
die() { printf 'publish: %s\n' "$*" >&2; exit 1; }

case ${1:-} in
  --dry-run) dry=yes ;;
  '') dry= ;;
  *) die "the only argument is --dry-run" ;;
esac
: "${COFFER_RELEASE_KEY:?set COFFER_RELEASE_KEY to the key that signs the checksums (packaging/sign.sh)}"
: "${COFFER_APT_KEY:?set COFFER_APT_KEY to the key that signs the apt repository (packaging/apt.sh)}"
url=${COFFER_PUBLISH_URL:-https://coffer.example}
tool=${COFFER_PACKAGE_TOOL:-${COFFER_PACKAGE_BIN:-build/release-static/coffer}}
read -r version reviewed < <("$tool" version --json |
  python3 -c 'import json, sys; v = json.load(sys.stdin); print(v["coffer"], v["countryTables"])')
tables_days_max=180
out=${COFFER_PUBLISH_OUT:-$PWD/build/publish}

# All checks run before the first file is copied.
tables_days=$((($(date +%s) - $(date -d "$reviewed" +%s)) / 86400))
if [ "$tables_days" -gt "$tables_days_max" ]; then
  old="the country and currency tables were reviewed $tables_days days ago. Compare cmake/iso_overlay.json with the \
present lists of ISO 4217 and ISO 3166-1, and set its date"
  if [ -z "$dry" ]; then die "$old"; else say "warning: $old"; fi
fi
if [ -z "$dry" ]; then
  : "${COFFER_PUBLISH_TO:?set COFFER_PUBLISH_TO to the destination of rsync}"
  : "${COFFER_PUBLISH_URL:?set COFFER_PUBLISH_URL to the public address of the folder}"
  [ -z "$(git status --porcelain)" ] || die "there are local changes; commit them"
  [ "$(git describe --exact-match --tags 2>/dev/null)" = "v$version" ] || die "HEAD is not the tag v$version"
  grep -q "^## \[$version\]" CHANGELOG.md || die "CHANGELOG.md has no section [$version]"
fi

rm -rf "$out"
mkdir -p "$out"
if [ -z "$dry" ]; then
  say "earlier packages of the repository"
  rsync --archive --ignore-missing-args "$COFFER_PUBLISH_TO/apt" "$out/"
fi
say "release archive"
env -u COFFER_RELEASE_KEY packaging/release.sh >"$out/made" 2>"$out/log" || { cat "$out/log" >&2; exit 1; }
grep -v 'SHA256SUMS$' "$out/made" | while read -r file; do cp "$file" "$out/"; done
say "container image"
archive=$(cd "$out" && echo coffer-"$version"-linux-*.tar.gz)
packaging/image.sh "$out/image"
python3 -B packaging/oci.py "$out/image" "${COFFER_PACKAGE_ARCH:-$(dpkg --print-architecture)}" "$version" \
  "${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" "$out/${archive%.tar.gz}.oci.tar"
rm -r "$out/image"
say "Debian package"
packaging/deb.sh >"$out/made"
debs=$(<"$out/made")
rm -f "$out/made" "$out/log"
# shellcheck disable=SC2086 # one name per line, without spaces
packaging/apt.sh "$out/apt" $debs
say "sources and formula"
git archive --format=tar --prefix="coffer-$version/" HEAD | gzip --no-name -9 >"$out/coffer-$version.tar.gz"
sum=$(sha256sum "$out/coffer-$version.tar.gz" | cut -d ' ' -f 1)
sed -e "s|^  url .*|  url \"$url/coffer-$version.tar.gz\"|" -e "s|^  sha256 .*|  sha256 \"$sum\"|" \
  -e "s|^  homepage .*|  homepage \"$url\"|" packaging/homebrew/coffer.rb >"$out/coffer.rb"
say "checksums"
(
  cd "$out"
  shopt -s nullglob # only a binary that was optimised with a profile has one
  LC_ALL=C sha256sum ./*.tar.gz ./*.profile.tar.xz ./*.oci.tar ./*.json ./*.tgz ./*.whl ./*.zip coffer.rb |
    sed 's|\./||' >SHA256SUMS
)
packaging/sign.sh sign "$COFFER_RELEASE_KEY" "$out/SHA256SUMS"

say "check with apt"
packaging/apt_check.sh "$out/apt" "$version"
openssl pkey -in "$COFFER_RELEASE_KEY" -pubout -out "$out/coffer-release.pub.pem"
packaging/sign.sh check "$out/coffer-release.pub.pem" "$out/SHA256SUMS" >/dev/null

(cd "$out" && find . -type f | LC_ALL=C sort)
if [ -n "$dry" ]; then
  say "dry run: nothing was published"
  exit 0
fi
say "publish to $COFFER_PUBLISH_TO"
# Copy the packages first and the lists last, so that a list never contains a package that does not exist yet.
rsync --archive --exclude=dists "$out/" "$COFFER_PUBLISH_TO/"
rsync --archive --delete-after "$out/apt/dists/" "$COFFER_PUBLISH_TO/apt/dists/"
