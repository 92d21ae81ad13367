#!/usr/bin/env bash
# Checks that apt accepts a repository (packaging/apt.sh) and downloads a version of coffer from it. apt runs with
# separate folders, so it neither reads nor changes the settings of this machine.
#
#   packaging/apt_check.sh REPOSITORY VERSION [SOURCES.LIST]
#
# SOURCES.LIST  the entry of the repository; by default, an entry that uses the key in the repository itself
set -euo pipefail
repository=$(realpath "${1:?repository}")
version=${2:?version}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
# apt downloads as the user _apt, which has no access to private folders.
mkdir -p "$root"/{state/lists/partial,cache/archives/partial,etc/apt.conf.d,etc/preferences.d,etc/trusted.gpg.d,out}
: >"$root/state/status"
arch=$(dpkg --print-architecture)
if [ -n "${3:-}" ]; then
  cp "$3" "$root/etc/sources.list"
else
  printf 'deb [signed-by=%s] file:%s stable main\n' "$repository/coffer-archive-keyring.asc" "$repository" \
    >"$root/etc/sources.list"
fi
cat >"$root/apt.conf" <<CONF
Dir::State "$root/state";
Dir::State::status "$root/state/status";
Dir::Cache "$root/cache";
Dir::Etc "$root/etc";
Dir::Etc::sourceparts "/dev/null";
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Sandbox::User "root";
Acquire::Languages "none";
APT::Update::Error-Mode "any";
CONF
export APT_CONFIG=$root/apt.conf
apt-get update -qq
cd "$root/out"
apt-get download -qq "coffer=$version"
cmp "coffer_${version}_$arch.deb" "$repository/pool/main/c/coffer/coffer_${version}_$arch.deb"
