#!/usr/bin/env bash
# Every C++ file has the format of .clang-format, checked by the version that `./dev format` uses (other versions
# format the same style differently), and every JSON document has the layout of json_layout.py.
set -euo pipefail
cd "$COFFER_SOURCE_DIR"
command -v clang-format-14 >/dev/null || { echo "skipped: clang-format-14 is not available"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Control: the check rejects an unformatted file and accepts the same file once it is formatted.
mkdir -p "$scratch/src" "$scratch/tests/tidy" "$scratch/docs"
cp dev .clang-format "$scratch"
cp tests/tidy/json_layout.py "$scratch/tests/tidy"
printf 'int  f( ) {return 1 ;}\n' > "$scratch/src/control.cpp"
printf '{"a":1.50}\n' > "$scratch/docs/control.json"
if "$scratch/dev" format --check 2> "$scratch/found"; then
  echo "FAILED   the check accepts a file that is not formatted"
  exit 1
fi
grep -q 'control.cpp' "$scratch/found"
"$scratch/dev" format
if "$scratch/dev" format --check >"$scratch/found"; then
  grep -qx '{"a": 1.50}' "$scratch/docs/control.json"
else
  cat "$scratch/found"
  echo "FAILED   the check rejects the output of ./dev format"
  exit 1
fi
printf '{"a":1.50}\n' > "$scratch/docs/control.json"
if "$scratch/dev" format --check >"$scratch/found"; then
  echo "FAILED   the check accepts a JSON document with another layout"
  exit 1
fi
grep -q 'control.json' "$scratch/found"

if ! ./dev format --check 2> "$scratch/found"; then
  sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error:.*/\1/p' "$scratch/found" | sort -u | sed 's/^/FAILED   not formatted: /'
  echo "Format them with ./dev format"
  exit 1
fi
echo "ok       $(find src tests \( -name '*.cpp' -o -name '*.h' \) | wc -l) files are formatted"
