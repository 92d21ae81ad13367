#!/usr/bin/env bash
# Every C++ file has the format of .clang-format, judged by the version that `./dev format` uses: other
# versions format the same style differently.
set -euo pipefail
cd "$COFFER_SOURCE_DIR"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Control: the check refuses a file of another format and accepts the same file once it is formatted.
mkdir -p "$scratch/src" "$scratch/tests"
cp dev .clang-format "$scratch"
printf 'int  f( ) {return 1 ;}\n' > "$scratch/src/control.cpp"
if "$scratch/dev" format --check 2> "$scratch/found"; then
  echo "FAILED   the check accepts a file that is not formatted"
  exit 1
fi
grep -q 'control.cpp' "$scratch/found"
"$scratch/dev" format
"$scratch/dev" format --check

if ! ./dev format --check 2> "$scratch/found"; then
  sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error:.*/\1/p' "$scratch/found" | sort -u | sed 's/^/FAILED   not formatted: /'
  echo "Format them with ./dev format"
  exit 1
fi
echo "ok       $(find src tests \( -name '*.cpp' -o -name '*.h' \) | wc -l) files are formatted"
