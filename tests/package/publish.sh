#!/usr/bin/env bash
# ctest: cost=45
# A dry run of `./dev publish`: all artefacts, signed, and an apt repository that apt accepts. apt must reject a changed
# repository, and one signed with another key.
set -euo pipefail
cd "${COFFER_SOURCE_DIR:-$(dirname "${BASH_SOURCE[0]}")/../..}"
bin=${COFFER_RELEASE_BIN:-build/release-static/coffer}
for program in gpg dpkg-scanpackages dpkg-buildpackage dh apt-get; do
  command -v "$program" >/dev/null || { echo "skipped: $program is not installed"; exit 77; }
done
scratch=$(mktemp -d)
trap 'GNUPGHOME=$scratch/gnupg gpgconf --kill all >/dev/null 2>&1 || true; rm -rf "$scratch"' EXIT
failures=0
check() { # <what> <command ...>
  if "${@:2}" >"$scratch/said" 2>&1; then
    printf 'ok       %s\n' "$1"
  else
    printf 'FAILED   %s\n' "$1"
    sed 's/^/         | /' "$scratch/said" | tail -n 8
    failures=$((failures + 1))
  fi
}
rejected() { ! "$@"; }
is_listed() { grep -qxF "./$1" "$scratch/files"; }

apt_key() { # <file>
  mkdir -p -m 700 "$scratch/gnupg"
  GNUPGHOME=$scratch/gnupg gpg --batch --quiet --passphrase '' --quick-generate-key "$1 <$1@example.com>" ed25519 sign
  GNUPGHOME=$scratch/gnupg gpg --batch --armor --export-secret-keys "$1@example.com" >"$scratch/$1.asc"
}
apt_key ours
apt_key theirs
packaging/sign.sh key "$scratch/release.key" 2>/dev/null

out=$scratch/publish
export COFFER_PACKAGE_BIN=$bin COFFER_PACKAGE_ROUGH=yes COFFER_PACKAGE_OUT=$scratch/debs
publish() {
  COFFER_PUBLISH_OUT=$out COFFER_RELEASE_KEY=$scratch/release.key COFFER_APT_KEY=$scratch/ours.asc \
    COFFER_PUBLISH_URL=https://example.com/coffer packaging/publish.sh "$@"
}
mkdir -p "$scratch/debs"
check "without keys, nothing is built" rejected packaging/publish.sh --dry-run
check "without a destination, nothing is published" rejected publish
cat >"$scratch/stale" <<'END'
#!/bin/sh
echo '{"coffer": "0.0.0", "countryTables": "2020-01-01"}'
END
chmod +x "$scratch/stale"
stale() { COFFER_PACKAGE_TOOL=$scratch/stale publish >"$scratch/stale.said" 2>&1 || grep -q "tables were reviewed" "$scratch/stale.said"; }
check "country tables with an old review are not published" stale
check "nor is anything made" test ! -e "$out"
check "a dry run succeeds" publish --dry-run
(cd "$out" && find . -type f) >"$scratch/files"
version=$("$bin" version --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["coffer"])')
arch=$(dpkg --print-architecture)
for file in "coffer-$version-linux-$(uname -m).tar.gz" "coffer-$version-linux-$(uname -m).cdx.json" \
  "coffer-$version-linux-$(uname -m).oci.tar" "coffer-$version.tar.gz" coffer.rb SHA256SUMS SHA256SUMS.sig coffer-release.pub.pem \
  "coffer-client-$version.tgz" "coffer_client-$version-py3-none-any.whl" "coffer_client-$version.tar.gz" \
  "coffer-client-go-$version.zip" "coffer-client-php-$version.zip" \
  apt/coffer-archive-keyring.asc "apt/pool/main/c/coffer/coffer_${version}_$arch.deb" apt/dists/stable/InRelease \
  apt/dists/stable/Release apt/dists/stable/Release.gpg "apt/dists/stable/main/binary-$arch/Packages.gz"; do
  check "there is $file" is_listed "$file"
done
check "no secret key is published" rejected grep -rlE 'PRIVATE KEY' "$out" --include=*.asc --include=*.pem
check "the checksums are those of the files" packaging/sign.sh check "$out/coffer-release.pub.pem" "$out/SHA256SUMS"
check "the image is among the checksums" grep -qF ".oci.tar" "$out/SHA256SUMS"
check "so are the five archives of the clients" test "$(grep -cE ' coffer[-_]client' "$out/SHA256SUMS")" = 5
check "the image is a layout" tar -xOf "$out/coffer-$version-linux-$(uname -m).oci.tar" oci-layout index.json
check "the formula has the address and checksum of the sources" grep -qF \
  "sha256 \"$(sha256sum "$out/coffer-$version.tar.gz" | cut -d ' ' -f 1)\"" "$out/coffer.rb"
check "and the address" grep -qF "https://example.com/coffer/coffer-$version.tar.gz" "$out/coffer.rb"

deb=$out/apt/pool/main/c/coffer/coffer_${version}_$arch.deb
check "apt accepts the repository" packaging/apt_check.sh "$out/apt" "$version"
check "and has no other version" rejected packaging/apt_check.sh "$out/apt" 0.0.1
# The commands of docs/install.md, except the installation itself, which package/lifecycle runs.
mkdir -p "$scratch/etc"
PYTHONPATH=tests python3 -B tests/interop/documents.py text package/publish docs/install.md "install -d -m 0755" |
  sed -e "s|/etc/apt|$scratch/etc|g" -e "s|https://coffer.example/apt|file://$out/apt|g" -e '/^apt /d' >"$scratch/typed"
mkdir -p "$scratch/etc/sources.list.d"
check "the documented commands add the repository" bash -e "$scratch/typed"
check "and apt accepts it" packaging/apt_check.sh "$out/apt" "$version" "$scratch/etc/sources.list.d/coffer.list"
changed() { # <name> <file below apt/>: a copy of the repository with one byte more in that file
  cp -r "$out/apt" "$scratch/$1"
  printf 'x' >>"$scratch/$1/$2"
}
changed list "dists/stable/main/binary-$arch/Packages"
gzip --no-name -9 --keep --force "$scratch/list/dists/stable/main/binary-$arch/Packages"
check "apt rejects a changed list" rejected packaging/apt_check.sh "$scratch/list" "$version"
changed package "pool/main/c/coffer/$(basename "$deb")"
check "and a changed package" rejected packaging/apt_check.sh "$scratch/package" "$version"
cp -r "$out/apt" "$scratch/other"
COFFER_APT_KEY=$scratch/theirs.asc packaging/apt.sh "$scratch/other" "$deb"
cp "$out/apt/coffer-archive-keyring.asc" "$scratch/other/"
check "and a repository signed by another key" rejected packaging/apt_check.sh "$scratch/other" "$version"
cp "$deb" "$scratch/$(basename "$deb")"
printf 'x' >>"$scratch/$(basename "$deb")"
check "a published version is never replaced" rejected env COFFER_APT_KEY="$scratch/ours.asc" \
  packaging/apt.sh "$out/apt" "$scratch/$(basename "$deb")"
exit "$failures"
