#!/usr/bin/env bash
# Collects the files that all kinds of packages contain in one folder: the stripped binaries, manual pages, the
# texts that coffer prints (completions, settings), licences and the software bill of materials.
#
#   packaging/stage.sh FOLDER
#
# COFFER_PACKAGE_BIN      the binary to pack, with coffer-provider-sim beside it; by default that of
#                         ./dev build release-static
# COFFER_PACKAGE_TOOL     a binary of the same sources that runs on this machine, if the packed one does not
# COFFER_PACKAGE_STRIP    the strip program for a binary of another architecture
# COFFER_PACKAGE_VERSION  a version other than that of the binary, for tests of upgrades
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
die() { printf 'stage: %s\n' "$*" >&2; exit 1; }

stage=${1:?folder}
bin=${COFFER_PACKAGE_BIN:-build/release-static/coffer}
tool=${COFFER_PACKAGE_TOOL:-$bin}
[ -x "$bin" ] || die "$bin not found; run ./dev build release-static"

version() { "$tool" version --json | python3 -c "import json, sys; print(json.load(sys.stdin)['$1'])"; }

# Files get the time of the commit, so that the same commit produces the same bytes.
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null) || SOURCE_DATE_EPOCH=$(stat -c %Y CHANGELOG.md)
fi
export SOURCE_DATE_EPOCH

rm -rf "$stage"
mkdir -p "$stage"/{man,completion/{bash,zsh,fish},docs,examples}
install -m 0755 "$bin" "$stage/coffer"
install -m 0755 "$(dirname "$bin")/coffer-provider-sim" "$stage/"
"${COFFER_PACKAGE_STRIP:-strip}" --strip-all --remove-section=.comment "$stage"/coffer*
packaging/man/make.sh "$tool" "$stage/man"
"$tool" completion bash >"$stage/completion/bash/coffer"
"$tool" completion zsh >"$stage/completion/zsh/_coffer"
"$tool" completion fish >"$stage/completion/fish/coffer.fish"
"$tool" settings toml >"$stage/coffer.toml"
cp LICENSE README.md SECURITY.md CHANGELOG.md "$stage/"
cp -r docs/*.md docs/images docs/webhook-consumers "$stage/docs/"
cp packaging/examples/* "$stage/examples/"
cp packaging/debian/coffer.{service,sysusers,tmpfiles} "$stage/examples/"
version coffer >"$stage/version"
[ -z "${COFFER_PACKAGE_VERSION:-}" ] || printf '%s\n' "$COFFER_PACKAGE_VERSION" >"$stage/version"
version schema >"$stage/schema"
python3 -B packaging/inventory.py sbom "$stage/coffer" "$(cat "$stage/version")" >"$stage/sbom.cdx.json"
python3 -B packaging/inventory.py copyright >"$stage/copyright"
python3 -B packaging/inventory.py built-using >"$stage/static-built-using"
printf '%s\n' "$SOURCE_DATE_EPOCH" >"$stage/epoch"
