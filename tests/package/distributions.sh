#!/usr/bin/env bash
# The release binary in the roots of an older and a newer Debian release: demo, payment, proof.
set -euo pipefail
exec python3 -B "${COFFER_SOURCE_DIR:?}/tests/package/distributions.py" "${COFFER_RELEASE_BIN:?}"
