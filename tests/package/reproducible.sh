#!/usr/bin/env bash
# ctest: cost=35
# The same commit gives the same bytes in two folders: archive, software list, clients, checksums, package. With
# COFFER_REPRODUCE=full, both folders build the binary (slow). Otherwise they use the existing binary, and compile one
# source that contains its own name. The first folder has no compiler cache, the second an empty one that makes paths
# relative. Both build in parallel. Other tests check the packages.
set -euo pipefail
cd "${COFFER_SOURCE_DIR:?}"
bin=$(realpath "${COFFER_RELEASE_BIN:?}")
full=${COFFER_REPRODUCE:-}
skip() { echo "skipped: $*"; exit 77; }
git rev-parse --verify -q HEAD >/dev/null || skip "not in a git repository"
command -v dh >/dev/null && command -v help2man >/dev/null || skip "there is no debhelper or no help2man"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
unset CCACHE_BASEDIR
export COFFER_TSC=$PWD/tests/interop/node_modules/typescript/bin/tsc
[ -n "$full" ] || export COFFER_PACKAGE_ROUGH=yes
named=CMakeFiles/coffer_base.dir/src/base/problem.cpp.o
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
same() { # <what> <path>
  if cmp -s "$scratch/one/$2" "$scratch/elsewhere/two/$2"; then
    printf 'ok       %s: %s\n' "$1" "$(sha256sum <"$scratch/one/$2" | cut -c 1-16)"
  else
    printf 'FAILED   %s\n' "$1"
    failures=$((failures + 1))
  fi
}

mkdir -p "$scratch/elsewhere"
make_all() { # <folder>
  local folder=$1
  git clone -q --shared . "$folder"
  (
    cd "$folder"
    umask 022
    if [ "$folder" = "$scratch/one" ]; then
      export CCACHE_DISABLE=1
    else
      umask 077
      unset CCACHE_DISABLE
      export CCACHE_DIR=$scratch/ccache CCACHE_BASEDIR=$folder
    fi
    if [ -n "$full" ]; then
      cmake --preset release-static >/dev/null
      cmake --build build/release-static --target coffer >&2
    else
      # Sources that are compiled in groups have no separate object file.
      cmake --preset release-static -DCOFFER_UNITY=OFF >/dev/null
      cmake --build build/release-static --target "$named" >/dev/null
      export COFFER_PACKAGE_BIN=$bin
    fi
    packaging/release.sh >/dev/null
    packaging/deb.sh >/dev/null 2>&1
  )
}
make_all "$scratch/one" &
make_all "$scratch/elsewhere/two"
wait $!
if [ -n "$full" ]; then
  same "the binary" build/release-static/coffer
  bin=$scratch/one/build/release-static/coffer
fi
same "a compiled source" "build/release-static/$named"
archive=$(cd "$scratch/one" && echo build/release/coffer-*-linux-*.tar.gz)
same "the archive" "$archive"
same "the software list" "${archive%.tar.gz}.cdx.json"
for client in "$scratch"/one/build/release/coffer[-_]client*; do
  same "a client" "build/release/${client##*/}"
done
same "the checksums" build/release/SHA256SUMS
same "the package" "$(cd "$scratch/one" && echo build/package/*.deb)"
if (cd "$scratch/one/build/release" && sha256sum -c --quiet SHA256SUMS); then
  echo 'ok       the checksums match the files'
else
  failures=$((failures + 1))
fi

# The commands of docs/install.md on this archive, with this version and another folder than /usr/local/bin.
name=$(basename "$archive" .tar.gz)
commands=$(tests/interop/documents.py text package/reproducible docs/install.md "sha256sum -c" |
  sed "s|coffer-[0-9.]*-linux-x86_64|$name|g; s|/usr/local/bin/|$scratch/bin/|")
mkdir "$scratch/bin"
if (cd "$scratch/one/build/release" && bash -eu -c "$commands" >/dev/null) &&
  "$scratch/bin/coffer" version >/dev/null; then
  echo 'ok       the documented commands install the archive'
else
  echo "FAILED   the documented commands do not install the archive: $commands"
  failures=$((failures + 1))
fi
# Control: another time gives other bytes.
cp "$scratch"/one/build/release/coffer[-_]client* "$scratch"
(cd "$scratch/one" && SOURCE_DATE_EPOCH=$((SOURCE_DATE_EPOCH + 60)) COFFER_PACKAGE_BIN=$bin \
  packaging/release.sh >/dev/null)
if cmp -s "$scratch/one/$archive" "$scratch/elsewhere/two/$archive"; then
  echo 'FAILED   control: another time gives the same archive'
  failures=$((failures + 1))
else
  echo 'ok       control: another time gives another archive'
fi
for client in "$scratch"/coffer[-_]client*; do
  if cmp -s "$client" "$scratch/one/build/release/${client##*/}"; then
    echo "FAILED   control: another time gives the same ${client##*/}"
    failures=$((failures + 1))
  fi
done
exit $((failures > 0))
