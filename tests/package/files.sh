#!/usr/bin/env bash
# The contents of packages, checked without an installation: units, manual pages, formula and software list.
set -euo pipefail
cd "${COFFER_SOURCE_DIR:?}"
bin=${COFFER_RELEASE_BIN:?}
scratch=$(mktemp -d)
failures=0
trap 'rm -rf "$scratch"' EXIT
ok() { printf 'ok       %s\n' "$*"; }
not_ok() { printf 'FAILED   %s\n' "$*"; failures=$((failures + 1)); }
check() { # <what> <command ...>
  local what=$1
  shift
  if "$@" >"$scratch/out" 2>&1; then ok "$what"; else
    not_ok "$what"
    sed 's/^/         | /' "$scratch/out" | tail -n 8
  fi
}
have() { command -v "$1" >/dev/null; }

# --- Units --------------------------------------------------------------------------------------------

if have systemd-analyze; then
  exposure() { # <unit file>
    systemd-analyze security --offline=true "$1" 2>/dev/null |
      sed -n 's/.*Overall exposure level for [^:]*: \([0-9.]*\) .*/\1/p'
  }
  at_most() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a <= b) }'; }
  found=$(exposure packaging/debian/coffer.service)
  check "the service's exposure is $found, at most 1.4" at_most "$found" 1.4
  # Control: without its protections, the same unit gets a worse rating.
  grep -vE '^(Protect|Private|Restrict|SystemCall|Capability|NoNew)' packaging/debian/coffer.service \
    >"$scratch/coffer.service"
  open=$(exposure "$scratch/coffer.service")
  check "and $open without its protections" at_most 5 "$open"
  # The binary is in another place than after an installation.
  mkdir "$scratch/units"
  sed "s|^ExecStart=/usr/bin/coffer|ExecStart=$(realpath "$bin")|" packaging/debian/coffer.service \
    >"$scratch/units/coffer.service"
  SYSTEMD_UNIT_PATH=$scratch/units: systemd-analyze verify --man=no "$scratch/units/coffer.service" >"$scratch/verify" 2>&1 || true
  check "systemd has no complaints about the unit" test -z "$(grep coffer "$scratch/verify")"
fi

# --- Manual pages, completions, settings --------------------------------------------------------------

if have help2man; then
  packaging/man/make.sh "$bin" "$scratch"
  for page in coffer coffer-serve coffer-provider-sim; do
    check "$page(1) has its name" grep -q "^$page \\\\- " "$scratch/$page.1"
    if have man; then
      LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$scratch/$page.1" \
        >/dev/null 2>"$scratch/warnings" || true
      check "man has no complaints about $page" test ! -s "$scratch/warnings"
    fi
    have mandoc && check "nor has mandoc" mandoc -T lint -W error "$scratch/$page.1"
  done
fi
"$bin" settings toml >"$scratch/coffer.toml"
# A missing database exits with 1; an invalid setting would exit with 78.
check "the packaged settings file is valid" sh -c '"$1" wallet list --config "$2" --db "$3"; test $? -eq 1' \
  sh "$bin" "$scratch/coffer.toml" "$scratch/none.db"
"$bin" settings markdown >"$scratch/configuration.md"
check "the reference in docs/ is what the program prints" cmp docs/configuration.md "$scratch/configuration.md"

# --- Formula ------------------------------------------------------------------------------------------

if have ruby; then
  check "the formula is Ruby" ruby -c packaging/homebrew/coffer.rb
  for word in desc homepage url sha256 license livecheck depends_on service test; do
    check "the formula has $word" grep -qE "^  $word\b" packaging/homebrew/coffer.rb
  done
  length=$(sed -n 's/^  desc "\(.*\)"$/\1/p' packaging/homebrew/coffer.rb | tr -d '\n' | wc -c)
  check "its description has $length characters, fewer than 80" test "$length" -lt 80
fi

# --- Consumers and the simulator ----------------------------------------------------------------------

# Every kind of package contains both. The release archive and the Debian package are made from the same folder.
consumers=$(cd docs/webhook-consumers && echo *)
have help2man && COFFER_PACKAGE_BIN=$bin packaging/stage.sh "$scratch/stage"
COFFER_PACKAGE_BIN=$bin packaging/image.sh "$scratch/image"
has() { # <what> <program> <folder of the consumers>
  check "$1 has the simulator, which runs" "$2" --version
  check "and the webhook consumers: $consumers" test "$(cd "$3" 2>/dev/null && echo *)" = "$consumers"
}
have help2man && has "the release archive" "$scratch/stage/coffer-provider-sim" "$scratch/stage/docs/webhook-consumers"
has "the container image" "$scratch/image/usr/bin/coffer-provider-sim" \
  "$scratch/image/usr/share/doc/coffer/webhook-consumers"
check "the Debian package has the simulator" grep -qx 'coffer-provider-sim usr/bin' packaging/debian/coffer.install
check "and the webhook consumers" grep -qx 'docs/webhook-consumers' packaging/debian/coffer.examples
check "the formula has the simulator" grep -q 'bin.install .*"build/coffer-provider-sim"' packaging/homebrew/coffer.rb
check "and the webhook consumers" grep -q 'pkgshare.install "docs/webhook-consumers"' packaging/homebrew/coffer.rb
check "docs/install.md says where they are" test "$(grep -c webhook-consumers docs/install.md)" -ge 4

# --- Software list ------------------------------------------------------------------------------------

SOURCE_DATE_EPOCH=1 python3 -B packaging/inventory.py sbom "$bin" 1 >"$scratch/sbom.json"
check "the software list names what is linked in" python3 - "$scratch/sbom.json" <<'PY'
import json, sys
document = json.load(open(sys.argv[1]))
names = {one["name"] for one in document["components"]}
wanted = {"httplib", "sqlite", "sqlitecpp", "curl", "zstd", "libpq", "openssl", "cares", "re2", "json", "cli11", "glibc", "libstdc++"}
assert document["bomFormat"] == "CycloneDX" and wanted <= names, wanted - names
assert all(one["version"] and one["licenses"] and one["purl"] for one in document["components"])
assert "catch2" not in names
PY
python3 -B packaging/inventory.py copyright >"$scratch/copyright"
for name in httplib sqlite sqlitecpp curl qrcode zstd libpq zxcvbn openssl cares re2 json cli11 iso_codes glibc; do
  check "the licence of $name is in the copyright file" grep -q "^$name " "$scratch/copyright"
done
exit $((failures > 0))
