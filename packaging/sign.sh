#!/usr/bin/env bash
# Signs or checks the checksums of a release with OpenSSL and Ed25519 (docs/install.md, "Check a release").
#
#   packaging/sign.sh key FILE               creates a key: FILE (0600, keep it offline) and FILE.pub.pem (publish it)
#   packaging/sign.sh sign KEY SHA256SUMS    creates SHA256SUMS.sig
#   packaging/sign.sh check KEY.pub.pem SHA256SUMS   exits with 0 if SHA256SUMS.sig is valid and all listed files that
#                                            exist match
set -euo pipefail

usage() {
  sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

[ $# -ge 2 ] || usage
case $1 in
  key)
    [ ! -e "$2" ] || { echo "sign: $2 already exists; choose another file" >&2; exit 1; }
    (umask 077 && openssl genpkey -algorithm ed25519 -out "$2")
    openssl pkey -in "$2" -pubout -out "$2.pub.pem"
    ;;
  sign)
    [ $# -eq 3 ] || usage
    openssl pkeyutl -sign -rawin -inkey "$2" -in "$3" -out "$3.sig"
    ;;
  check)
    [ $# -eq 3 ] || usage
    openssl pkeyutl -verify -rawin -pubin -inkey "$2" -sigfile "$3.sig" -in "$3"
    cd "$(dirname "$3")"
    sha256sum -c --ignore-missing "$(basename "$3")"
    ;;
  *) usage ;;
esac
