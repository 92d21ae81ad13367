#!/usr/bin/env bash
# Unpacks Debian packages of another architecture into a folder that serves as the sysroot of a cross compiler.
# Prints the folder; a folder with newer packages has another name.
#
# The script changes nothing else on this machine and does not need root. Adding the architecture to dpkg instead would
# require the same version of every library for both architectures, and so upgrade the libraries of this machine.
#
#   packaging/sysroot.sh ARCH PACKAGE ...
#
# Each run queries the mirror of this machine's apt, so that a rebuild includes security updates of libraries. If the
# mirror does not respond, the script uses the packages of the last run.
set -euo pipefail
die() { printf 'sysroot: %s\n' "$*" >&2; exit 1; }

arch=${1:?architecture}
shift
root=${XDG_CACHE_HOME:-$HOME/.cache}/coffer/sysroot
link=$root/$arch
mkdir -p "$root"
scratch=$(mktemp -d)
made=
finish() { rm -rf "$scratch" ${made:+"$made"}; }
trap finish EXIT
# apt downloads as a separate user.
chmod 755 "$scratch"
mkdir -p "$scratch"/{state/lists/partial,cache/archives/partial,deb}
chmod 777 "$scratch/deb"
: >"$scratch/status"
options=(-q -o "APT::Architecture=$arch" -o "APT::Architectures=$arch" -o "Dir::State=$scratch/state"
  -o "Dir::State::status=$scratch/status" -o "Dir::Cache=$scratch/cache")

there() { # <package ...>: whether exactly these packages are unpacked
  [ -f "$link/packages" ] &&
    [ "$(cut -f 1 "$link/packages" | sort)" = "$(printf '%s\n' "$@" | sort)" ]
}

# A missing package list is an error: without the list of security updates, apt would choose an older library.
if ! {
  apt-get "${options[@]}" -o APT::Update::Error-Mode=any update && cd "$scratch/deb" && apt-get "${options[@]}" download "$@"
} >"$scratch/log" 2>&1 </dev/null; then
  there "$@" || die "cannot download the packages of $arch: $(tail -n 3 "$scratch/log")"
  printf 'sysroot: the mirror does not respond; using the packages of the last run\n' >&2
  readlink -f "$link"
  exit
fi

# Name, version, source, version of the source and architecture of each package, in the format of dpkg-query.
for deb in "$scratch"/deb/*.deb; do
  # shellcheck disable=SC2016  # dpkg's variables
  dpkg-deb -W --showformat='${Package}\t${Version}\t${source:Package}\t${source:Version}\t${Architecture}\n' \
    "$deb"
done | LC_ALL=C sort >"$scratch/packages"
folder=$root/$arch-$(sha256sum <"$scratch/packages" | cut -c 1-12)
if [ ! -d "$folder" ]; then
  made=$folder.$$
  mkdir "$made"
  for deb in "$scratch"/deb/*.deb; do dpkg-deb -x "$deb" "$made"; done
  cp "$scratch/packages" "$made/packages"
  # A concurrent run may have created the folder first.
  mv -T "$made" "$folder" 2>/dev/null || [ -d "$folder" ]
fi
# Folders of older packages are removed when no build has used them for a month.
touch "$folder"
find "$root" -maxdepth 1 -name "$arch-*" -type d -mtime +30 -exec rm -rf {} +
ln -sfn "$(basename "$folder")" "$link.$$"
mv -T "$link.$$" "$link"
printf '%s\n' "$folder"
