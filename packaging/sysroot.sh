#!/usr/bin/env bash
# Debian packages of another architecture, unpacked into a folder that a cross compiler takes for the root of
# its world. Prints the folder; one with newer packages has another name.
#
# Nothing of this machine is changed and nobody has to be root. A foreign architecture for dpkg would want the
# same version of every library for both, and so upgrade this machine's.
#
#   packaging/sysroot.sh ARCH PACKAGE ...
#
# Asks the mirror that this machine's apt is set to, each time: a security update of a library reaches us by a
# rebuild. When it does not answer, what is there is taken.
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
# Debian's downloader has a user of its own.
chmod 755 "$scratch"
mkdir -p "$scratch"/{state/lists/partial,cache/archives/partial,deb}
chmod 777 "$scratch/deb"
: >"$scratch/status"
options=(-q -o "APT::Architecture=$arch" -o "APT::Architectures=$arch" -o "Dir::State=$scratch/state"
  -o "Dir::State::status=$scratch/status" -o "Dir::Cache=$scratch/cache")

there() { # <package ...>: exactly these are
  [ -f "$link/packages" ] &&
    [ "$(cut -f 1 "$link/packages" | sort)" = "$(printf '%s\n' "$@" | sort)" ]
}

# Any list that cannot be had is an error: without that of the security updates an older library would do.
if ! {
  apt-get "${options[@]}" -o APT::Update::Error-Mode=any update && cd "$scratch/deb" && apt-get "${options[@]}" download "$@"
} >"$scratch/log" 2>&1 </dev/null; then
  there "$@" || die "the packages of $arch cannot be had: $(tail -n 3 "$scratch/log")"
  printf 'sysroot: no answer from the mirror; taking the packages that are there\n' >&2
  readlink -f "$link"
  exit
fi

# Name, version, source, its version and architecture of each, as dpkg-query says them of what is installed.
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
  # One beside this may have been quicker.
  mv -T "$made" "$folder" 2>/dev/null || [ -d "$folder" ]
fi
# Those of older packages go when no build has asked for them for a month.
touch "$folder"
find "$root" -maxdepth 1 -name "$arch-*" -type d -mtime +30 -exec rm -rf {} +
ln -sfn "$(basename "$folder")" "$link.$$"
mv -T "$link.$$" "$link"
printf '%s\n' "$folder"
