#!/usr/bin/env bash
# Makes the manual pages from the help of the programs, with help2man.
#
#   packaging/man/make.sh COFFER FOLDER    COFFER is the binary, with coffer-provider-sim beside it
set -euo pipefail
coffer=$1
out=$2
version=$("$coffer" --version | cut -d ' ' -f 2)
texts=$(dirname "${BASH_SOURCE[0]}")
page() { # <page> <name> <program> [help2man options]
  local page=$1 name=$2 program=$3
  shift 3
  # Long lists of values cannot be adjusted to both margins.
  help2man --no-info --name="$name" --version-string="$page $version" "$@" "$program" |
    sed '/^\.TH/a .ad l' >"$out/$page.1"
}
page coffer 'payment gateway in one file' "$coffer" --include="$texts/coffer.h2m"
page coffer-serve 'serve the API and the admin page' "$coffer" \
  --include="$texts/coffer-serve.h2m" --help-option='serve --help'
page coffer-provider-sim 'simulated payment provider' "$(dirname "$coffer")/coffer-provider-sim"
