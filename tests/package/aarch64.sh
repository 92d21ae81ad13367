#!/usr/bin/env bash
# The aarch64 binary, on other machines under qemu-user: properties of the file, a sandbox with payments, a kill and
# a restart, and TLS. COFFER_AARCH64_BIN: the binary, by default from the cross build; ./dev release aarch64 tests
# the one in the archive.
set -euo pipefail
cd "${COFFER_SOURCE_DIR:-$(dirname "${BASH_SOURCE[0]}")/../..}"
bin=${COFFER_AARCH64_BIN:-$PWD/build/release-aarch64/coffer}
[ -x "$bin" ] || { echo "skipped: no cross build found; run ./dev release aarch64"; exit 77; }
export LC_ALL=C
max_bytes=$((14 * 1024 * 1024))
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
check() { # <what> <command ...>
  local what=$1
  shift
  if "$@" >"$scratch/out" 2>&1; then printf 'ok       %s\n' "$what"; else
    printf 'FAILED   %s\n' "$what"
    failures=$((failures + 1))
    sed 's/^/         | /' "$scratch/out" | tail -n 8
  fi
}
check_not() { # <what> <command ...>
  local what=$1
  shift
  check "$what" bash -c '! "$@"' bash "$@"
}

# --- The file -----------------------------------------------------------------------------------------

# Reading headers needs no binutils for the architecture, but reading code does.
tool() { command -v "aarch64-linux-gnu-$1" || command -v "$1"; }
readelf -hW "$bin" >"$scratch/header"
readelf -lW "$bin" >"$scratch/segments"
readelf -dW "$bin" >"$scratch/dynamic"
check "is a program for aarch64" grep -q 'Machine: *AArch64' "$scratch/header"
check "can be anywhere in memory" grep -q 'Type: *DYN' "$scratch/header"
check_not "asks for no loader" grep -q INTERP "$scratch/segments"
check_not "needs no shared library" grep -q NEEDED "$scratch/dynamic"
check_not "changes none of its code when it starts" grep -q TEXTREL "$scratch/dynamic"
check "has read-only relocations" grep -q GNU_RELRO "$scratch/segments"
check "resolves all of them when it starts" grep -q BIND_NOW "$scratch/dynamic"
check_not "has no executable stack" grep -q 'GNU_STACK.*RWE' "$scratch/segments"
check_not "has no segment that is writable and executable" grep -q 'LOAD.*RWE' "$scratch/segments"
check_not "has no fault points" grep -qa COFFER_FAULT "$bin"
check_not "names no folder of the build machine" grep -qaF "$PWD/" "$bin"
check_not "nor that of its packages" grep -qaE '/coffer/(sysroot|third_party)/' "$bin"

strip=$(tool strip)
"$strip" -o "$scratch/stripped" "$bin"
size=$(stat -c %s "$scratch/stripped")
check "is at most $max_bytes bytes stripped (is $size)" test "$size" -le "$max_bytes"

# Hardening: our functions sign their return address (paciasp), and targets of indirect jumps begin with a landing
# pad (bti). Debian's libraries have neither, so the file as a whole is not marked. A stripped file does not show
# which code is ours; thousands of them are more than the libraries have.
objdump=$(tool objdump)
"$objdump" -d --no-show-raw-insn "$bin" 2>/dev/null |
  awk '{ n[$2]++ } END { print n["paciasp"] + 0, n["bti"] + 0 }' >"$scratch/protected"
read -r signed pads <"$scratch/protected"
check "$signed functions sign their return address" test "$signed" -ge 5000
check "$pads landing pads for indirect jumps" test "$pads" -ge 100
check "notices a smashed stack" grep -qa 'stack smashing detected' "$bin"

# --- Behaviour ----------------------------------------------------------------------------------------

if [ "$(uname -m)" = aarch64 ]; then
  emulator=
else
  emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) ||
    { echo "FAILED   qemu-aarch64 is missing; install the package qemu-user"; exit 1; }
fi
cat >"$scratch/coffer" <<TEXT
#!/bin/sh
exec $emulator '$(realpath "$bin")' "\$@"
TEXT
chmod +x "$scratch/coffer"
[ "$failures" -eq 0 ] || printf '%d checks of the file failed\n' "$failures"
PYTHONPATH=tests python3 -B tests/package/aarch64.py "$scratch/coffer" "$scratch" || failures=$((failures + 1))
exit $((failures > 0))
