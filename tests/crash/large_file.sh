#!/bin/sh
# The generator of large files (tests/bench/large_file.py), small: every row, balance and link of the chain that
# it writes is as the product would have written it. Control: a payment that moved a little more is found.
# Shares the machine.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -B "${COFFER_SOURCE_DIR:-.}/tests/bench/large_file.py" "$COFFER_RELEASE_BIN" "$folder/large.db" \
  --payments 4000 --beneficiaries 300 --wallets 9 --tenants 3 --verify
python3 - "$folder/large.db" <<'PYTHON'
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db:
    kinds = db.execute("SELECT count(DISTINCT type * 8 + status) FROM payments WHERE payment > 1000").fetchone()[0]
    assert kinds >= 14, kinds
    db.execute("UPDATE payments SET sending_amount = sending_amount + 1 WHERE payment = 2000")
PYTHON
if "$COFFER_RELEASE_BIN" verify --db "$folder/large.db" >/dev/null 2>&1; then
  echo "a payment that was changed is not found" >&2
  exit 1
fi
