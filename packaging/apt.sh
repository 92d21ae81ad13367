#!/usr/bin/env bash
# Adds packages to an apt repository and signs its lists again. In the repository, pool/ has the packages of all
# versions, dists/stable/ the lists of each architecture, and coffer-archive-keyring.asc the public key. Any web server
# can serve the folder (docs/install.md, "With an apt repository").
#
#   packaging/apt.sh FOLDER PACKAGE.deb ...
#
# COFFER_APT_KEY     file with the secret OpenPGP key (gpg --export-secret-keys); required
# SOURCE_DATE_EPOCH  the date of the lists; by default the current time
set -euo pipefail
die() { printf 'apt: %s\n' "$*" >&2; exit 1; }

folder=${1:?folder}
shift
[ $# -ge 1 ] || die "name at least one package"
key=${COFFER_APT_KEY:?set COFFER_APT_KEY to a file with the secret OpenPGP key}
[ -r "$key" ] || die "cannot read $key"

GNUPGHOME=$(mktemp -d)
export GNUPGHOME
trap 'gpgconf --kill all >/dev/null 2>&1 || true; rm -rf "$GNUPGHOME"' EXIT
gpg --batch --quiet --import "$key"
signer=$(gpg --batch --list-secret-keys --with-colons | sed -n 's/^fpr:*\([0-9A-F]*\):.*/\1/p' | head -n 1)
[ -n "$signer" ] || die "$key contains no secret key"

pool=pool/main/c/coffer
mkdir -p "$folder/$pool"
for package in "$@"; do
  there=$folder/$pool/$(basename "$package")
  # A published version never changes, because installed systems have its checksum.
  if [ -e "$there" ] && ! cmp -s "$package" "$there"; then
    die "$(basename "$package") is already published with other content; increase the version"
  fi
  install -m 0644 "$package" "$there"
done
gpg --batch --armor --export "$signer" >"$folder/coffer-archive-keyring.asc"

cd "$folder"
rm -rf dists/stable
for arch in $(find "$pool" -name '*.deb' | sed 's/.*_\(.*\)\.deb/\1/' | LC_ALL=C sort -u); do
  lists=dists/stable/main/binary-$arch
  mkdir -p "$lists"
  dpkg-scanpackages --multiversion --arch "$arch" pool 2>/dev/null >"$lists/Packages"
  [ -s "$lists/Packages" ] || die "no package for $arch"
  gzip --no-name -9 --keep "$lists/Packages"
done
cd dists/stable
date=$(date -u -R -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}")
files=$(find main -type f | LC_ALL=C sort)
{
  printf 'Origin: coffer\nLabel: coffer\nSuite: stable\nCodename: stable\nComponents: main\n'
  printf 'Architectures: %s\n' "$(find main -name 'binary-*' | sed 's/.*binary-//' | LC_ALL=C sort | xargs)"
  printf 'Date: %s\nSHA256:\n' "$date"
  for file in $files; do
    printf ' %s %s %s\n' "$(sha256sum "$file" | cut -d ' ' -f 1)" "$(stat -c %s "$file")" "$file"
  done
} >Release
gpg --batch --yes --local-user "$signer" --armor --detach-sign --output Release.gpg Release
gpg --batch --yes --local-user "$signer" --clearsign --output InRelease Release
