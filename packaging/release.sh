#!/usr/bin/env bash
# Builds build/release/coffer-<version>-linux-<arch>.tar.gz with its software bill of materials, the archives of the
# client libraries, and checksums. The checksums include archives of this version for other architectures that are in
# the folder. The same commit, compiler and libraries produce the same bytes in any folder. Prints the names of the
# files.
#
# COFFER_RELEASE_PROFILE  The archive of counts with which the binary was optimised (cmake/Profile.cmake), which becomes
#                      part of the release; off or empty: none.
# COFFER_RELEASE_KEY   File with the key that signs the checksums; without it, the release is not signed.
# COFFER_PACKAGE_ARCH  Debian's name of the binary's architecture; by default this machine's. The settings of
#                      packaging/stage.sh, packaging/inventory.py and packaging/clients.py apply as well.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=$PWD/build/release
stage=$out/stage
mkdir -p "$out"
packaging/stage.sh "$stage"
case ${COFFER_PACKAGE_ARCH:-$(dpkg --print-architecture)} in
  amd64) arch=x86_64 ;;
  arm64) arch=aarch64 ;;
  *) arch=$(uname -m) ;;
esac
version=$(cat "$stage/version")
release=coffer-$version-linux
name=$release-$arch
epoch=$(cat "$stage/epoch")
mv "$stage/sbom.cdx.json" "$out/$name.cdx.json"
mv "$stage/copyright" "$stage/THIRD-PARTY-LICENCES"
rm "$stage"/{version,schema,epoch,static-built-using}
rm -rf "${out:?}/$name"
mv "$stage" "$out/$name"
tar --create --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mode=u+w,go-w,a+rX \
  --mtime="@$epoch" -C "$out" "$name" | gzip --no-name -9 >"$out/$name.tar.gz"
rm -rf "${out:?}/$name"
made=$(packaging/clients.py "$out" "$version" "$epoch")
mapfile -t clients <<<"$made"
if [ "$arch" = x86_64 ] && [ -f "${COFFER_RELEASE_PROFILE:-off}" ]; then
  cp "$COFFER_RELEASE_PROFILE" "$out/$name.profile.tar.xz"
fi
profiles=("$out/$release"-*.profile.tar.xz)
[ -f "${profiles[0]}" ] || profiles=()
(cd "$out" && LC_ALL=C sha256sum "$release"-*.tar.gz "$release"-*.cdx.json "${profiles[@]##*/}" "${clients[@]##*/}" \
  >SHA256SUMS)
rm -f "$out/SHA256SUMS.sig"
printf '%s\n' "$out/$name.tar.gz" "$out/$name.cdx.json" "${profiles[@]}" "${clients[@]}" "$out/SHA256SUMS"
if [ -n "${COFFER_RELEASE_KEY:-}" ]; then
  packaging/sign.sh sign "$COFFER_RELEASE_KEY" "$out/SHA256SUMS"
  printf '%s\n' "$out/SHA256SUMS.sig"
else
  echo "release: not signed; set COFFER_RELEASE_KEY (packaging/sign.sh)" >&2
fi
