#!/usr/bin/env bash
# Only a signed release is accepted: not one signed with another key, changed, or unsigned.
set -euo pipefail
cd "${COFFER_SOURCE_DIR:-$(dirname "${BASH_SOURCE[0]}")/../..}"
sign=$PWD/packaging/sign.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
check() { # <what> <command ...>
  if "${@:2}" >/dev/null 2>&1; then
    printf 'ok       %s\n' "$1"
  else
    printf 'FAILED   %s\n' "$1"
    failures=$((failures + 1))
  fi
}
rejected() { ! "$@"; }
# The commands of docs/install.md, each of which must succeed.
printf 'set -e\n' >"$scratch/documented"
PYTHONPATH=tests python3 -B tests/interop/documents.py text package/signature docs/install.md "openssl pkeyutl" >>"$scratch/documented"
documented() { bash "$scratch/documented"; }

cd "$scratch"
"$sign" key ours
"$sign" key theirs
printf 'the archive' >coffer.tar.gz
sha256sum coffer.tar.gz >SHA256SUMS
"$sign" sign ours SHA256SUMS
check "the secret key is readable by its owner only" test "$(stat -c %a ours)" = 600
check "what was signed is taken" "$sign" check ours.pub.pem SHA256SUMS
cp ours.pub.pem coffer-release.pub.pem
check "also by the commands of docs/install.md" documented
check "another key is not" rejected "$sign" check theirs.pub.pem SHA256SUMS
check "an existing key is never replaced" rejected "$sign" key ours
printf 'another archive' >coffer.tar.gz
check "a changed archive is not" rejected "$sign" check ours.pub.pem SHA256SUMS
check "nor by the documented commands" rejected documented
sha256sum coffer.tar.gz >SHA256SUMS
check "nor are checksums that were changed to fit" rejected "$sign" check ours.pub.pem SHA256SUMS
check "nor these by the documented commands" rejected documented
"$sign" sign theirs SHA256SUMS
check "nor those signed by others" rejected "$sign" check ours.pub.pem SHA256SUMS
rm SHA256SUMS.sig
check "nor those without a signature" rejected "$sign" check ours.pub.pem SHA256SUMS
exit "$failures"
